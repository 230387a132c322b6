"""Merges gates that are equal on every input that can occur: the bits of a thermometer code have few combinations.

Gates whose values agree on many random rows are assumed to be equal (or opposite, or constant) and merged. A solver
then compares the netlist before and after, behind logic that produces exactly the rows that can occur. A counterexample
separates some of the gates, and the merging is tried again. Surprising: the result is another function on rows that no
raw value produces, so it is right behind its encoder only.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hardwire.bits import pack, transpose
from hardwire.circuit import truth
from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.equivalence import Equivalence, netlists_equal
from hardwire.circuit.evaluate import word_gate
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.table_netlist import AnyNetlist, TableBuilder, TableNetlist
from hardwire.circuit.table_rows import Known
from hardwire.circuit.two_input import two_input_view
from hardwire.gates import algebra

ROWS = 1 << 14
ROUNDS = 24  # counterexamples before giving up
NEAR = 64  # rows near a counterexample that are simulated as well
Rows = npt.NDArray[np.uint8]


def sweep(circuit: Circuit, seed: int = 0) -> tuple[AnyNetlist, Equivalence | None]:
    """Returns the netlist with equal gates merged, and the proof that it is equal on all inputs that can occur.

    If the solver finds too many counterexamples, the netlist is unchanged and there is no proof.
    """
    generator = np.random.default_rng(seed)
    orders = thermometer_orders(circuit)
    rows = random_rows(generator, orders, circuit.inputs)
    before = restrict_to_code(circuit.gates, orders)
    for _ in range(ROUNDS):
        merged = _merge(circuit.netlist, node_values(circuit.netlist, rows))
        proof = netlists_equal(before, restrict_to_code(two_input_view(merged), orders))
        if proof.counterexample is None:
            return (merged, proof) if proof.exact else (circuit.netlist, None)
        rows = np.concatenate([rows, _near(generator, _coded(orders, proof.counterexample[None]), orders)])
    return circuit.netlist, None


def thermometer_orders(circuit: Circuit) -> list[list[int]]:
    """Lists the input bits of each raw value, each true only if those before it are; single bits without encoder."""
    if circuit.encoder is None:
        return [[i] for i in range(circuit.inputs)]
    order = np.argsort(circuit.encoder.thresholds, axis=1, kind="stable")
    result: list[list[int]] = (order + np.arange(len(order))[:, None] * order.shape[1]).tolist()
    return result


def restrict_to_code(netlist: Netlist, orders: list[list[int]]) -> Netlist:
    """Puts logic in front of the netlist that maps all input assignments onto exactly the rows that can occur."""
    builder = Builder(netlist.inputs)
    bits = list(range(netlist.inputs))
    for order in orders:
        for lower, higher in zip(reversed(order[:-1]), reversed(order[1:]), strict=True):
            bits[lower] = builder.gate(algebra.OR, lower, bits[higher])
    return builder.netlist(builder.embed(netlist, bits))


def random_rows(generator: np.random.Generator, orders: list[list[int]], inputs: int) -> Rows:
    """Makes rows uint8 [ROWS, inputs] that can occur, from mostly low values to mostly high ones."""
    rows = np.zeros((ROWS, inputs), np.uint8)
    lean = generator.uniform(0.1, 0.9, (ROWS, 1))
    for order in orders:
        height = generator.binomial(1, lean) * generator.integers(0, len(order) + 1, (ROWS, 1))
        rows[:, order] = np.arange(len(order)) < height
    return rows


def _coded(orders: list[list[int]], free: Rows) -> Rows:
    """Computes the rows that the logic of `restrict_to_code` makes of free inputs."""
    rows = free.copy()
    for order in orders:
        rows[:, order] = np.maximum.accumulate(free[:, order][:, ::-1], axis=1)[:, ::-1]
    return rows


def _near(generator: np.random.Generator, row: Rows, orders: list[list[int]]) -> Rows:
    rows = np.repeat(row, NEAR, axis=0)
    for near in rows[1:]:
        for place in generator.integers(0, len(orders), 1 + len(orders) // 50):
            order = orders[place]
            near[order] = np.arange(len(order)) < generator.integers(0, len(order) + 1)
    return rows


def node_values(netlist: AnyNetlist, rows: Rows) -> npt.NDArray[np.uint64]:
    """Returns every node's value in every row, packed: uint64 [nodes, words]."""
    rows = np.concatenate([rows, np.repeat(rows[:1], -len(rows) % 64, axis=0)])
    values = np.empty((netlist.nodes, len(rows) // 64), np.uint64)
    values[: netlist.inputs] = transpose(pack(rows), netlist.inputs)
    if isinstance(netlist, TableNetlist):
        for node, (table, reads) in enumerate(netlist.rows(), start=netlist.inputs):
            values[node] = word_table(table, values[list(reads)])
        return values
    for node, (gate, first, second) in enumerate(netlist.rows(), start=netlist.inputs):
        values[node] = word_gate(gate, values[first], values[second])
    return values


def word_table(table: int, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Computes one table of the words [inputs, n] that it reads, as a tree of multiplexers."""
    inputs = len(words)
    if not inputs:
        return np.full(words.shape[1:], -table & 0xFFFFFFFFFFFFFFFF, np.uint64)
    low, high = (word_table(half, words[:-1]) for half in truth.split(table, inputs, inputs - 1))
    chosen: npt.NDArray[np.uint64] = low ^ (words[-1] & (low ^ high))
    return chosen


def _merge(netlist: AnyNetlist, values: npt.NDArray[np.uint64]) -> AnyNetlist:
    """Replaces nodes whose values are constant, or equal or opposite to those of an earlier node."""
    return replaced(netlist, _same_nodes(netlist, values))


def replaced(netlist: AnyNetlist, becomes: Mapping[int, Known]) -> AnyNetlist:
    """Returns the netlist with some gates or tables as constants, wires or inverters."""
    if isinstance(netlist, TableNetlist):
        builder = TableBuilder(netlist.inputs)
        for node, row in enumerate(netlist.rows(), start=netlist.inputs):
            builder.table(*(becomes[node].row() if node in becomes else row))
        return builder.netlist(netlist.outputs)
    gate, first, second = netlist.gate.copy(), netlist.first.copy(), netlist.second.copy()
    for node, known in becomes.items():
        index = node - netlist.inputs
        if known.node is None:
            gate[index] = algebra.TRUE if known.negated else algebra.FALSE
        else:
            gate[index] = algebra.NOT_A if known.negated else algebra.A
            first[index] = second[index] = known.node
    return replace(netlist, gate=gate, first=first, second=second)


def _same_nodes(netlist: AnyNetlist, values: npt.NDArray[np.uint64]) -> dict[int, Known]:
    """Finds the gates or tables whose values are constant, or equal or opposite to those of an earlier node."""
    same: dict[int, Known] = {}
    flipped = np.where((values[:, :1] & 1).astype(bool), ~values, values)  # so that the first row is 0 everywhere
    first: dict[bytes, int] = {}
    for node in range(netlist.nodes):
        key, bit = flipped[node].tobytes(), int(values[node, 0] & 1)
        if node < netlist.inputs:
            first.setdefault(key, node)
        elif not flipped[node].any():
            same[node] = Known(None, bool(bit))
        elif key in first:
            same[node] = Known(first[key], bool(bit ^ int(values[first[key], 0] & 1)))
        else:
            first[key] = node
    return same
