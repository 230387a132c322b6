import pytest
import torch
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

import hardwire as hw
from hardwire.errors import HardwireError
from hardwire.wiring import WIRINGS, candidate_wiring, random_wiring, register_wiring, structured_wiring


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


@property_test
@given(st.integers(2, 30), st.integers(1, 40), st.data(), st.integers(0, 999))
def test_candidates_are_different_for_each_wire_and_every_input_is_offered_equally_often(inputs, neurons, data, seed):
    candidates = data.draw(st.integers(2, inputs))
    offered = candidate_wiring(inputs, neurons, seed, candidates=candidates)
    assert offered.shape == (2, neurons, candidates) and offered.dtype == torch.int32
    assert all(len(set(wire)) == candidates for wire in offered.flatten(0, 1).tolist())
    counts = torch.bincount(offered.flatten(), minlength=inputs)
    assert counts.max() - counts.min() <= 1


def test_as_many_candidates_as_inputs_offer_all_of_them():
    offered = candidate_wiring(7, 5, seed=0, candidates=7)
    assert (offered.sort(-1).values == torch.arange(7)).all()


def test_a_wiring_from_outside_is_known_by_its_name():
    def chain(inputs, neurons, seed, groups, step=1):
        first = torch.arange(neurons) % inputs
        return torch.stack([first, (first + step) % inputs]).to(torch.int32)

    register_wiring("test-chain", chain)
    try:
        net = hw.LogicNetwork(8, 2, widths=[8, 4], wiring="test-chain", step=3, seed=0)
        assert net.layers[0].wiring[:, 0].tolist() == [0, 3]
        with pytest.raises(HardwireError, match="takes no stride"):
            hw.LogicNetwork(8, 2, widths=[4], wiring="test-chain", stride=3)
    finally:
        del WIRINGS["test-chain"]


@property_test
@given(st.integers(2, 30), st.integers(1, 4), st.integers(1, 60), st.integers(0, 5), st.integers(0, 99))
def test_structured_wiring_is_balanced_and_never_pairs_an_input_with_itself(values, levels, neurons, layer, seed):
    inputs = values * levels
    first, second = structured_wiring(inputs, neurons, seed, layer=layer, levels=levels)
    counts = torch.bincount(first, minlength=inputs)
    assert counts.max() - counts.min() <= 1
    assert (first != second).all()
    if layer == 0:
        assert (first // levels != second // levels).all(), "never two thresholds of one value"
    else:
        counts = torch.bincount(second, minlength=inputs)
        assert counts.max() - counts.min() <= 1


def test_the_first_structured_layer_looks_at_near_pixels_where_the_data_has_a_shape():
    first, second = structured_wiring(2 * 100 * 3, 500, seed=1, levels=3, shape=(2, 10, 10), radius=2)
    (y, x), (v, u) = (torch.stack([(side // 3 % 100) // 10, side // 3 % 10]) for side in (first, second))
    assert (y - v).abs().max() == (x - u).abs().max() == 2
    assert ((y != v) | (x != u)).all()
    assert (first // 300 != second // 300).any(), "channels mix"


def test_strides_of_structured_layers_put_the_inputs_of_two_gates_together_only_once():
    net = hw.LogicNetwork(64, 2, widths=[64, 64, 64], wiring="structured", seed=0)
    strides = [(layer.wiring[1] - layer.wiring[0]).remainder(64).unique().tolist() for layer in net.layers[1:]]
    assert strides == [[32], [16]]
    assert len(net.layers[0].wiring.unique()) == 64


@pytest.mark.parametrize(
    ("options", "rule"),
    [({"levels": 7}, "values of 7 levels"), ({"shape": (1, 3, 3)}, "does not hold"), ({"radius": 0}, "radius 0")],
)
def test_a_structure_that_does_not_fit_is_refused(options, rule):
    with pytest.raises(HardwireError, match=rule):
        structured_wiring(20, 10, seed=0, **options)
