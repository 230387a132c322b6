import pytest
import torch
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

from hardwire.errors import HardwireError
from hardwire.wiring import random_wiring


@property_test
@given(st.integers(2, 40), st.integers(1, 100), st.integers(0, 999))
def test_every_input_is_used_equally_often_and_never_twice_by_one_neuron(inputs, neurons, seed):
    wiring = random_wiring(inputs, neurons, seed)
    assert wiring.shape == (2, neurons)
    assert wiring.dtype == torch.int32
    counts = torch.bincount(wiring.flatten(), minlength=inputs)
    assert len(counts) == inputs
    assert counts.max() - counts.min() <= 1
    assert (wiring[0] != wiring[1]).all()


@property_test
@given(st.integers(2, 3), st.integers(1, 30), st.integers(0, 999))
def test_two_or_three_inputs_are_kept_apart_where_half_the_pairs_would_clash(inputs, neurons, seed):
    first, second = random_wiring(inputs, neurons, seed)
    assert (first != second).all()


def test_a_single_input_feeds_both_sides():
    assert random_wiring(1, 3, seed=0).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_neurons_are_sorted_by_first_input_within_each_group_only(groups):
    wiring = random_wiring(30, 200, seed=1, groups=groups)
    for group in wiring[0].unflatten(0, (groups, -1)):
        assert (group.diff() >= 0).all()
        assert len(group.unique()) > 20, "a class would see a slice of the inputs"


def test_the_seed_decides():
    assert torch.equal(random_wiring(50, 70, seed=3), random_wiring(50, 70, seed=3))
    assert not torch.equal(random_wiring(50, 70, seed=3), random_wiring(50, 70, seed=4))


@pytest.mark.parametrize(("inputs", "neurons"), [(0, 3), (3, 0), (-1, 3)])
def test_a_layer_without_inputs_or_neurons_is_refused(inputs, neurons):
    with pytest.raises(HardwireError, match="at least 1 input and 1 neuron"):
        random_wiring(inputs, neurons, seed=0)


def test_many_inputs_take_memory_for_the_neurons_only():
    wiring = random_wiring(2**31 - 1, 40, seed=0)
    assert wiring.unique().numel() == 80


def test_a_layer_of_absurd_size_is_refused_at_once():
    with pytest.raises(HardwireError, match="at most 2147483647"):
        random_wiring(10, 2**62, seed=0)


@pytest.mark.parametrize("groups", [0, 3, 11])
def test_unequal_groups_are_refused(groups):
    with pytest.raises(HardwireError, match="equal groups"):
        random_wiring(4, 10, seed=0, groups=groups)
