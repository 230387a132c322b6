"""Constant folding: a gate with a known or repeated operand becomes a constant, a wire or an inverter."""

from dataclasses import replace

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


def fold_constants(netlist: Netlist) -> Netlist:
    """Replaces gates with known operands."""
    value: list[int | None] = [None] * netlist.inputs  # 0 or 1 if known
    folded = []
    for gate, first, second in netlist.rows():
        a, b = value[first], value[second]
        if a is not None:
            gate = algebra.FIRST_IS[a][gate]
        if b is not None:
            gate = algebra.SECOND_IS[b][gate]
        if first == second:
            gate = algebra.SAME[gate]
        folded.append(gate)
        value.append(int(gate == algebra.TRUE) if gate in algebra.CONSTANTS else None)
    return replace(netlist, gate=np.array(folded, np.uint8))
