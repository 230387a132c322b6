"""Wires and inverters absorbed: a gate behind one reads its source, negated in its truth table where needed.

An output behind an inverter keeps that inverter, because an output is a node.
"""

from dataclasses import replace

import numpy as np

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Netlist


def absorb_wires(netlist: Netlist) -> Netlist:
    source = list(range(netlist.inputs))  # the node that a node is a copy of, or the negation of
    negated = [0] * netlist.inputs
    gates, firsts, seconds = [], [], []
    rows = zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True)
    for node, (gate, first, second) in enumerate(rows, start=netlist.inputs):
        if negated[first]:
            gate = algebra.NEGATED_FIRST[gate]
        if negated[second]:
            gate = algebra.NEGATED_SECOND[gate]
        first, second = source[first], source[second]
        if gate in (algebra.B, algebra.NOT_B):
            gate, first = algebra.SWAPPED[gate], second
        if gate in (algebra.A, algebra.NOT_A):
            second = first
            source.append(first)
            negated.append(int(gate == algebra.NOT_A))
        else:
            source.append(node)
            negated.append(0)
        gates.append(gate)
        firsts.append(first)
        seconds.append(second)
    outputs = [node if negated[node] else source[node] for node in netlist.outputs.tolist()]
    return replace(netlist, gate=gates, first=np.array(firsts, int), second=np.array(seconds, int), outputs=outputs)
