"""The two-input view of look-up tables: the same function as gates of two inputs, proven equal as it is made.

A table is split at one input x: low where x is 0, high where x is 1. Then it is low XOR (x AND (low XOR high)), or the
same with the roles exchanged, or a multiplexer, whichever takes the fewest gates by an estimate that knows the best for
up to four inputs. Inverters cost nothing, since any gate takes them in. Surprising: a random table of six inputs takes
only 24 gates, and one of four inputs 6.
"""

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.table_netlist import GATE_OF_TABLE, AnyNetlist
from hardwire.circuit.table_rows import Known, KnownNodes, absorb, minimal
from hardwire.errors import HardwireError
from hardwire.gates import GATES, algebra

KNOWN_COSTS = 4  # inputs up to which the cost of every function is tabulated
_MUX, _LOW, _HIGH = range(3)  # how a table is split
_ZERO = Known(None)
_Tables = npt.NDArray[np.uint64]
_Costs = npt.NDArray[np.int64]


def two_input_view(netlist: AnyNetlist) -> Netlist:
    """The same function made of two-input gates; equal parts of tables that read the same nodes are shared.

    Raises:
        HardwireError: If a table and its gates differ on some address, which is a bug.
    """
    if isinstance(netlist, Netlist):
        return netlist
    view = _View(netlist.inputs)
    known = KnownNodes(netlist.inputs)
    for table, reads in netlist.rows():
        row = minimal(*absorb(table, [known[read] for read in reads]))
        known.append(view.function(*row))
        view.check(known.last, *row)
    return view.netlist([view.plain(known[output]) for output in netlist.outputs.tolist()])


class _View(Builder):
    """Gates made so far, by the function that they compute of the same nodes."""

    def __init__(self, inputs: int):
        super().__init__(inputs)
        self._functions: dict[tuple[int, tuple[int, ...]], Known] = {}
        self._gates: dict[tuple[int, int, int], int] = {}

    def function(self, table: int, nodes: tuple[int, ...]) -> Known:
        """Makes a function of different nodes; it may depend on fewer of them."""
        if table & 1:
            return _opposite(self.function(truth.negate(table, len(nodes)), nodes))
        key = (table, nodes)
        if key not in self._functions:
            self._functions[key] = self._made(*minimal(table, nodes))
        return self._functions[key]

    def _made(self, table: int, nodes: tuple[int, ...]) -> Known:
        if len(nodes) < 2:
            return Known(nodes[0]) if nodes else _ZERO
        if len(nodes) == 2:
            return self.two(GATE_OF_TABLE[table], Known(nodes[0]), Known(nodes[1]))
        j, form = best_split(table, len(nodes))
        x, rest = Known(nodes[j]), nodes[:j] + nodes[j + 1 :]
        low, high = truth.split(table, len(nodes), j)
        if form == _LOW:
            return self.two(algebra.XOR, self.function(low, rest), self._both(x, low ^ high, rest))
        if form == _HIGH:
            return self.two(algebra.XOR, self.function(high, rest), self._both(_opposite(x), low ^ high, rest))
        return self.two(algebra.OR, self._both(x, high, rest), self._both(_opposite(x), low, rest))

    def _both(self, x: Known, table: int, nodes: tuple[int, ...]) -> Known:
        return self.two(algebra.AND, x, self.function(table, nodes))

    def two(self, gate: int, a: Known, b: Known) -> Known:
        """Makes a gate of two values; constants and inverters are folded into it, and its opposite counts as made."""
        gate = algebra.with_negations(gate, a.negated, b.negated)
        if a.node is None or b.node is None or a.node == b.node:
            gate = algebra.FIRST_IS[0][gate] if a.node is None else gate
            gate = algebra.SECOND_IS[0][gate] if b.node is None else gate
            gate = algebra.SAME[gate] if a.node == b.node else gate
        if gate in algebra.CONSTANTS:
            return Known(None, gate == algebra.TRUE)
        if gate in algebra.WIRES:
            return Known(
                a.node if gate in (algebra.A, algebra.NOT_A) else b.node, gate in (algebra.NOT_A, algebra.NOT_B)
            )
        assert a.node is not None and b.node is not None
        first, second = a.node, b.node
        if first > second:
            gate, first, second = algebra.SWAPPED[gate], second, first
        negated = gate > algebra.NEGATED[gate]
        key = (algebra.NEGATED[gate] if negated else gate, first, second)
        if key not in self._gates:
            self._gates[key] = self.gate(*key)
        return Known(self._gates[key], negated)

    def plain(self, known: Known) -> int:
        """Returns a node that has the value of an output."""
        if known.node is None:
            return self.constant(known.negated)
        if not known.negated:
            return known.node
        key = (algebra.NOT_A, known.node, known.node)
        if key not in self._gates:
            self._gates[key] = self.gate(*key)
        return self._gates[key]

    def check(self, known: Known, table: int, nodes: tuple[int, ...]) -> None:
        """Proves that what was made for a table equals it at every address of the nodes that it reads."""
        inputs = len(nodes)
        value = {node: truth.variable(inputs, j) for j, node in enumerate(nodes)}
        made = 0 if known.node is None else self._table(known.node, value, inputs)
        wrong = made ^ (truth.full(inputs) * known.negated) ^ table
        if wrong and wrong & self._possible(nodes, value):
            raise HardwireError(f"the gates of a table of {inputs} inputs differ from it, which is a bug in hardwire")

    def _table(self, node: int, value: dict[int, int], inputs: int) -> int:
        """The truth table of a node over those in `value`; KeyError if it depends on other inputs of the netlist."""
        if node not in value:
            index = node - self.inputs
            if index < 0:
                raise KeyError(node)
            first, second = (self._table(read, value, inputs) for read in (self.first[index], self.second[index]))
            value[node] = _combine(self.gates[index], first, second, inputs)
        return value[node]

    def _possible(self, nodes: tuple[int, ...], value: dict[int, int]) -> int:
        """The addresses that can occur: a node that is read may be a gate of others that are read, and stand for it."""
        possible = truth.full(len(nodes))
        for node in nodes:
            rest = {read: value[read] for read in nodes if read != node}
            try:
                possible &= ~(value[node] ^ self._table(node, rest, len(nodes)))
            except KeyError:  # it depends on more than the others
                continue
        return possible


