"""Channels of edges: what they say, in both engines, in recipes and in circuits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire import models
from hardwire.engine.functions import Fixed
from hardwire.gates import algebra

BESIDE = ((0, -1), (0, 1), (-1, 0), (1, 0))


def thermometers(values, levels):
    """[batch, values, rows, columns] of 0 to levels as bits in the order of an encoder."""
    return (values[..., None] > torch.arange(levels)).float().flatten(1)


def oracle(values, levels, planes, steps):
    """By loops over pixels, from the values themselves."""
    batch, count, height, width = values.shape
    channels = [(values[:, value] > level).float() for value in range(count) for level in range(levels)]
    for plane in planes:
        for step in steps:
            for down, right in BESIDE:
                edge = torch.zeros(batch, height, width)
                for y in range(height):
                    for x in range(width):
                        there = min(max(y + down, 0), height - 1), min(max(x + right, 0), width - 1)
                        back = min(max(y - down, 0), height - 1), min(max(x - right, 0), width - 1)
                        rise = values[:, plane, *there] - values[:, plane, *back]
                        edge[:, y, x] = (rise >= step).float()
                channels.append(edge)
    return torch.stack(channels, 1)


@settings(max_examples=20, deadline=None)
@given(
    levels=st.integers(1, 8), count=st.integers(1, 3), height=st.integers(1, 5), width=st.integers(1, 5),
    engine=st.sampled_from(["native", "reference"]), seed=st.integers(0, 99), data=st.data(),
)  # fmt: skip
def test_an_edge_is_where_a_value_rises_by_so_many_thresholds(levels, count, height, width, engine, seed, data):
    planes = data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
    steps = data.draw(st.lists(st.integers(1, levels), min_size=1, unique=True))
    shape = (count * levels, height, width)
    layer = hw.EdgeChannels(shape, levels, planes, steps, engine=engine).eval()
    values = torch.randint(0, levels + 1, (7, count, height, width), generator=torch.manual_seed(seed))
    expected = oracle(values, levels, planes, steps)
    assert layer.output_shape == tuple(expected.shape[1:])
    assert torch.equal(layer(thermometers(values, levels)).reshape(expected.shape), expected)


def network():
    """Edges and three blocks, as the recipes for CIFAR-10 have them."""
    layers = [
        hw.EdgeChannels((5, 8, 8), levels=5),
        hw.LogicConv2d((13, 8, 8), 6, tree_depth=1, padding=1, channels_per_kernel=1, seed=1),
        hw.OrPool2d(2),
        hw.LogicConv2d((6, 4, 4), 8, tree_depth=1, padding=1, seed=2),
        hw.OrPool2d(2),
        hw.LogicConv2d((8, 2, 2), 16, tree_depth=1, padding=1, seed=3),
        hw.OrPool2d(2),
        hw.LogicLayer(16, 60, wiring="learned", candidates=8, groups=10, seed=4),
    ]
    return hw.LogicNetwork(classes=10, layers=layers, seed=0)


def test_a_network_of_edges_and_three_blocks_trains_is_saved_and_is_proven_as_a_circuit(tmp_path):
    data = hw.data.load("digits@5")
    net = network()
    hw.fit(net, data, 20, 50, progress=False)
    models.save(net, tmp_path / "net.safetensors")
    loaded = models.load(tmp_path / "net.safetensors")
    assert torch.equal(loaded(data.test.x), net.eval()(data.test.x))
    circuit = hw.Circuit.from_network(net).simplify()
    assert (circuit.predict(data.test.x) == net.predict(data.test.x).numpy()).all()
    for name in ("net.v", "net.c"):
        circuit.export(tmp_path / name)
        assert circuit.verify(tmp_path / name).how.startswith("equal, proven")


def test_kernels_behind_edges_are_chosen_by_use():
    data = hw.data.load("digits@5")
    net = network()
    chosen = hw.choose_by_use(list(net.layers), data, pool=2, head=60, iterations=3, progress=False)
    assert [choice.layer for choice in chosen.choices] == [1, 3, 5] and len(chosen.choices[0].use) == 12


def test_copies_are_wires_and_the_last_level():
    *gates, copies = hw.EdgeChannels((5, 8, 8), levels=5, steps=[2]).levels()
    assert [level.neurons // 64 for level in gates] == [16, 8, 4]
    assert copies.neurons == 64 * 9 and copies.function == Fixed.of_gate(algebra.A)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: hw.EdgeChannels((5, 8, 8), levels=2), "5 channels cannot be made of values with 2 levels"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, planes=[3]), "use different numbers from 0 to 2"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, steps=[1, 1]), "use different numbers from 1 to 2"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, steps=[]), r"steps is \[\]; it must be a list"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, steps="1"), "it must be a list"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, steps=[0]), "steps"),
        (lambda: hw.EdgeChannels((6, 8, 8), levels=2, steps=[1]).wider(2), "nothing can be chosen by use before"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(make, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        make()
