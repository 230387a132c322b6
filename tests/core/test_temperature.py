import copy

import oracle
import pytest
import torch
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.errors import HardwireError
from hardwire.temperature import (
    CAGE,
    TEMPERATURES,
    Constant,
    Cosine,
    Linear,
    Temperature,
    from_config,
    register_temperature,
)


def taus(temperature, steps):
    """The temperature of each of the next training steps."""
    result = []
    for _ in range(steps):
        temperature.advance(0.5)
        result.append(temperature.tau.item())
    return result


@property_test
@given(st.lists(st.floats(1 / 16, 1.0), min_size=1, max_size=30), st.sampled_from([0.0, 0.5, 0.99]))
def test_cage_follows_the_papers_algorithm_step_by_step(confidences, beta):
    cage = CAGE(beta=beta)
    for confidence, expected in zip(confidences, oracle.cage(confidences, beta=beta), strict=True):
        cage.advance(torch.tensor(confidence))
        assert cage.tau.item() == pytest.approx(expected, rel=1e-5)


def test_cage_goes_from_tau_max_undecided_to_tau_min_committed():
    cage = CAGE(tau_max=2.0, tau_min=0.25, beta=0.0, choices=4)
    assert cage.tau.item() == 2.0
    cage.advance(1 / 4)
    assert cage.tau.item() == 2.0
    cage.advance(1.0)
    assert cage.tau.item() == 0.25


def test_cage_without_a_confidence_says_what_it_needs():
    with pytest.raises(HardwireError, match="confidence"):
        CAGE().advance()


def test_constant_stays():
    assert taus(Constant(0.5), 3) == [0.5, 0.5, 0.5]


def test_linear_goes_straight_from_start_to_end_and_stays():
    assert taus(Linear(2.0, 1.0, steps=5), 7) == pytest.approx([2.0, 1.75, 1.5, 1.25, 1.0, 1.0, 1.0])


def test_cosine_is_slow_at_both_ends_and_half_way_in_the_middle():
    first, second, middle, fourth, last, after = taus(Cosine(2.0, 1.0, steps=5), 6)
    assert (first, middle, last, after) == pytest.approx((2.0, 1.5, 1.0, 1.0))
    assert first - second == pytest.approx(fourth - last)
    assert first - second < second - middle


@pytest.mark.parametrize("kind", TEMPERATURES)
def test_a_loaded_state_goes_on_where_it_stopped(kind):
    make = {"constant": lambda: Constant(0.3), "cage": CAGE}.get(kind, lambda: TEMPERATURES[kind](2.0, 0.5, 10))
    first, second = make(), make()
    taus(first, 4)
    second.load_state_dict(first.state_dict())
    assert taus(first, 5) == taus(second, 5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_casting_a_temperature_leaves_it_in_float32_and_exactly_as_it_was(dtype):
    cage = CAGE()
    taus(cage, 3)
    cast = copy.deepcopy(cage).to(dtype)
    assert cast.tau.dtype == cast.confidence.dtype == torch.float32
    assert taus(cast, 3) == taus(cage, 3)


def test_a_temperature_moves_to_another_device_and_comes_back_empty_from_meta():
    schedule = Linear(2.0, 1.0, 4).half().to("meta")
    assert {buffer.device.type for buffer in schedule.buffers()} == {"meta"}
    schedule = schedule.to_empty(device="cpu")
    schedule.load_state_dict(Linear(2.0, 1.0, 4).state_dict())
    assert schedule.tau.item() == 2.0


def test_a_temperature_in_shared_memory_is_shared():
    cage = CAGE().share_memory()
    assert cage.tau.is_shared()
    assert cage.confidence.is_shared()


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Constant(0), "not a positive number"),
        (lambda: Constant(-1.0), "not a positive number"),
        (lambda: Constant(float("nan")), "not a positive number"),
        (lambda: CAGE(tau_max=0.1), "tau_max down to tau_min"),
        (lambda: CAGE(beta=1.0), "beta"),
        (lambda: CAGE(beta=-0.1), "beta"),
        (lambda: CAGE(choices=1), "at least 2"),
        (lambda: Linear(1.0, 0.0, 5), "not a positive number"),
        (lambda: Cosine(1.0, 0.5, 0), "steps 0 is not a whole number"),
        (lambda: Linear(1.0, 0.5, float("nan")), "steps nan is not a whole number"),
        (lambda: CAGE(beta="0.9"), "beta"),
        (lambda: CAGE(choices=2.7), "choices 2.7 is not a whole number"),
    ],
)
def test_bad_settings_are_refused(make, rule):
    with pytest.raises(HardwireError, match=rule):
        make()


def test_a_temperature_from_outside_travels_in_model_files(tmp_path):
    class Halving(Temperature):
        arguments = ("tau", "every")

        def __init__(self, tau, every):
            super().__init__(tau)
            self.every = every

        def advance(self, confidence=None):
            self.tau.mul_(0.5 ** (1 / self.every))

    register_temperature("test-halving", Halving)
    try:
        net = hw.LogicNetwork(6, 2, widths=[8], method="soft-mix", tau=Halving(2.0, 4), seed=0)
        net(torch.rand(3, 6))
        hw.save(net, tmp_path / "net")
        loaded = hw.load(tmp_path / "net")
        assert isinstance(loaded.selector.temperature, Halving) and loaded.tau == net.tau < 2.0
    finally:
        del TEMPERATURES["test-halving"]


def test_a_hostile_argument_in_a_file_is_cut_off_in_its_message():
    with pytest.raises(HardwireError, match=r"takes the numbers start, end, steps, not .{40,90}\.\.\.$"):
        from_config({"name": "linear", "start": 2.0, "end": 1.0, "steps": "x" * 3000})
