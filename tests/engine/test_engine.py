"""Every engine, whole networks at a time, against the oracle's loops."""

import oracle
import pytest
import torch
from cases import METHODS, close, logits_of, networks, property_test, random_input, wirings_of
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.engine import ENGINES, MODES
from hardwire.engine.reference import _Bilinear
from hardwire.gates import COEFFICIENTS

rows = st.integers(1, 5)


def noise_of(net, step=0, evaluation=False):
    if net.method not in oracle.NOISY_METHODS:
        return None
    return oracle.network_noise(net.seed, step, net.widths, evaluation=evaluation)


def tolerance(net):
    """The oracle's noise and temperature are float64 in full; the reference engine's are float32, native is float32."""
    return 1e-5 if net.engine == "reference" else 1e-4


@property_test
@given(networks(), rows, st.booleans())
def test_scores_and_gradients_of_a_training_step_are_the_oracles(net, rows, binary):
    x = random_input(net, rows, binary).requires_grad_()
    scores = net(x)
    case = logits_of(net), wirings_of(net), net.classes
    close(scores, oracle.scores(x.tolist(), *case, "method", net.method, net.tau, noise_of(net)), tolerance(net))
    upstream = torch.randn(scores.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    scores.backward(upstream)
    estimator = net.selector.input_gradient, net.selector.surrogate
    by_logits, by_input = oracle.gradients(
        x.tolist(), *case, net.method, net.tau, upstream.tolist(), noise_of(net), *estimator
    )
    for layer, expected in zip(net.layers, by_logits, strict=True):
        close(layer.logits.grad, expected, 10 * tolerance(net))
    close(x.grad, by_input, 10 * tolerance(net))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("method", ["hard-st", "hard-st+cage", "gumbel-st"])
def test_what_select_chose_is_what_runs(engine, method, monkeypatch):
    """Logits that change after `select` change nothing: the pass has chosen already."""
    options = {"method": method, "engine": engine, "seed": 0, "wiring": "learned", "candidates": 4}
    nets = [hw.LogicNetwork(12, 2, widths=[30, 20], **options) for _ in range(2)]
    x = torch.rand(9, 12).round()
    one = ENGINES[engine]
    select = one.select

    def meddling(request, prepared, confidence):
        choice = select(request, prepared, confidence)
        for logits in request.stack.parameters():
            logits.data = -logits.data
        return choice

    expected = nets[0](x)
    monkeypatch.setattr(one, "select", meddling)
    assert torch.equal(nets[1](x), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_class_sums_of_half_precision_are_exact(dtype):
    """A bfloat16 counts to 256 and a float16 to 2048; a deployed network is its circuit all the same."""
    net = hw.LogicNetwork(40, 2, widths=[9000], group_temperature=1.0, seed=0).to(dtype).eval()
    x = torch.rand(200, 40).round()
    assert torch.equal(net(x).long(), torch.from_numpy(hw.Circuit.from_network(net).scores(x.numpy() > 0.5)).long())
    assert hw.GroupSum(2, 1.0)(torch.ones(1, 9000, dtype=dtype)).tolist() == [[4500, 4500]]


@property_test
@given(networks(), rows, st.booleans(), st.sampled_from(MODES))
def test_the_three_measured_passes_are_the_oracles(net, rows, binary, mode):
    x = random_input(net, rows, binary)
    with torch.no_grad(), hw.selection_mode(net.eval(), mode):
        scores = net(x)
    expected = oracle.scores(
        x.tolist(), logits_of(net), wirings_of(net), net.classes, mode, net.method, net.tau, noise_of(net, 0, True)
    )
    close(scores, expected, tolerance(net))


@property_test
@given(networks(), rows)
def test_bits_booleans_and_floats_of_0_and_1_give_the_same_scores_and_gradients(net, rows):
    x = random_input(net, rows, binary=True)
    results = []
    for given_x in (x, x.bool(), x.float(), hw.Bits.pack(x)):
        net.zero_grad()
        net.selector.steps.zero_()
        scores = net(given_x)
        scores.square().sum().backward()
        results.append([scores.detach(), *(layer.logits.grad for layer in net.layers)])
    for result in results[1:]:
        for one, other in zip(results[0], result, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("cage", [False, True])
@pytest.mark.parametrize("tau", [0.01, 0.05, 1.0, 2.0, 100.0])
def test_hard_st_trains_on_exactly_the_argmax_pass_at_every_temperature(tau, cage, binary):
    net = hw.LogicNetwork(9, 3, width=30, depth=4, method="hard-st", tau=tau, cage=cage, seed=5)
    x = random_input(net, 20, binary).float()
    trained = net(x)
    with hw.selection_mode(net, "argmax"):
        assert torch.equal(net(x), trained)
    with hw.selection_mode(net, "deploy"):
        assert torch.equal(net(x), trained) == binary  # fractions leave a computation gap


@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel"])
def test_gradients_of_a_soft_reference_network_are_those_of_finite_differences(method):
    net = hw.LogicNetwork(4, 2, widths=[5, 6], method=method, tau=0.7, seed=2).double()
    names = [f"layers.{i}.logits" for i in range(2)]

    def scores(x, *logits):
        net.selector.steps.zero_()  # the same noise each time
        return torch.func.functional_call(net, dict(zip(names, logits, strict=True)), (x,))

    inputs = [random_input(net, 3), *(layer.logits.detach().clone() for layer in net.layers)]
    assert torch.autograd.gradcheck(scores, [tensor.requires_grad_() for tensor in inputs], fast_mode=True)


def test_gradients_of_the_bilinear_operation_are_those_of_finite_differences_also_the_second_ones():
    generator = torch.Generator().manual_seed(0)
    h = torch.rand(5, 3, dtype=torch.float64, generator=generator).requires_grad_()
    weights = torch.randn(7, 16, dtype=torch.float64, generator=generator).softmax(1)
    c = (
        weights @ torch.tensor(COEFFICIENTS.tolist(), dtype=torch.float64)
    ).requires_grad_()  # mixtures, which stay in [0, 1]
    first, second = torch.tensor([0, 0, 1, 2, 4, 4, 3]), torch.tensor([0, 1, 1, 4, 2, 4, 0])
    assert torch.autograd.gradcheck(lambda h, c: _Bilinear.apply(h, c, first, second), (h, c))
    assert torch.autograd.gradgradcheck(lambda h, c: _Bilinear.apply(h, c, first, second), (h, c))


@pytest.mark.parametrize("method", METHODS)
def test_a_gradient_is_right_even_after_later_steps_have_moved_step_count_and_temperature(method):
    """Both are buffers that change in place; the graph of an earlier pass must not see it."""
    make = lambda: hw.LogicNetwork(5, 2, width=8, depth=2, method=method, cage=method.endswith("st"), seed=1)  # noqa: E731
    early, late = make(), make()
    x = random_input(early, 4).float()
    early(x).square().sum().backward()
    scores = late(x)
    late(x), late(x)
    scores.square().sum().backward()
    assert torch.equal(early.layers[0].logits.grad, late.layers[0].logits.grad)


def test_gradients_reach_neither_the_logits_of_a_measured_pass_nor_a_thresholded_input():
    net = hw.LogicNetwork(5, 2, width=8, depth=2, seed=1)
    x = random_input(net, 4).float().requires_grad_()
    with hw.selection_mode(net, "argmax"):
        net(x).square().sum().backward()
    assert x.grad.abs().sum() > 0
    assert net.layers[0].logits.grad is None
    assert not net.eval()(x).requires_grad


def test_an_unknown_engine_lists_the_right_ones():
    with pytest.raises(hw.HardwireError, match=r"auto, .*reference"):
        hw.LogicNetwork(5, 2, width=8, depth=2, engine="gpu")
