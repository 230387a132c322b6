"""Search cells: the deployed architecture is the argmax pass to the last bit; gradients are the weighted sum's."""

import pytest
import torch
from torch import nn

import hardwire as hw
from hardwire.systems import OPERATIONS
from hardwire.systems.search import FixedCell, Zero

METHODS = tuple(hw.METHODS)


@pytest.fixture
def images():
    return torch.rand(6, 1, 9, 8, generator=torch.Generator().manual_seed(0))


def spread(network, seed=0):
    """Logits far from even, so that the architecture is not all one operation."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("logits"):
                parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)))
    return network


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_the_deployed_network_equals_the_networks_own_hard_pass(method, seed, images):
    torch.manual_seed(seed)
    network = spread(hw.SearchNetwork(1, 10, channels=4, cells=3, nodes=3, method=method, seed=seed), seed)
    plain = network.deploy()
    assert torch.equal(plain(images), network.eval()(images))
    assert isinstance(plain, nn.Sequential)
    assert not any(isinstance(module, hw.Choice) for module in plain.modules())
    operations = [edge for module in plain if isinstance(module, FixedCell) for edge in module.edges]
    assert len(operations) == 3 * 6 == sum(map(len, network.architecture()))
    assert sum(isinstance(operation, Zero) for operation in operations) == str(network.architecture()).count("'zero'")


def test_the_hard_training_pass_is_the_deployed_network_exactly(images):
    network = spread(hw.SearchNetwork(1, 10, channels=4, method="hard-st", cage=True))
    assert torch.equal(network(images), network.deploy()(images))


@pytest.mark.parametrize("method", METHODS)
def test_all_gradients_of_a_cell_are_those_of_the_weighted_sum_of_all_operations(method):
    torch.manual_seed(0)
    cell = spread(hw.SearchCell(3, nodes=1, method=method, tau=0.6, seed=2)).double()
    x, upstream = torch.randn(2, 2, 3, 5, 5, dtype=torch.float64)
    (cell(x.requires_grad_()) * upstream).sum().backward()
    parameters = dict(cell.named_parameters())
    actual = {name: p.grad.clone() for name, p in parameters.items() if p.grad is not None}
    actual_x, x.grad = torch.zeros_like(x) if x.grad is None else x.grad, None
    cell.zero_grad()

    fresh = hw.Choice(len(OPERATIONS), method, 0.6, seed=2)  # draws the noise of the first step again
    weights = fresh(cell.cell.logits)[0]
    mixed = sum(w * operation(x) for w, operation in zip(weights, cell.cell.edges[0], strict=True))
    (mixed * upstream).sum().backward()
    torch.testing.assert_close(actual_x, x.grad)
    for name, parameter in parameters.items():
        torch.testing.assert_close(actual.get(name, torch.zeros_like(parameter)), parameter.grad)


def test_a_deployed_network_keeps_its_own_weights(images):
    network = hw.SearchNetwork(1, 10, channels=4).eval()
    plain = network.deploy()
    before = plain(images)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    assert torch.equal(plain(images), before)


def test_the_argmax_pass_runs_only_the_chosen_operations():
    ran = []

    class Counted(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def forward(self, x):
            ran.append(self.name)
            return x

    cell = hw.SearchCell(2, 1, [lambda channels, k=k: Counted(k) for k in range(4)])
    x = torch.rand(1, 2, 3, 3)
    cell.eval()(x)
    assert len(ran) == 1
    cell.train()(x)
    assert sorted(ran[1:]) == [0, 1, 2, 3]


def test_hard_st_has_no_gap_on_digits_and_soft_mix_has_one():
    data = hw.data.load("digits")
    x = torch.from_numpy(data.raw("test")).float().view(-1, 1, 8, 8) / 16
    for method in ("hard-st", "soft-mix"):
        torch.manual_seed(0)
        network = hw.SearchNetwork(1, 10, channels=4, nodes=1, method=method, seed=0)
        with torch.no_grad():
            trained = network(x)
        gap = hw.measure_gap(network, (x, trained), loss=nn.functional.mse_loss)
        assert gap.method < 1e-12
        assert (gap.selection < 1e-12) == (method == "hard-st")
        assert gap.computation == 0


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: hw.SearchCell(4, operations=["skip"]), "at least 2"),
        (lambda: hw.SearchCell(4, operations=["skip", "conv9"]), "unknown operation 'conv9'; .*choose one of: zero"),
        (lambda: hw.SearchCell(4, nodes=0), "nodes 0"),
        (lambda: hw.SearchNetwork(1, 1), "classes 1"),
        (
            lambda: hw.SearchCell(4, 1, ["skip", lambda c: nn.Conv2d(c, c + 1, 1)])(torch.rand(1, 4, 3, 3)),
            r"turned \[1, 4, 3, 3\] into \[1, 5, 3, 3\]",
        ),
    ],
)
def test_mistakes_are_named(attempt, message):
    with pytest.raises(hw.HardwireError, match=message):
        attempt()


@pytest.mark.parametrize("method", METHODS)
def test_independent_operations_deploy_all_that_are_above_a_half(method, images):
    network = spread(hw.SearchNetwork(1, 3, 4, cells=1, nodes=2, method=method, seed=0, independent=True))
    (logits,) = [p.detach() for name, p in network.named_parameters() if name.endswith("logits")]
    deployed = network.deploy()
    assert torch.equal(network.eval()(images), deployed(images))
    wanted = ["+".join(n for n, logit in zip(OPERATIONS, edge, strict=True) if logit >= 0) for edge in logits.tolist()]
    assert network.architecture() == [wanted] and any("+" in edge for edge in wanted)


def test_independent_operations_mix_by_a_sigmoid_each_and_are_pushed_apart(images):
    network = spread(
        hw.SearchNetwork(1, 3, 4, cells=1, nodes=1, seed=0, method="soft-mix", independent=True, zero_one=2.0)
    )
    cell, h = network.cells[0], network.stem(images)
    weights = cell.logits.sigmoid()[0]
    mixed = sum(w * operation(h) for w, operation in zip(weights, cell.edges[0], strict=True))
    torch.testing.assert_close(network(images), network.head(mixed))
    torch.testing.assert_close(hw.systems.auxiliary_loss(network), -2 * (weights - 0.5).square().mean())
    with pytest.raises(hw.HardwireError, match="zero_one is for independent operations"):
        hw.SearchNetwork(1, 3, zero_one=1.0)
