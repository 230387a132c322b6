"""Netlists of look-up tables against plain loops: truth tables as numbers, simplification, the two-input view."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwire.circuit import truth
from hardwire.circuit.evaluate import Program
from hardwire.circuit.passes.tables import minimal, pack_tables, simplify_tables
from hardwire.circuit.table_netlist import TableBuilder, TableNetlist
from hardwire.circuit.two_input import two_input_view
from hardwire.errors import HardwireError

property_test = settings(deadline=None, max_examples=60, derandomize=True)


def loop_outputs(netlist, bits):
    """The outputs for one input, node by node."""
    value = list(bits)
    for table, reads in netlist.rows():
        value.append(table >> sum(value[read] << j for j, read in enumerate(reads)) & 1)
    return [value[output] for output in netlist.outputs.tolist()]


def every_input(inputs):
    return [[number >> j & 1 for j in range(inputs)] for number in range(1 << inputs)]


@st.composite
def netlists(draw):
    """Up to 5 inputs and 12 tables of 0 to 6 inputs, which may read a node twice."""
    inputs = draw(st.integers(1, 5))
    builder = TableBuilder(inputs)
    for _ in range(draw(st.integers(1, 12))):
        node = st.integers(0, inputs + len(builder.rows) - 1)
        reads = tuple(draw(st.lists(node, max_size=6)))
        builder.table(draw(st.integers(0, truth.full(len(reads)))), reads)
    return builder.netlist(draw(st.lists(st.integers(0, inputs + len(builder.rows) - 1), min_size=1, max_size=6)))


@property_test
@given(netlists())
def test_simplified_tables_compute_the_same_and_are_no_more(netlist):
    smaller = simplify_tables(netlist)
    for bits in every_input(netlist.inputs):
        assert loop_outputs(smaller, bits) == loop_outputs(netlist, bits)
    assert len(smaller.table) <= max(len(netlist.table), len(set(netlist.outputs.tolist())))
    for table, reads in smaller.rows():
        assert len(set(reads)) == len(reads)
        assert all(truth.depends(table, len(reads), j) for j in range(len(reads)))


@property_test
@given(netlists())
def test_the_two_input_view_computes_the_same(netlist):
    view = two_input_view(netlist)
    words = np.arange(1 << netlist.inputs, dtype=np.uint64)[:, None]
    scores = Program(view, classes=len(view.outputs)).answer(words, raw=False, threads=1, scores=True)
    expected = [loop_outputs(netlist, bits) for bits in every_input(netlist.inputs)]
    assert scores.tolist() == expected


@property_test
@given(st.integers(1, 6), st.integers(0, 2**64 - 1), st.randoms(use_true_random=False))
def test_operations_on_truth_tables_are_those_of_a_loop(inputs, number, random):
    table = number & truth.full(inputs)

    def value(table, bits):
        return table >> sum(bit << j for j, bit in enumerate(bits)) & 1

    j = random.randrange(inputs)
    order = tuple(random.sample(range(inputs), inputs))
    kept, dropped = sorted(random.sample(range(inputs), 2)) if inputs > 1 else (0, 0)
    changes = False
    for bits in every_input(inputs):
        flipped = [bit ^ (k == j) for k, bit in enumerate(bits)]
        changes |= value(table, bits) != value(table, flipped)
        assert value(truth.negate(table, inputs), bits) == 1 - value(table, bits)
        assert value(truth.negate_input(table, inputs, j), bits) == value(table, flipped)
        assert value(truth.permute(table, order), [bits[k] for k in order]) == value(table, bits)
        rest = bits[:j] + bits[j + 1 :]
        assert value(truth.fix_input(table, inputs, j, bits[j]), rest) == value(table, bits)
        if inputs > 1 and bits[kept] == bits[dropped]:
            merged = truth.merge_inputs(table, inputs, kept, dropped)
            assert value(merged, bits[:dropped] + bits[dropped + 1 :]) == value(table, bits)
    assert truth.depends(table, inputs, j) == changes


def test_a_table_is_packed_into_its_only_reader():
    builder = TableBuilder(4)
    inner = builder.table(0b1000, (0, 1))
    outer = builder.table(0b11101000, (inner, 2, 3))
    packed = simplify_tables(builder.netlist([outer]))
    assert packed.arity.tolist() == [4]
    shared = pack_tables(builder.netlist([inner, outer]))
    assert shared.arity.tolist() == [2, 3]


def test_inverters_between_tables_are_absorbed():
    builder = TableBuilder(6)
    first = builder.table(truth.variable(5, 4) ^ truth.variable(5, 2) | 1, (0, 1, 2, 3, 4))
    inverter = builder.table(0b01, (first,))
    second = builder.table(0b0110, (inverter, 5))
    third = builder.table(0b1000, (inverter, 5))
    simplified = simplify_tables(builder.netlist([second, third]))
    assert len(simplified.table) <= 3


def test_minimal_sorts_inputs_and_drops_those_that_do_not_matter():
    assert minimal(0b1100, (7, 3)) == (0b10, (3,))
    assert minimal(0b1000, (7, 7)) == (0b10, (7,))
    assert minimal(0b0100, (7, 3)) == (0b0010, (3, 7))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, [1], [7], [[0] * 6], [2]), "has 7 inputs; the most are 6"),
        ((2, [16], [2], [[0, 1, 0, 0, 0, 0]], [2]), "more entries than its inputs can address"),
        ((2, [8], [2], [[0, 2, 0, 0, 0, 0]], [2]), "does not come before it"),
        ((2, [8], [2], [[0, 1, 0, 0, 0, 0]], [3]), "dangling wire"),
        ((2, [8, 8], [2], [[0, 1, 0, 0, 0, 0]], [2]), "equally long"),
        ((0, [8], [2], [[0, 1, 0, 0, 0, 0]], [2]), "at least 1 input"),
    ],
)
def test_a_bad_netlist_of_tables_is_refused_in_one_line(arguments, message):
    with pytest.raises(HardwireError, match=message):
        TableNetlist(*arguments)
