"""Frozen layers (`requires_grad_(False)`) in the native engine: the rest learns exactly as it did, nothing goes back
through layers that are frozen, and only what is asked for has a gradient."""

import pytest
import torch
from cases import METHODS, needs_native, property_test
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

import hardwire as hw
from hardwire.training.run_settings import parameter_groups

pytestmark = needs_native


def flat(method, noise="pass"):
    wires = {"wiring": "learned", "candidates": 4} if noise == "pass" else {}
    layers = [
        hw.LogicLayer(40, 60, seed=1, **wires),
        hw.LogicLayer(60, 70, seed=2),
        hw.LogicLayer(70, 60, seed=3, **wires),
        hw.LogicLayer(60, 40, seed=4, groups=4),
    ]
    return hw.LogicNetwork(classes=4, layers=layers, method=method, noise=noise, seed=0)


def tables(method):
    layers = [
        hw.LutLayer(40, 30, arity=4, wiring="learned", candidates=4, seed=1),
        hw.LogicLayer(30, 40, seed=2),
        hw.LutLayer(40, 20, arity=6, seed=3),
        hw.LogicLayer(20, 20, seed=4, groups=4),
    ]
    return hw.LogicNetwork(classes=4, layers=layers, method=method, seed=0)


def images(method):
    layers = [
        hw.LogicConv2d((1, 8, 8), kernels=6, tree_depth=2, padding=1, seed=1),
        hw.OrPool2d(2),
        hw.LogicConv2d((6, 4, 4), kernels=8, tree_depth=1, padding=1, seed=2),
        hw.OrPool2d(2),
        hw.LogicLayer(32, 40, seed=3, groups=4),
    ]
    return hw.LogicNetwork(classes=4, layers=layers, method=method, seed=0)


NETWORKS = [(flat, method) for method in METHODS]
NETWORKS += [(kind, method) for kind in (tables, images) for method in ("hard-st", "gumbel-st")]


def step(net, frozen, x, packed):
    """One training step: scores, gradients by name (None for frozen layers) and that of the input."""
    for number, layer in enumerate(net.layers):
        layer.requires_grad_(number not in frozen)
    y = torch.arange(len(x)) % net.classes
    x = hw.Bits.pack(x) if packed else x.clone().requires_grad_()
    scores = net.train()(x)
    cross_entropy(scores, y).backward()
    gradients = {name: parameter.grad for name, parameter in net.named_parameters()}
    return scores.detach(), gradients, None if packed else x.grad


@property_test
@given(st.sampled_from(NETWORKS), st.sets(st.integers(0, 4)), st.integers(1, 130), st.booleans(), st.booleans())
def test_the_rest_of_a_network_learns_as_if_nothing_were_frozen(network, frozen, rows, packed, per_sample):
    kind, method = network
    options = {"noise": "sample"} if per_sample and kind is flat and "gumbel" in method else {}
    net = kind(method, **options)
    learning = [number for number, layer in enumerate(net.layers) if layer.learns]
    if packed and frozen.issuperset(learning):
        frozen = frozen - {learning[-1]}  # without any gradient there is nothing to do
    x = torch.rand(rows, net.inputs, generator=torch.Generator().manual_seed(rows)).round()
    scores, gradients, below = step(kind(method, **options), frozen, x, packed)
    for_all, all_gradients, all_below = step(net, set(), x, packed)
    assert torch.equal(scores, for_all)
    for name, gradient in gradients.items():
        if int(name.split(".")[1]) in frozen:
            assert gradient is None
        else:
            assert torch.equal(gradient, all_gradients[name]), name
    assert packed or torch.equal(below, all_below)


def test_a_learning_rate_of_0_freezes_and_all_of_them_are_one_line():
    net = flat("hard-st")
    groups = parameter_groups(net, 0.1, {"layers.0.": 0.0, "layers.1.": 0.2})
    assert sorted(group["lr"] for group in groups) == [0.1, 0.2]
    assert not any(parameter.requires_grad for parameter in net.layers[0].parameters())
    with pytest.raises(hw.HardwireError, match="learning rates are 0"):
        parameter_groups(net, 0.0, {"layers": 0.0})


def test_a_network_with_frozen_layers_trains_and_resumes_to_the_same_bits(tmp_path):
    data = hw.data.load("digits")

    def train(iterations, resume):
        layers = [hw.LogicLayer(320, 100, seed=1), hw.LogicLayer(100, 100, seed=2, groups=10)]
        net = hw.LogicNetwork(classes=10, layers=layers, seed=0)
        net.layers[0].requires_grad_(False)
        hw.fit(
            net, data, iterations=iterations, batch_size=50, evaluate_every=5, progress=False,
            checkpoint=tmp_path / "run", resume=resume,
        )  # fmt: skip
        return net

    whole = train(20, resume=False)
    train(10, resume=False)
    resumed = train(20, resume=True)
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)
    start = hw.LogicLayer(320, 100, seed=1)
    assert torch.equal(whole.layers[0].logits, start.logits)
    assert not torch.equal(whole.layers[1].logits, hw.LogicLayer(100, 100, seed=2, groups=10).logits)
