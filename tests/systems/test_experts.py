"""Experts: routing against a loop over rows, exact deployment, gradients against closed forms."""

import pytest
import torch
from torch import nn

import hardwire as hw
from hardwire.systems import auxiliary_loss
from hardwire.systems.experts import dispatch, load_balance

METHODS = tuple(hw.METHODS)


def experts(count=4, features=5, outputs=3):
    torch.manual_seed(1)
    return [nn.Sequential(nn.Linear(features, outputs), nn.Tanh()) for _ in range(count)]


def rows(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("method", "scaled"), [*((method, False) for method in METHODS), ("hard-st", True), ("gumbel-st", True)]
)
def test_the_top_one_router_equals_the_mixtures_own_hard_pass(method, scaled):
    mixture, x = hw.MixtureOfExperts(5, experts(), method, scaled=scaled), rows(40, 5)
    router = mixture.deploy()
    deployed = mixture.eval()(x)
    assert torch.equal(router(x), deployed)
    logits = mixture.router(x)
    chosen = [mixture.experts[k](x[n]) for n, k in enumerate(logits.argmax(-1).tolist())]
    scale = torch.softmax(logits, -1).amax(-1, keepdim=True) if scaled else 1
    torch.testing.assert_close(deployed, torch.stack(chosen) * scale)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_hard_training_pass_is_the_top_one_router_exactly(scaled):
    mixture, x = hw.MixtureOfExperts(5, experts(), "hard-st", scaled=scaled), rows(40, 5)
    assert torch.equal(mixture(x), mixture.deploy()(x))


@pytest.mark.parametrize("method", METHODS)
def test_all_gradients_are_those_of_the_weighted_sum_of_all_experts(method):
    mixture = hw.MixtureOfExperts(5, experts(), method, 0.8, seed=2).double()
    x, upstream = rows(12, 5).double().requires_grad_(), rows(12, 3).double()
    (mixture(x) * upstream).sum().backward()
    actual, actual_x = [p.grad for p in mixture.parameters()], x.grad
    mixture.zero_grad()
    x.grad = None
    weights = hw.Choice(4, method, 0.8, seed=2)(mixture.router(x))
    mixed = sum(weights[:, k, None] * expert(x) for k, expert in enumerate(mixture.experts))
    (mixed * upstream).sum().backward()
    torch.testing.assert_close(actual_x, x.grad)
    for grad, parameter in zip(actual, mixture.parameters(), strict=True):
        torch.testing.assert_close(torch.zeros_like(parameter) if grad is None else grad, parameter.grad)


def test_switch_routing_learns_through_the_probability_of_the_chosen_expert():
    mixture = hw.MixtureOfExperts(5, experts(), "hard-st", scaled=True).double()
    x, upstream = rows(12, 5).double(), rows(12, 3).double()
    (mixture(x) * upstream).sum().backward()
    logits = mixture.router(x).detach().requires_grad_()
    p, index = torch.softmax(logits, -1), logits.argmax(-1)
    answers = torch.stack([mixture.experts[k](x[n]) for n, k in enumerate(index.tolist())]).detach()
    one_hot = nn.functional.one_hot(index, 4)
    chosen = p.gather(1, index[:, None])
    by_logit = (answers * upstream).sum(1, keepdim=True) * chosen * (one_hot - p)
    torch.testing.assert_close(mixture.router.weight.grad, by_logit.T @ x)


def test_only_experts_with_rows_run_and_each_row_once():
    seen = []
    watched = [lambda part, k=k: (seen.append((k, len(part))), part * (k + 1))[1] for k in range(4)]
    x, index = rows(9, 2), torch.tensor([3, 0, 3, 3, 1, 0, 3, 1, 3])
    assert torch.equal(dispatch(watched, x, index), x * (index + 1)[:, None])
    assert seen == [(0, 2), (1, 2), (3, 5)]


def test_the_load_balance_is_the_switch_papers():
    logits = rows(50, 4).double().requires_grad_()
    loss = load_balance(logits, logits.argmax(-1))
    p = torch.softmax(logits, -1)
    share = [(logits.argmax(-1) == k).double().mean() for k in range(4)]
    torch.testing.assert_close(loss, 4 * sum(share[k] * p[:, k].mean() for k in range(4)))
    loss.backward()
    f = torch.stack(share)
    torch.testing.assert_close(logits.grad, (4 / 50 * p * (f - (p * f).sum(-1, keepdim=True))).detach())
    even = torch.eye(4).repeat(3, 1) * 20
    assert load_balance(even, even.argmax(-1)).item() == pytest.approx(1.0)


