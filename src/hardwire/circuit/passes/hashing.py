"""Structural hashing: of gates that compute the same function of the same two nodes, or its negation, one remains.

The others become wires or inverters of it, which the wire pass then absorbs. Operands are sorted first and negations
share a key, so OR(a, b) and NOR(b, a) are merged.
"""

from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


def merge_equal(netlist: Netlist) -> Netlist:
    """Merges gates that are equal, or each other's negation."""
    original = list(range(netlist.nodes))  # the node that represents this one or its negation
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
            # constants are not merged as negations: they would be folded back
            opposite = gate > algebra.NEGATED[gate] and gate not in algebra.CONSTANTS
            key = (algebra.NEGATED[gate] if opposite else gate, first, second)
            representative, its_opposite = seen.setdefault(key, (node, opposite))
            if representative != node:
                negated[node] = int(opposite != its_opposite)
                original[node] = representative
                gate, first, second = (algebra.NOT_A if negated[node] else algebra.A), representative, representative
        merged.gate(gate, first, second)
    return merged.netlist(netlist.outputs.tolist())
