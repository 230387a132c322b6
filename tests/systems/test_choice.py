"""`Choice`: the selection core as a module, for any K, with logits that are parameters or come from the input."""

import copy

import pytest
import torch
from torch import nn

import hardwire as hw
from hardwire.noise import NoiseKey, gumbel
from hardwire.systems import auxiliary_loss, choice_usage, deploy
from hardwire.systems.choice import chosen_output
from hardwire.temperature import Linear

METHODS = tuple(hw.METHODS)


def random(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


class Mixer(nn.Module):
    """A model of someone else: five linear maps, one of which each row chooses by its own logits."""

    def __init__(self, **settings):
        super().__init__()
        self.maps, self.router = nn.Linear(6, 15), nn.Linear(6, 5)
        self.choice = hw.Choice(5, **settings)

    def forward(self, x):
        return (self.maps(x).unflatten(-1, (3, 5)) * self.choice(self.router(x)).unsqueeze(1)).sum(-1)


@pytest.mark.parametrize("choices", [2, 3, 17, 2000])
@pytest.mark.parametrize("method", METHODS)
def test_the_weights_sum_to_one_and_are_one_hot_when_deployed(method, choices):
    choice, logits = hw.Choice(choices, method, seed=1), random(7, choices)
    torch.testing.assert_close(choice(logits).sum(-1), torch.ones(7, dtype=torch.float64))
    deployed = choice.eval()(logits)
    assert torch.equal(deployed.argmax(-1), logits.argmax(-1))
    assert torch.equal(deployed.sum(-1), torch.ones(7, dtype=torch.float64))


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_is_the_papers_proposition(method):
    tau, logits, upstream = 0.7, random(4, 9).requires_grad_(), random(4, 9, seed=1)
    choice = hw.Choice(9, method, tau, seed=3)
    (choice(logits) * upstream).sum().backward()
    noise = gumbel(NoiseKey(3, 0), 0, 4, 9, like=logits) if hw.METHODS[method].noisy else 0
    w = torch.softmax((logits.detach() + noise) / tau, -1)
    expected = w * (upstream - (w * upstream).sum(-1, keepdim=True)) / tau
    torch.testing.assert_close(logits.grad, expected, rtol=1e-6, atol=1e-9)  # tau is kept in float32


def test_every_node_draws_noise_of_its_own_and_measuring_repeats_it():
    choice = hw.Choice(8, "gumbel-st", seed=0)
    assert len(set(choice(torch.zeros(200, 8)).argmax(-1).tolist())) == 8
    model, x = Mixer(method="gumbel-st", seed=0), torch.rand(300, 6)
    data = (x, torch.zeros(300, dtype=torch.int64))
    assert hw.measure_gap(model, data, batch_size=100) == hw.measure_gap(model, data, batch_size=100)


@pytest.mark.parametrize("choices", [2, 5, 3000])
def test_cage_counts_confidence_from_one_over_k_over_all_nodes(choices):
    choice = hw.Choice(choices, cage=True)
    even = torch.zeros(4, 3, choices, requires_grad=True)
    choice(even)
    assert choice.selector.temperature.tau.item() == pytest.approx(3.0, abs=1e-5)
    logits = random(4, 3, choices).float()
    sure = torch.softmax(logits, -1).amax(-1).mean().item()
    choice(logits)
    average = 0.99 / choices + 0.01 * sure  # the even pass left it at 1/K
    expected = 3.0 - 2.5 * (average - 1 / choices) / (1 - 1 / choices)
    assert choice.selector.temperature.tau.item() == pytest.approx(expected, abs=1e-4)
    sure = hw.Choice(choices, tau=hw.CAGE(beta=0.0, choices=choices))
    sure(100 * torch.eye(choices)[:2])
    assert sure.selector.temperature.tau.item() == pytest.approx(0.5, abs=1e-5)


def test_a_temperature_moves_on_training_steps_alone():
    choice = hw.Choice(3, "soft-mix", Linear(2.0, 1.0, 3))
    logits = torch.zeros(5, 3, requires_grad=True)
    for expected in (2.0, 1.5, 1.0, 1.0):
        choice(logits)
        assert choice.selector.temperature.tau.item() == expected
        choice.eval()(logits)
        choice.train()
    with torch.no_grad():
        choice(logits)
    assert choice.selector.temperature.step.item() == 4


def test_a_chosen_output_is_exact_and_differentiates_like_a_weighted_sum():
    for weights_shape in ((5,), (6, 5)):
        candidates, logits = random(5, 6, 2, 3), random(*weights_shape, seed=2).requires_grad_()
        weights = hw.selection.selection_weights(logits, "hard-st", 0.5)
        spread = weights.expand(6, 5).T[..., None, None]
        summed = (spread * candidates).sum(0)
        chosen = summed.detach().clone().requires_grad_()
        upstream = random(6, 2, 3, seed=4)
        (expected,) = torch.autograd.grad((summed * upstream).sum(), logits, retain_graph=True)
        out = chosen_output(chosen, weights, candidates)
        assert torch.equal(out, chosen)
        actual, passed = torch.autograd.grad((out * upstream).sum(), (logits, chosen))
        torch.testing.assert_close(actual, expected)
        assert torch.equal(passed, upstream)


def test_an_unchosen_candidate_that_overflows_does_not_spoil_the_forward_pass():
    weights, candidates = torch.tensor([1.0, 0.0]), torch.tensor([[1.0, 2.0], [float("inf"), 0.0]])
    assert torch.equal(chosen_output(candidates[0], weights, candidates), candidates[0])


@pytest.mark.parametrize("method", METHODS)
def test_the_gap_of_a_model_of_ones_own_is_measured(method):
    torch.manual_seed(0)
    model, x = Mixer(method=method, seed=0), torch.rand(500, 6)
    with torch.no_grad():
        deployed = model.eval()(x)
    gap = hw.measure_gap(model.train(), (x, deployed.argmax(-1)))
    assert gap.argmax == gap.deploy == 1.0  # no hard formulas here: the two passes coincide
    assert (gap.selection == 0) == (method == "hard-st")
    losses = hw.measure_gap(model, (x, deployed), loss=nn.functional.mse_loss, batch_size=130)
    assert losses.metric == "loss"
    assert losses.argmax == losses.deploy == 0
    assert losses.selection == -losses.method <= 0  # the deployed pass is the better one by construction
    assert losses.computation == 0


def test_losses_are_means_over_rows_whatever_the_batch_size():
    torch.manual_seed(0)
    model, x, y = Mixer(method="hard-st"), torch.rand(10, 6), torch.rand(10, 3)
    whole = hw.measure_gap(model, (x, y), loss=nn.functional.mse_loss)
    parts = hw.measure_gap(model, (x, y), loss=nn.functional.mse_loss, batch_size=4)
    assert parts.method == pytest.approx(whole.method, rel=1e-6)
    assert whole.method == pytest.approx(nn.functional.mse_loss(model.eval()(x), y).item(), rel=1e-6)


def test_usage_counts_what_is_deployed():
    torch.manual_seed(0)
    model, x = Mixer(method="gumbel-st"), torch.rand(50, 6)
    with torch.no_grad():
        model.router.bias[3] -= 100
    (usage,) = choice_usage(model, x)
    assert usage.counts.tolist() == torch.bincount(model.router(x).argmax(-1), minlength=5).tolist()
    assert usage.dead == int((usage.counts == 0).sum()) >= 1
    assert usage.confidence == pytest.approx(torch.softmax(model.router(x), -1).amax(-1).mean().item())
    assert model.training


def test_the_state_of_a_choice_is_saved_with_its_model():
    model, x = Mixer(method="gumbel-st", cage=True, seed=5), torch.rand(20, 6)
    for _ in range(3):
        model(x)
    other = Mixer(method="gumbel-st", cage=True, seed=8)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x), model(x))
    assert other.choice.selector.temperature.tau == model.choice.selector.temperature.tau < 3


