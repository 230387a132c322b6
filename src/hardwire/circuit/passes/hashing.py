"""Structural hashing: of gates that compute the same of the same two nodes, or its negation, one remains.

The others become wires or inverters of it, for the wire pass to absorb. Operands are put in order first, and a gate
stands for its negation too, so OR(a, b) and NOR(b, a) meet.
"""

from dataclasses import replace

import numpy as np

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Netlist


def merge_equal(netlist: Netlist) -> Netlist:
    original = list(range(netlist.nodes))  # the node that stands for this one, or for its negation
    negated = [0] * netlist.nodes
    seen: dict[tuple[int, int, int], tuple[int, int]] = {}
    gates, firsts, seconds = [], [], []
    rows = zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True)
    for node, (gate, first, second) in enumerate(rows, start=netlist.inputs):
        if negated[first]:
            gate = algebra.NEGATED_FIRST[gate]
        if negated[second]:
            gate = algebra.NEGATED_SECOND[gate]
        first, second = original[first], original[second]
        if first > second:
            gate, first, second = algebra.SWAPPED[gate], second, first
        if gate in algebra.CONSTANTS:
            first = second = 0
        if gate not in algebra.WIRES:
            opposite = 7 < gate < algebra.TRUE  # a constant is no negation of the other: it would be folded back
            found, found_opposite = seen.setdefault((15 - gate if opposite else gate, first, second), (node, opposite))
            if found != node:
                negated[node] = int(opposite != found_opposite)
                original[node] = found
                gate, first, second = (algebra.NOT_A if negated[node] else algebra.A), found, found
        gates.append(gate)
        firsts.append(first)
        seconds.append(second)
    return replace(netlist, gate=gates, first=np.array(firsts, int), second=np.array(seconds, int))