def test_the_balance_is_asked_for_in_training_steps_alone():
    mixture, x = hw.MixtureOfExperts(5, experts(), balance=0.5), rows(8, 5)
    mixture(x)
    logits = mixture.router(x)
    torch.testing.assert_close(auxiliary_loss(mixture), 0.5 * load_balance(logits, logits.argmax(-1)))
    mixture.eval()(x)
    assert auxiliary_loss(mixture) == 0


@pytest.mark.parametrize("tau", [1.0, 0.3])
def test_soft_gating_has_no_gap_if_it_is_deployed_soft(tau):
    mixture, x = hw.MixtureOfExperts(5, experts(), "soft-mix", tau), rows(40, 5)
    assert torch.equal(mixture(x), mixture.deploy(soft=True)(x))
    assert not torch.allclose(mixture(x), mixture.deploy()(x))
    soft, tokens = hw.SoftMoE(5, experts(), slots=2, tau=tau), rows(3, 7, 5)
    assert torch.equal(soft(tokens), soft.deploy(soft=True)(tokens))
    assert not torch.allclose(soft(tokens), soft.deploy()(tokens))


@pytest.mark.parametrize("method", METHODS)
def test_soft_moe_deploys_each_token_to_its_best_slot(method):
    soft, x = hw.SoftMoE(5, experts(), slots=2, method=method), rows(3, 7, 5)
    logits = x @ soft.router.weight.T
    answers = []
    for batch in range(3):
        mixtures = torch.softmax(logits[batch], 0).T @ x[batch]
        answers.append(torch.stack([soft.experts[s // 2](mixtures[s]) for s in range(8)]))
    expected = torch.stack([answers[b][logits[b].argmax(-1)] for b in range(3)])
    deployed = soft.deploy()(x)
    torch.testing.assert_close(deployed, expected)
    if method == "hard-st":
        assert torch.equal(soft(x), deployed)
    assert torch.equal(soft.eval()(x), deployed)


def test_leading_axes_and_a_router_of_ones_own_are_taken():
    router = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 4))
    mixture = hw.MixtureOfExperts(router, experts(), "gumbel-st", cage=True)
    assert mixture(rows(2, 3, 5)).shape == (2, 3, 3)
    flat, deep = mixture.eval()(rows(6, 5)), mixture(rows(6, 5).view(2, 3, 5))
    assert torch.equal(flat.view(2, 3, 3), deep)


def nan_router():
    router = nn.Linear(5, 4)
    nn.init.constant_(router.weight, float("nan"))
    return hw.MixtureOfExperts(router, experts())


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: hw.MixtureOfExperts(5, experts(1)), "at least 2"),
        (
            lambda: hw.MixtureOfExperts(5, [*experts(2), nn.Linear(5, 4)])(rows(30, 5)),
            r"expert 2 answered .* rows with shape \[\d+, 4\], expert 0 gives \[3\] for a row",
        ),
        (lambda: hw.MixtureOfExperts(5, [nn.Flatten(0), nn.Flatten(0)])(rows(4, 5)), "one answer a row"),
        (lambda: nan_router()(rows(4, 5)), "NaN or infinity"),
        (lambda: nan_router().deploy()(rows(4, 5)), "NaN or infinity"),
        (lambda: hw.MixtureOfExperts(5, experts(), "soft-mix", scaled=True), "Switch"),
        (lambda: hw.MixtureOfExperts(5, experts(), cage=True, scaled=True), "without CAGE"),
        (lambda: hw.MixtureOfExperts(nn.Linear(5, 3), experts())(rows(4, 5)), r"\[4, 3\] for 4 choices"),
        (lambda: hw.MixtureOfExperts(5, experts())(rows(0, 5)), "at least one row"),
        (lambda: hw.SoftMoE(5, experts())(rows(4, 5)), r"\[batch, tokens, features\]"),
    ],
)
def test_mistakes_are_named(attempt, message):
    with pytest.raises(hw.HardwireError, match=message):
        attempt()