def test_a_model_that_has_just_been_trained_can_be_copied_and_deployed():
    model = nn.Sequential(nn.Linear(4, 6), hw.VectorQuantizer(3, 6), nn.Linear(6, 2))
    x = torch.rand(8, 4)
    loss = model(x).sum() + auxiliary_loss(model)
    assert copy.deepcopy(model)[1].auxiliary is None
    deployed = deploy(model)
    loss.backward()
    model.eval()
    assert torch.equal(deployed(x), model(x))
    assert not any(isinstance(module, hw.Choice) for module in deployed.modules())
    assert auxiliary_loss(model) == 0


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: hw.Choice(1), "choices 1 is not a whole number of at least 2"),
        (lambda: hw.Choice(3, "soft-mix", cage=True), "does not apply to soft-mix"),
        (lambda: hw.Choice(3, tau=hw.CAGE()), "normalised for 16 choices, not 3"),
        (lambda: hw.Choice(3)(torch.zeros(2, 4)), r"\[2, 4\] for 3 choices"),
        (lambda: hw.Choice(2)(torch.tensor([0.0, float("nan")])), "NaN or infinity"),
        (lambda: choice_usage(nn.Linear(2, 2), torch.zeros(1, 2)), "holds no Choice"),
        (lambda: hw.measure_gap(nn.Linear(2, 2), (torch.zeros(1, 2), torch.zeros(1).long())), "no gap to measure"),
    ],
)
def test_mistakes_are_named(attempt, message):
    with pytest.raises(hw.HardwireError, match=message):
        attempt()


def test_refused_logits_do_not_count_as_a_step():
    choice = hw.Choice(2, "gumbel-st")
    with pytest.raises(hw.HardwireError):
        choice(torch.tensor([0.0, float("nan")], requires_grad=True))
    assert choice.selector.steps == 0
