"""Sparse experts beyond top-1, against loops over rows and experts; deployed as trained, but for a row alone."""

import pytest
import torch
from torch import nn

import hardwire as hw
from hardwire.systems import auxiliary_loss, choice_usage
from hardwire.systems.experts import load_balance


def experts(count=4, features=5, outputs=3):
    torch.manual_seed(1)
    return [nn.Sequential(nn.Linear(features, outputs), nn.Tanh()) for _ in range(count)]


def rows(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("top", [1, 2, 3])
def test_top_experts_answer_by_their_share_of_the_probability_among_them(top):
    mixture, x = hw.TopExperts(5, experts(), top), rows(20, 5)
    p = torch.softmax(mixture.router(x), -1)
    expected = []
    for n in range(20):
        best = sorted(range(4), key=lambda k: -p[n, k].item())[:top]
        expected.append(sum(p[n, k] / sum(p[n, j] for j in best) * mixture.experts[k](x[n]) for k in best))
    torch.testing.assert_close(mixture(x), torch.stack(expected))
    assert torch.equal(mixture(x), mixture.deploy()(x)) and torch.equal(mixture.eval()(x), mixture.deploy()(x))


def test_the_router_of_top_experts_learns_and_is_asked_to_balance():
    mixture, x = hw.TopExperts(5, experts(), 2, balance=0.5), rows(8, 5)
    mixture(x).square().sum().backward()
    assert mixture.router.weight.grad.abs().sum() > 0
    logits = mixture.router(x)
    torch.testing.assert_close(auxiliary_loss(mixture), 0.5 * load_balance(logits, logits.argmax(-1)))


def test_both_experts_of_a_row_count_as_used():
    (usage,) = choice_usage(hw.TopExperts(5, experts(), 2), rows(50, 5))
    assert usage.counts.sum() == 100


def test_each_expert_takes_its_share_of_the_rows_and_weighs_its_answers():
    mixture, x = hw.ExpertChoice(5, experts(), capacity=1.0), rows(12, 5)
    p = torch.softmax(mixture.router(x), -1)
    expected = torch.zeros(12, 3)
    for k in range(4):
        for n in sorted(range(12), key=lambda n: -p[n, k].item())[:3]:
            expected[n] += (p[n, k] * mixture.experts[k](x[n])).detach()
    torch.testing.assert_close(mixture(x), expected)
    assert torch.equal(mixture(x), mixture.deploy()(x)) and torch.equal(mixture.eval()(x), mixture.deploy()(x))
    mixture(x).square().sum().backward()
    assert mixture.router.weight.grad.abs().sum() > 0


def test_a_row_alone_is_answered_otherwise_than_in_its_batch():
    deployed, x = hw.ExpertChoice(5, experts(), capacity=1.0).deploy(), rows(12, 5)
    alone = torch.cat([deployed(row) for row in x.split(1)])
    assert not torch.allclose(alone, deployed(x))
    in_twelve = hw.TopExperts(5, experts(), 2).deploy()
    torch.testing.assert_close(torch.cat([in_twelve(row) for row in x.split(1)]), in_twelve(x))


@pytest.mark.parametrize("made", [hw.TopExperts, hw.ExpertChoice])
def test_with_noise_the_training_pass_differs_and_deployment_has_none(made):
    mixture, x = made(5, experts(), method="gumbel-st", seed=3), rows(40, 5)
    assert not torch.allclose(mixture(x), mixture(x))
    assert torch.equal(mixture.eval()(x), mixture.deploy()(x))
    assert mixture(rows(2, 3, 5)).shape == (2, 3, 3)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: hw.TopExperts(5, experts(), 5), "top 5 of 4 experts"),
        (lambda: hw.TopExperts(5, experts(), 2, "soft-mix"), "sparse experts need hard-st"),
        (lambda: hw.ExpertChoice(5, experts(), 0.0), "capacity 0.0"),
        (lambda: hw.ExpertChoice(5, experts(), method="soft-gumbel"), "sparse experts need hard-st"),
        (lambda: hw.TopExperts(5, experts())(rows(0, 5)), "at least one row"),
    ],
)
def test_mistakes_are_named(attempt, message):
    with pytest.raises(hw.HardwireError, match=message):
        attempt()


def test_an_expert_takes_rows_up_to_its_capacity_first_choices_before_second_ones():
    mixture, x = hw.TopExperts(5, experts(), 2, capacity=0.5), rows(20, 5)
    p, room = torch.softmax(mixture.router(x), -1), 20 * 2 * 0.5 / 4
    best = [sorted(range(4), key=lambda k: -p[n, k].item())[:2] for n in range(20)]
    taken, expected = [0] * 4, [torch.zeros(3) for _ in range(20)]
    for choice in range(2):
        for n in range(20):
            k = best[n][choice]
            taken[k] += 1
            if taken[k] <= room:
                expected[n] = expected[n] + p[n, k] / p[n, best[n]].sum() * mixture.experts[k](x[n])
    assert max(taken) > room
    torch.testing.assert_close(mixture(x), torch.stack(expected))
    assert torch.equal(mixture(x), mixture.deploy()(x))
    assert not torch.allclose(mixture.deploy()(x[:2]), mixture.deploy()(x)[:2])  # a row alone always has room


def test_a_second_expert_is_left_out_by_chance_in_training_and_never_in_use():
    mixture, x = hw.TopExperts(5, experts(), 2, seed=0, random_second=True), rows(400, 5)
    whole = mixture.deploy()(x)
    same = (mixture(x) == whole).all(-1)
    p = torch.softmax(mixture.router(x), -1).topk(2).values
    chance = (2 * p[:, 1] / p.sum(-1)).clamp(max=1)
    assert abs(same.float().mean() - chance.mean()) < 0.1 and not same.all()
    first, second = mixture(x), mixture(x)
    assert not torch.equal(first, second)  # anew in each step
    assert torch.equal(mixture.eval()(x), whole)


def test_wrong_capacities_and_second_experts_are_named():
    with pytest.raises(hw.HardwireError, match="capacity 0 is not a positive number"):
        hw.TopExperts(5, experts(), capacity=0)
    with pytest.raises(hw.HardwireError, match="random_second is for top 2, not 3"):
        hw.TopExperts(5, experts(), top=3, random_second=True)
