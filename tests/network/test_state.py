"""What a network carries along: saved states, copies, other dtypes and devices, compiled graphs."""

import copy
import pickle

import pytest
import torch
from cases import METHODS

import hardwire as hw

X = torch.rand(5, 6, generator=torch.Generator().manual_seed(0))


def trained(method, cage=False, seed=1):
    """A network three steps into its training."""
    net = hw.LogicNetwork(6, 2, width=10, depth=3, method=method, cage=cage, seed=seed)
    train(net, 3)
    return net


def train(net, steps):
    """Scores of each step and of the deployed circuit after them."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)  # Adam's epsilon is zero in half precision
    seen = []
    for _ in range(steps):
        scores = net(X.to(net.layers[0].logits.dtype))
        optimizer.zero_grad()
        scores.square().sum().backward()
        optimizer.step()
        seen.append(scores.detach())
    net.eval()
    seen.append(net(X))
    net.train()
    return torch.stack(seen)


VARIANTS = [(method, False) for method in METHODS] + [("hard-st", True), ("gumbel-st", True)]


@pytest.mark.parametrize(("method", "cage"), VARIANTS)
def test_a_state_loaded_into_a_network_of_another_seed_goes_on_identically(method, cage):
    net = trained(method, cage)
    other = hw.LogicNetwork(6, 2, width=10, depth=3, method=method, cage=cage, seed=77)
    other.load_state_dict(net.state_dict())
    assert other.seed == net.seed
    assert torch.equal(train(net, 3), train(other, 3))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
@pytest.mark.parametrize(("method", "cage"), VARIANTS)
def test_copies_go_on_identically_and_on_their_own(method, cage, clone):
    net = trained(method, cage)
    other = clone(net)
    expected = train(other, 3)
    assert torch.equal(train(net, 3), expected)


def test_the_state_is_tensors_only():
    state = trained("gumbel-st", cage=True).state_dict()
    assert all(isinstance(value, torch.Tensor) for value in state.values())


def test_a_network_made_on_meta_takes_a_state():
    net = trained("gumbel-st", cage=True)
    with torch.device("meta"):
        other = hw.LogicNetwork(6, 2, width=10, depth=3, method="gumbel-st", cage=True)
    other = other.to_empty(device="cpu")
    other.load_state_dict(net.state_dict())
    assert torch.equal(train(net, 2), train(other, 2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("method", "cage"), VARIANTS)
def test_a_network_runs_and_learns_in_its_logits_dtype(method, cage, dtype):
    net = trained(method, cage).to(dtype)
    assert net(X).dtype == net(X.double()).dtype == torch.promote_types(dtype, torch.float32)  # sums are exact
    net(X).square().sum().backward()
    assert net.layers[0].logits.grad.dtype == dtype
    assert net.layers[0].wiring.dtype == torch.int32
    assert net.selector.temperature.tau.dtype == torch.float32
    assert train(net, 2).isfinite().all()


@pytest.mark.parametrize("method", METHODS)
def test_double_precision_sharpens_the_single_precision_result(method):
    net = trained(method)
    wide = copy.deepcopy(net).double()
    torch.testing.assert_close(wide(X).float(), net(X), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(wide.eval()(X).float(), net.eval()(X))


def test_autocast_leaves_scores_and_gradients_as_they_are():
    net = trained("hard-st")
    expected = net(X)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(net(X), expected)


OLD_COMPILER = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6)


@pytest.mark.skipif(OLD_COMPILER, reason="torch.compile of a network needs torch 2.6")
@pytest.mark.parametrize(("method", "cage"), [("soft-mix", False), ("gumbel-st", True)])
def test_a_compiled_network_trains_like_the_eager_one(method, cage):
    net = trained(method, cage)
    eager, compiled = copy.deepcopy(net), copy.deepcopy(net)
    run = torch.compile(
        compiled, backend="aot_eager", fullgraph=True
    )  # the graphs without the minute of C++ compilation
    for _ in range(3):
        for model in (eager, run):
            model.zero_grad()
            model(X).square().sum().backward()
        for one, other in zip(eager.layers, compiled.layers, strict=True):
            torch.testing.assert_close(one.logits.grad, other.logits.grad, rtol=1e-4, atol=1e-6)
    assert eager.selector.steps == compiled.selector.steps
    assert eager.tau == pytest.approx(compiled.tau)
    torch.testing.assert_close(run(X), eager(X))
    torch.testing.assert_close(run.eval()(X), eager.eval()(X))
