"""Structural hashing: of gates that compute the same of the same two nodes, or its negation, one remains.

The others become wires or inverters of it, for the wire pass to absorb. Operands are put in order first, and a gate
stands for its negation too, so OR(a, b) and NOR(b, a) meet.
"""

from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


def merge_equal(netlist: Netlist) -> Netlist:
    original = list(range(netlist.nodes))  # the node that stands for this one, or for its negation
    negated = [0] * netlist.nodes
    seen: dict[tuple[int, int, int], tuple[int, bool]] = {}
    merged = Builder(netlist.inputs)
    for node, (gate, first, second) in enumerate(netlist.rows(), start=netlist.inputs):
        gate = algebra.with_negations(gate, negated[first], negated[second])
        first, second = original[first], original[second]
        if first > second:
            gate, first, second = algebra.SWAPPED[gate], second, first
        if gate in algebra.CONSTANTS:
            first = second = 0
        if gate not in algebra.WIRES:
            # a constant is no negation of the other: it would be folded back
            opposite = gate > algebra.NEGATED[gate] and gate not in algebra.CONSTANTS
            key = (algebra.NEGATED[gate] if opposite else gate, first, second)
            found, found_opposite = seen.setdefault(key, (node, opposite))
            if found != node:
                negated[node] = int(opposite != found_opposite)
                original[node] = found
                gate, first, second = (algebra.NOT_A if negated[node] else algebra.A), found, found
        merged.gate(gate, first, second)
    return merged.netlist(netlist.outputs.tolist())