def _opposite(known: Known) -> Known:
    return Known(known.node, not known.negated)


def _combine(gate: int, a: int, b: int, inputs: int) -> int:
    """The truth table of a gate of two truth tables."""
    ones = truth.full(inputs)
    terms = ((a if i else ~a) & (b if j else ~b) for i, j in algebra.PAIRS if GATES[gate].hard(i, j))
    result = 0
    for term in terms:
        result |= term & ones
    return result


@lru_cache(1 << 16)
def best_split(table: int, inputs: int) -> tuple[int, int]:
    """The input at which a table is split, and how, for the fewest gates."""
    halves = [truth.split(table, inputs, j) for j in range(inputs)]
    parts = [part for low, high in halves for part in (low, high, low ^ high)]
    if inputs - 1 <= KNOWN_COSTS:
        known = _costs(inputs - 1)
        costs = [int(known[part]) for part in parts]
    else:
        costs = _least(np.array(parts, np.uint64), inputs - 1).tolist()
    ones = truth.full(inputs - 1)
    gates = [cost + (part not in (0, ones)) for part, cost in zip(parts, costs, strict=True)]  # with one to join it
    choices = []
    for j in range(inputs):
        (of_low, of_high, of_both), (low, high, _) = gates[3 * j : 3 * j + 3], parts[3 * j : 3 * j + 3]
        forms = (of_low + of_high + (low != 0 and high != 0), of_low + of_both, of_high + of_both)
        choices += [(cost, j, form) for form, cost in enumerate(forms)]
    return min(choices)[1:]


@cache
def _costs(inputs: int) -> _Costs:
    """Gates of every function of so many inputs."""
    tables = np.arange(1 << (1 << inputs), dtype=np.uint64)
    return np.zeros(len(tables), np.int64) if inputs < 2 else _least(tables, inputs)


def _least(tables: _Tables, inputs: int) -> _Costs:
    """Gates of functions of one input more than `_costs` knows, or of as many: the least of all splits."""
    known, ones = _costs(inputs - 1), truth.full(inputs - 1)
    best: _Costs = np.full(len(tables), 255, np.int64)
    for j in range(inputs):
        low, high = truth.split(tables, inputs, j)
        gates = [known[part] + ((part != 0) & (part != ones)) for part in (low, high, low ^ high)]
        choose = gates[0] + gates[1] + ((low != 0) & (high != 0))
        best = np.minimum.reduce([best, choose, gates[0] + gates[2], gates[1] + gates[2]])
    return best
