"""A network that computes a number: one group of all neurons, in steps of a power of two."""

import numpy as np
import pytest
import torch
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import hardwire as hw


def bits(rows, features, seed=0):
    return torch.randint(0, 2, (rows, features), generator=torch.Generator().manual_seed(seed)).float()


def net_of(low=-3.0, high=5.0, **settings):
    return hw.LogicNetwork(8, number=(low, high), width=60, depth=2, **{"seed": 0, **settings})


@property_test
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 3000))
def test_the_sums_reach_both_ends_within_a_step_of_a_power_of_two(low, span, features):
    head = hw.NumberSum(low, low + span)
    step, offset = head.step_for(features), head.offset_for(features)
    assert np.frexp(step)[0] == 0.5
    assert offset * step <= low + step and (offset + features) * step >= low + span - step
    assert step < 2 * span / features * (1 + 1e-9)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_number_is_the_sum_of_all_true_neurons_shifted_and_scaled_exactly(engine):
    net = net_of(engine=engine).eval()
    x = bits(50, 8)
    head = net.group_sum
    layers = nn.Sequential(*net.layers)
    for layer in layers:
        layer.selector = net.selector
    sums = layers(x).sum(1)
    expected = (sums.double() + head.offset_for(60)) * head.step_for(60)
    assert torch.equal(net(x)[:, 0], expected)
    assert torch.equal(net.predict(x), expected)


def test_a_sequential_that_ends_in_a_number_is_the_same_network():
    model = nn.Sequential(hw.LogicLayer(8, 40, seed=1), hw.LogicLayer(40, 60, seed=2), hw.NumberSum(-3, 5)).eval()
    x = bits(20, 8)
    assert torch.equal(hw.fuse(model)(x), model(x))


def test_training_lowers_the_squared_error_and_the_gap_is_one_of_losses():
    x = bits(400, 8)
    y = 3 * x[:, 0] - 2 * x[:, 1] + x[:, 2] * x[:, 3]
    net = net_of(-4, 6, cage=True)
    before = hw.measure_gap(net, (x, y))
    history = hw.fit(net, (hw.Bits.pack(x), y), iterations=200, batch_size=64, lr=0.05, progress=False)
    after = hw.measure_gap(net, (x, y))
    assert before.metric == after.metric == "loss"
    assert after.deploy == history.final.deploy < 0.1 * before.deploy
    assert after.total == 0
    assert after.deploy == pytest.approx((net.predict(x) - y).square().mean().item(), rel=1e-5)


@pytest.mark.parametrize("settings", [{}, {"wiring": "learned", "candidates": 4}])
def test_a_saved_number_loads_as_it_was(tmp_path, settings):
    net = net_of(0.1, 7.3, **settings).eval()
    hw.save(net, tmp_path / "net")
    x = bits(20, 8)
    assert torch.equal(hw.load(tmp_path / "net")(x), net(x))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"number": (1, 1)}, "low and a higher high"),
        ({"number": (0, float("nan"))}, "low and a higher high"),
        ({"number": 5}, r"not a range \(low, high\)"),
        ({"number": (0, 1), "classes": 2}, "not both"),
        ({"number": (0, 1), "group_temperature": 1.0}, "not both"),
    ],
)
def test_a_number_without_a_range_is_refused(settings, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        hw.LogicNetwork(8, width=4, depth=1, **settings)
