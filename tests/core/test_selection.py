import oracle
import pytest
import torch
from cases import METHODS, TAUS, close, property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire import selection
from hardwire.errors import HardwireError
from hardwire.noise import NoiseKey, gumbel

CHI_SQUARE_4_AT_ONE_IN_1000 = 18.47


def node_case(choices, seed, rounded):
    """Logits (with ties if rounded), candidates and noise of one node, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    z, g, noise = torch.randn(3, choices, dtype=torch.float64, generator=generator)
    return z.round() if rounded else z, g, noise


@property_test
@given(
    st.sampled_from(METHODS),
    st.sampled_from([None, *selection.STRAIGHT_THROUGH]),
    st.integers(2, 20),
    st.sampled_from(TAUS),
    st.integers(0, 999),
    st.booleans(),
)
def test_output_and_gradients_are_the_papers_for_every_method_and_number_of_choices(
    method, name, choices, tau, seed, rounded
):
    z, g, noise = node_case(choices, seed, rounded)
    noise = noise if method in oracle.NOISY_METHODS else None
    plain_noise = None if noise is None else noise.tolist()
    z.requires_grad_(), g.requires_grad_()
    h = hw.select(z, g, method, tau, noise, name)
    close(h, oracle.node(method, z.tolist(), g.tolist(), tau, plain_noise), 1e-12)
    delta = 1.7
    (delta * h).backward()
    name = name or ("output" if method == "gumbel-st" else "weights")
    surrogate = "clean" if name in ("output", "clean-weights") else "noisy"
    close(z.grad, oracle.logit_gradient(method, z.tolist(), g.tolist(), tau, delta, plain_noise, surrogate), 1e-12)
    weights = oracle.method_weights(method, z.tolist(), tau, plain_noise)
    if name.endswith("output"):
        weights = oracle.surrogate_weights(method, z.tolist(), tau, plain_noise, surrogate)
    close(g.grad, [delta * w for w in weights], 1e-12)


def test_straight_through_behind_the_weights_is_torchs_hard_gumbel_softmax():
    z, g, _ = node_case(16, 3, False)
    ours, theirs = (z.clone().requires_grad_() for _ in range(2))
    torch.manual_seed(4)
    noise = -torch.empty_like(z).exponential_().log()
    weights = selection.selection_weights(ours, "gumbel-st", 0.7, noise)
    torch.manual_seed(4)
    expected = torch.nn.functional.gumbel_softmax(theirs, tau=0.7, hard=True)
    (weights * g).sum().backward(), (expected * g).sum().backward()
    torch.testing.assert_close(weights.detach(), expected.detach())
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_an_estimator_has_a_name_or_parts_and_wrong_ones_list_the_right_ones():
    method = selection.get_method("gumbel-st")
    assert selection.get_straight_through(method) == selection.STRAIGHT_THROUGH["output"]
    parts = selection.get_straight_through(method, surrogate="noisy", input_gradient="chosen")
    assert parts == selection.STRAIGHT_THROUGH["weights"]
    with pytest.raises(HardwireError, match="unknown straight_through 'outputs'; did you mean output"):
        selection.get_straight_through(method, "outputs")
    with pytest.raises(HardwireError, match="unknown surrogate 'cleen'; did you mean clean"):
        hw.LogicNetwork(5, 2, widths=[4], surrogate="cleen")
    with pytest.raises(HardwireError, match="either straight_through, or surrogate and input_gradient"):
        hw.LogicNetwork(5, 2, widths=[4], straight_through="output", surrogate="clean")


@pytest.mark.parametrize("method", METHODS)
def test_the_named_functions_are_select_with_that_method(method):
    z, g, noise = node_case(5, 0, False)
    noise = noise if method in oracle.NOISY_METHODS else None
    function = getattr(selection, method.replace("-", "_"))
    assert function(z, g, 0.7, noise) == hw.select(z, g, method, 0.7, noise)


@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel"])
def test_gradients_of_the_mixtures_are_those_of_finite_differences(method):
    generator = torch.Generator().manual_seed(0)
    z, g, noise = torch.randn(3, 4, 5, dtype=torch.float64, generator=generator)
    noise = noise if method == "soft-gumbel" else None
    inputs = (z.requires_grad_(), g.requires_grad_())
    assert torch.autograd.gradcheck(lambda z, g: hw.select(z, g, method, 0.8, noise), inputs)


@pytest.mark.parametrize("method", oracle.HARD_METHODS)
def test_temperature_is_nowhere_in_the_forward_pass_of_the_hard_methods(method):
    z, g, noise = node_case(16, 3, False)
    noise = noise if method == "gumbel-st" else None
    assert len({hw.select(z, g, method, tau, noise).item() for tau in (1e-12, *TAUS, 1e30)}) == 1


@pytest.mark.parametrize("tau", [1e-3, 1e3])
@pytest.mark.parametrize("method", METHODS)
def test_extreme_temperatures_leave_gradients_finite(method, tau):
    z = (100 * torch.randn(50, 16, generator=torch.Generator().manual_seed(0))).requires_grad_()
    hw.select(z, torch.rand(50, 16), method, tau).sum().backward()
    assert z.grad.isfinite().all()


@property_test
@given(st.lists(st.lists(st.integers(-2, 2), min_size=6, max_size=6), min_size=1, max_size=5))
def test_ties_go_to_the_lowest_index(rows):
    z = torch.tensor(rows, dtype=torch.float32)
    expected = [oracle.argmax(row) for row in rows]
    assert selection.first_argmax(z).tolist() == expected
    assert selection.pick(z).tolist() == [oracle.one_hot(place, 6) for place in expected]


def test_logits_broadcast_over_a_batch_of_candidates():
    z, g = torch.randn(16), torch.rand(3, 16)
    expected = torch.stack([hw.select(z, row) for row in g])
    torch.testing.assert_close(hw.select(z, g), expected)


def test_gumbel_st_picks_each_candidate_with_its_softmax_probability():
    z, draws = torch.tensor([1.0, 0.0, -1.0, 0.5, 0.0]), 20_000
    noise = gumbel(NoiseKey(seed=7, step=0), 0, draws, 5, like=z)
    counts = selection.selection_weights(z.expand(draws, 5), "gumbel-st", 0.05, noise).sum(0).tolist()
    expected = [draws * p for p in oracle.softmax(z.tolist())]
    chi_square = sum((c - e) ** 2 / e for c, e in zip(counts, expected, strict=True))
    assert chi_square < CHI_SQUARE_4_AT_ONE_IN_1000


def test_noise_that_is_not_given_comes_from_torchs_generator():
    z, g = torch.zeros(100, 16), torch.rand(100, 16)
    torch.manual_seed(5)
    first = hw.select(z, g, "gumbel-st")
    second = hw.select(z, g, "gumbel-st")
    torch.manual_seed(5)
    assert torch.equal(first, hw.select(z, g, "gumbel-st"))
    assert not torch.equal(first, second)


def test_confidence_is_the_mean_of_the_largest_probability():
    z = torch.randn(7, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    close(selection.confidence(z), oracle.confidence([z.tolist()]), 1e-12)


def test_selection_works_under_torch_func():
    z, g, _ = node_case(6, 1, False)
    gradient = torch.func.grad(lambda z: hw.select(z, g, "hard-st", 0.5))(z)
    close(gradient, oracle.logit_gradient("hard-st", z.tolist(), g.tolist(), 0.5, 1.0), 1e-12)


@pytest.mark.parametrize("name", ["hard_st", "Hard-ST", "", None, ["hard-st"]])
def test_an_unknown_method_lists_the_right_ones(name):
    with pytest.raises(HardwireError, match="soft-mix, soft-gumbel, hard-st, gumbel-st"):
        hw.select(torch.zeros(3), torch.zeros(3), name)


@pytest.mark.parametrize(
    "tau", [0, -1.0, 1e-45, 1e31, float("nan"), float("inf"), "1", None, torch.tensor([1.0, 0.0, 1.0])]
)
def test_a_temperature_that_is_not_positive_is_refused(tau):
    with pytest.raises(HardwireError, match="tau"):
        hw.select(torch.zeros(3), torch.zeros(3), "soft-mix", tau)


@pytest.mark.parametrize("method", ["soft-mix", "hard-st"])
def test_the_smallest_temperature_gives_finite_numbers_and_a_smaller_one_is_named(method):
    z = torch.tensor([-100.0, 3.0, 100.0], requires_grad=True)
    chosen = hw.select(z, torch.rand(3), method, selection.SMALLEST_TAU)
    chosen.backward()
    assert chosen.isfinite() and z.grad.isfinite().all()
    for tau in (1e-45, torch.tensor(1e-45)):
        with pytest.raises(HardwireError, match="1e-30"):
            hw.select(z, torch.rand(3), method, tau)
    for make in (lambda: hw.CAGE(1.0, 1e-45), lambda: hw.temperature.Linear(1.0, 1e-45, 3)):
        with pytest.raises(HardwireError, match="tau 1e-45 is not a positive number from 1e-30"):
            make()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_logits_that_are_not_finite_are_refused(bad):
    with pytest.raises(HardwireError, match="NaN or infinity"):
        hw.select(torch.tensor([0.0, bad]), torch.zeros(2))


@pytest.mark.parametrize("shape", [(), (1,), (4, 1), (4, 0)])
def test_a_choice_among_fewer_than_two_is_refused(shape):
    with pytest.raises(HardwireError, match="at least 2 candidates"):
        hw.select(torch.zeros(shape), torch.zeros(shape))


@pytest.mark.parametrize("shape", [(3, 1), (4, 16), ()])
def test_candidates_and_noise_of_another_shape_are_refused(shape):
    logits = torch.zeros(3, 16)
    with pytest.raises(HardwireError, match="candidates of shape"):
        hw.select(logits, torch.zeros(shape))
    with pytest.raises(HardwireError, match="noise of shape"):
        hw.select(logits, torch.zeros(3, 16), "gumbel-st", noise=torch.zeros(shape))


@pytest.mark.parametrize("method", ["soft-mix", "hard-st"])
def test_a_deterministic_method_takes_no_noise(method):
    with pytest.raises(HardwireError, match="takes no noise"):
        hw.select(torch.zeros(3), torch.zeros(3), method, noise=torch.zeros(3))
