"""Absorbs wires and inverters: a gate that reads one reads its source instead, with a negated truth table if needed.

An output driven by an inverter keeps it, because an output is a node.
"""

from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


def absorb_wires(netlist: Netlist) -> Netlist:
    """Makes gates and outputs read through wires and inverters."""
    source = list(range(netlist.nodes))  # the node that a node is a copy of, or the negation of
    negated = [0] * netlist.nodes
    absorbed = Builder(netlist.inputs)
    for node, (gate, first, second) in enumerate(netlist.rows(), start=netlist.inputs):
        gate = algebra.with_negations(gate, negated[first], negated[second])
        first, second = source[first], source[second]
        if gate in (algebra.B, algebra.NOT_B):
            gate, first = algebra.SWAPPED[gate], second
        if gate in (algebra.A, algebra.NOT_A):
            source[node] = second = first
            negated[node] = int(gate == algebra.NOT_A)
        absorbed.gate(gate, first, second)
    return absorbed.netlist([node if negated[node] else source[node] for node in netlist.outputs.tolist()])
