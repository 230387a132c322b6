"""A netlist without wires, inverters and constants: what code for a single image is written from.

Every node becomes a literal: a node, or its complement. Surprising: it takes no inverter at all. A gate may be stored
as its complement, and then one AND, OR, XOR or AND-NOT of stored values computes any of the ten gates that read both
operands.
"""

from dataclasses import dataclass

from hardwire.circuit.netlist import Netlist
from hardwire.gates import GATES

CONSTANT = -1  # a node whose value is 0
Literal = tuple[int, bool]  # a node, and whether it is complemented


@dataclass(frozen=True)
class Literals:
    """A netlist in which only gates are left that need both operands.

    Attributes:
        inputs: Number of input bits.
        gates: By node: its two operands, and four bits of truth table: bit 2a + b for operands a and b.
        outputs: The outputs as literals.
    """

    inputs: int
    gates: dict[int, tuple[int, int, int]]
    outputs: list[Literal]

    def order(self) -> list[list[int]]:
        """For each output the gates of its cone that are in no cone before it, each after its operands."""
        done: set[int] = set()
        return [self._cone(node, done) for node, _ in self.outputs]

    def _cone(self, output: int, done: set[int]) -> list[int]:
        order, stack = [], [output]
        while stack:
            node = stack[-1]
            operands = self.gates[node][:2] if node in self.gates and node not in done else ()
            waiting = [operand for operand in operands if operand in self.gates and operand not in done]
            if waiting:
                stack += reversed(waiting)
                continue
            stack.pop()
            if operands:
                done.add(node)
                order.append(node)
        return order


def literals(netlist: Netlist) -> Literals:
    """Returns the netlist as literals."""
    literal: list[Literal] = [(node, False) for node in range(netlist.inputs)]
    gates: dict[int, tuple[int, int, int]] = {}
    for place, (gate, first, second) in enumerate(netlist.rows()):
        (a, not_a), (b, not_b) = literal[first], literal[second]
        table = GATES[gate].truth_table
        truth = [table[2 * (x ^ not_a) + (y ^ not_b)] for x in (0, 1) for y in (0, 1)]
        if b == CONSTANT:
            truth = [truth[0], truth[0], truth[2], truth[2]]
        if a == CONSTANT:
            truth = [truth[0], truth[1], truth[0], truth[1]]
        if a == b:
            truth = [truth[0], truth[0], truth[3], truth[3]]
        if truth[:2] != truth[2:] and truth[::2] != truth[1::2]:
            node = netlist.inputs + place
            gates[node] = a, b, sum(value << bit for bit, value in enumerate(truth))
            literal.append((node, False))
        elif truth[0] == truth[3] == truth[1]:
            literal.append((CONSTANT, bool(truth[0])))
        else:
            literal.append((b if truth[:2] == truth[2:] else a, bool(truth[0])))
    return Literals(netlist.inputs, gates, [literal[node] for node in netlist.outputs.tolist()])
