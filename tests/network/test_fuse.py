"""An nn.Sequential of our layers as one network; steps that several passes share; layers with a method of their own."""

import copy

import pytest
import torch
from small_runs import digits
from torch import nn

import hardwire as hw


def sequential(method="gumbel-st", engine="auto", **second):
    return nn.Sequential(
        hw.LogicLayer(320, 60, method, seed=1, engine=engine),
        hw.LogicLayer(60, 50, seed=2, engine=engine, **second),
        hw.GroupSum(10),
    )


def step(model, x):
    model.zero_grad()
    scores = model(x)
    scores.square().sum().backward()
    return scores.detach()


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel", "hard-st", "gumbel-st", "hard-st+cage"])
def test_a_fused_sequential_takes_the_same_steps_with_the_same_noise(method, engine):
    apart = sequential(method, engine)
    together = hw.fuse(copy.deepcopy(apart))
    x = digits().train.x[:40]
    for _ in range(3):
        torch.testing.assert_close(step(apart, x), step(together, x), rtol=1e-5, atol=1e-5)
        for layer, other in zip(apart[:2], together.layers, strict=True):
            torch.testing.assert_close(layer.logits.grad, other.logits.grad, rtol=1e-4, atol=1e-5)
            assert layer.selector.temperature.tau == other.selector.temperature.tau
            assert int(layer.selector.steps) == int(other.selector.steps)


def test_fusing_shares_the_parameters_so_that_training_either_trains_both():
    model = sequential()
    net = hw.fuse(model)
    assert net.layers[0] is model[0] and hw.fuse(net) is net
    step(net, digits().train.x[:10])
    assert model[0].logits.grad is not None and int(model[0].selector.steps) == 1


def test_layers_of_different_methods_save_load_and_go_on_alike(tmp_path):
    model = sequential("gumbel-st", cage=True)
    x = digits().train.x[:30]
    step(model, x)
    hw.save(model, tmp_path / "net")
    loaded = hw.load(tmp_path / "net")
    assert [layer.selector.method.name for layer in loaded.layers] == ["gumbel-st", "hard-st"]
    torch.testing.assert_close(step(loaded.train(), x), step(model, x), rtol=1e-5, atol=1e-5)
    assert loaded.layers[1].selector.temperature.tau == model[1].selector.temperature.tau


def test_a_sequential_ships_as_a_circuit():
    model, x = sequential().eval(), digits().test.x
    scores = hw.Circuit.from_network(model).scores(x)
    expected = torch.tensor(scores, dtype=torch.float32) / model[2].temperature_for(50)
    torch.testing.assert_close(model(x), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    "model", [nn.Sequential(hw.LogicLayer(4, 4)), nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), hw.GroupSum(2))]
)
def test_what_is_no_network_of_ours_cannot_be_fused(model):
    with pytest.raises(hw.HardwireError, match=r"not a network of gates|not a layer of gates"):
        hw.fuse(model)


def test_a_network_leaves_a_layer_its_own_method_and_gives_the_others_its_own():
    layers = [hw.LogicLayer(20, 12, "gumbel-st", tau=0.5, seed=1), hw.LogicLayer(12, 10, seed=2)]
    net = hw.LogicNetwork(classes=2, layers=layers, method="hard-st+cage", seed=7)
    assert layers[0].selector.method.name == "gumbel-st" and layers[1].selector is None
    net(torch.rand(5, 20).round())
    assert int(net.selector.steps) == int(layers[0].selector.steps) == 1
    assert net.tau < 3.0 and layers[0].selector.temperature.tau == 0.5
    with pytest.raises(hw.HardwireError, match="belongs to a network"):
        layers[1](torch.zeros(1, 12))


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("method", ["soft-gumbel", "hard-st+cage", "gumbel-st+cage"])
def test_passes_inside_one_step_add_up_to_the_step_of_the_whole_batch(method, engine):
    x = digits().train.x[:64]
    whole = hw.LogicNetwork(320, 10, widths=[60, 50], method=method, seed=3, engine=engine)
    parts = copy.deepcopy(whole)
    for _ in range(3):
        for net in (whole, parts):
            net.zero_grad()
        whole(x).square().sum().backward()
        with hw.one_step(parts):
            for start in (0, 16, 48):
                stop = {0: 16, 16: 48, 48: 64}[start]
                parts(x[start:stop]).square().sum().backward()
        assert int(parts.selector.steps) == int(whole.selector.steps)
        assert parts.tau == whole.tau
        for layer, other in zip(whole.layers, parts.layers, strict=True):
            torch.testing.assert_close(layer.logits.grad, other.logits.grad, rtol=1e-4, atol=1e-4)


def test_a_copied_or_pickled_network_prepares_its_own_engine(tmp_path):
    net = hw.LogicNetwork(320, 10, widths=[60, 50], seed=3)
    x = digits().train.x[:9]
    step(net, x)
    for other in (copy.deepcopy(net), torch.load(_stored(net, tmp_path / "net"), weights_only=False)):
        assert torch.equal(other.eval()(x), net.eval()(x))


def _stored(net, path):
    torch.save(net, path)
    return path
