"""Several circuits as one, whose class sums are those of all of them: the vote of an ensemble.

Surprising: nothing is added for the vote. A class sum counts true outputs, so the outputs of all circuits are put side
by side, class by class, and counted as ever.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hardwire.bits import Encoder
from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.number import Number
from hardwire.circuit.table_netlist import TableBuilder, TableNetlist
from hardwire.errors import HardwireError


def ensemble(circuits: Sequence[Circuit]) -> Circuit:
    """Returns the circuit that adds up the class sums of circuits which read the same bits; of numbers the mean.

    Args:
        circuits: Circuits with the same encoder, the same classes and as many outputs of each. Numbers are averaged in
            fixed point, so of them there must be 1, 2, 4, ...

    Example:
        >>> import hardwire as hw
        >>> from hardwire.circuit.ensemble import ensemble
        >>> nets = [hw.LogicNetwork(inputs=64, classes=10, width=200, depth=2, seed=seed) for seed in range(3)]
        >>> ensemble([hw.Circuit.from_network(net) for net in nets])
        Circuit(inputs=64, gates=1200, classes=10)
    """
    first = circuits[0]
    for circuit in circuits:
        if (circuit.inputs, circuit.classes, circuit.group) != (first.inputs, first.classes, first.group):
            raise HardwireError("these circuits have other inputs, classes or outputs; all must be of one shape")
        if not _same(circuit.encoder, first.encoder) or circuit.number != first.number:
            raise HardwireError("these circuits have other thresholds or predict other numbers; train all on one table")
    tables = any(isinstance(circuit.netlist, TableNetlist) for circuit in circuits)
    builder: Any = TableBuilder(first.inputs) if tables else Builder(first.inputs)
    outputs = [builder.embed(circuit.netlist, range(first.inputs)) for circuit in circuits]
    by_class = np.array(outputs).reshape(len(circuits), first.classes, first.group).transpose(1, 0, 2)
    return replace(first, netlist=builder.netlist(by_class.ravel().tolist()), number=_mean(first.number, len(circuits)))


def _same(a: Encoder | None, b: Encoder | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.kind, a.categories) == (b.kind, b.categories) and np.array_equal(a.thresholds, b.thresholds)


def _mean(number: Number | None, count: int) -> Number | None:
    """The mean of so many numbers, in steps that are finer by as much."""
    if number is None:
        return None
    if count & (count - 1):
        raise HardwireError(
            f"the mean of {count} numbers is not in fixed point; use {1 << count.bit_length() - 1} or "
            f"{1 << count.bit_length()} of them"
        )
    return Number(number.offset * count, number.exponent - count.bit_length() + 1)
