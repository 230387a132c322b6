"""Constant folding: a gate with a known or repeated operand becomes a constant, a wire or an inverter."""

from dataclasses import replace

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Netlist

UNKNOWN = 2
FIRST_KNOWN = (algebra.FIRST_IS_FALSE, algebra.FIRST_IS_TRUE)
SECOND_KNOWN = (algebra.SECOND_IS_FALSE, algebra.SECOND_IS_TRUE)


def fold_constants(netlist: Netlist) -> Netlist:
    value = [UNKNOWN] * netlist.inputs
    folded = []
    for gate, first, second in zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True):
        if value[first] != UNKNOWN:
            gate = FIRST_KNOWN[value[first]][gate]
        if value[second] != UNKNOWN:
            gate = SECOND_KNOWN[value[second]][gate]
        if first == second:
            gate = algebra.SAME[gate]
        folded.append(gate)
        value.append(0 if gate == algebra.FALSE else 1 if gate == algebra.TRUE else UNKNOWN)
    return replace(netlist, gate=folded)
