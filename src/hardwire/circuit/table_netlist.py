"""`TableNetlist`: look-up tables of up to six inputs in topological order, as an FPGA has them.

Nodes 0 to inputs - 1 are the input bits, and node inputs + i is table i. On an FPGA a table costs one cell whatever it
computes, so it must get there as a table; everything that works on two-input gates gets `two_input_view`, which is
proven equal where a circuit is built.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError
from hardwire.gates import algebra

MOST_INPUTS = truth.MOST_INPUTS
_IMPLIES = algebra.gate_of(lambda a, b: a <= b)


@dataclass(frozen=True, eq=False)
class TableNetlist:
    """Look-up tables over `inputs` bits. The arrays are checked, and read-only afterwards.

    Args:
        inputs: Number of input bits.
        table: uint64 [tables]; bit `address` is the output where input j is bit j of the address.
        arity: uint8 [tables], how many inputs each table reads, 0 to 6.
        wires: int32 [tables, 6], the nodes it reads; those past its arity are 0.
        outputs: int32 [outputs], nodes.

    Raises:
        HardwireError: If the arrays do not fit each other, or a table reads a node that does not come before it.

    Example:
        >>> majority = TableNetlist(3, [0b11101000], [3], [[0, 1, 2, 0, 0, 0]], [3])
        >>> majority.depth
        1
    """

    inputs: int
    table: npt.NDArray[np.uint64]
    arity: npt.NDArray[np.uint8]
    wires: npt.NDArray[np.int32]
    outputs: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise HardwireError(f"a netlist has at least 1 input, not {self.inputs}")
        for name, dtype in (("table", np.uint64), ("arity", np.uint8), ("wires", np.int32), ("outputs", np.int32)):
            values = np.array(getattr(self, name), dtype)
            if name == "wires":
                values = values.reshape(-1, MOST_INPUTS)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        self._check()

    def _check(self) -> None:
        if not len(self.table) == len(self.arity) == len(self.wires):
            raise HardwireError(
                f"table, arity and wires must be equally long, not {len(self.table)}, {len(self.arity)} "
                f"and {len(self.wires)}"
            )
        if len(self.outputs) == 0:
            raise HardwireError("a netlist has at least 1 output")
        if (self.arity > MOST_INPUTS).any():
            raise HardwireError(f"a table has {self.arity.max()} inputs; the most are {MOST_INPUTS}")
        too_wide = [bool(int(t) >> (1 << int(n))) for t, n in zip(self.table, self.arity, strict=True) if n < 6]
        if any(too_wide):
            raise HardwireError("a table has more entries than its inputs can address")
        own = np.arange(self.inputs, self.nodes)[:, None]
        read = np.where(np.arange(MOST_INPUTS) < self.arity[:, None], self.wires, 0)
        wrong = (read < 0) | (read >= own)
        if wrong.any():
            bad = int(np.argmax(wrong.any(1)))
            raise HardwireError(f"table {bad} reads a node that does not come before it: a cycle or a dangling wire")
        if (self.outputs < 0).any() or (self.outputs >= self.nodes).any():
            raise HardwireError(f"an output is a dangling wire; this netlist has nodes 0 to {self.nodes - 1}")

    @property
    def nodes(self) -> int:
        """Number of inputs and tables."""
        return self.inputs + len(self.table)

    def rows(self) -> list[tuple[int, tuple[int, ...]]]:
        """Lists (table, the nodes it reads) of each table as plain integers."""
        wires, arity = self.wires.tolist(), self.arity.tolist()
        return [(t, tuple(w[:n])) for t, w, n in zip(self.table.tolist(), wires, arity, strict=True)]

    @cached_property
    def levels(self) -> npt.NDArray[np.int32]:
        """int32 [nodes]: 0 for inputs and constants; a table is one above the highest node it reads."""
        level = [0] * self.inputs
        for _, reads in self.rows():
            level.append(1 + max((level[node] for node in reads), default=-1))
        return np.array(level, np.int32)

    @property
    def depth(self) -> int:
        """Number of tables on the longest path to an output."""
        return int(self.levels[self.outputs].max())


class TableBuilder:
    """Makes a `TableNetlist` table by table; nodes are numbered as in the finished netlist."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.rows: list[tuple[int, tuple[int, ...]]] = []

    def table(self, table: int, reads: tuple[int, ...]) -> int:
        """Adds a table and returns its node."""
        self.rows.append((table, reads))
        return self.inputs + len(self.rows) - 1

    def netlist(self, outputs: npt.ArrayLike) -> TableNetlist:
        """Returns the netlist made so far with these outputs."""
        wires = np.zeros((len(self.rows), MOST_INPUTS), np.int32)
        for row, (_, reads) in zip(wires, self.rows, strict=True):
            row[: len(reads)] = reads
        arity = np.array([len(reads) for _, reads in self.rows], np.uint8)
        tables = np.array([table for table, _ in self.rows], np.uint64)
        return TableNetlist(self.inputs, tables, arity, wires, np.asarray(outputs))


def two_input_view(netlist: TableNetlist) -> Netlist:
    """The same function made of two-input gates; equal parts of tables that read the same nodes are shared."""
    builder = _Decomposer(netlist.inputs)
    node = list(range(netlist.inputs))
    for table, reads in netlist.rows():
        node.append(builder.function(table, tuple(node[read] for read in reads)))
    return builder.netlist([node[output] for output in netlist.outputs.tolist()])


class _Decomposer(Builder):
    """Splits a table at its last input: (input AND high half) OR (NOT input AND low half), and simpler where it can."""

    def __init__(self, inputs: int):
        super().__init__(inputs)
        self._made: dict[tuple[Any, ...], int] = {}

    def function(self, table: int, reads: tuple[int, ...]) -> int:
        key = (table, reads)
        if key not in self._made:
            self._made[key] = self._function(table, reads)
        return self._made[key]

    def _function(self, table: int, reads: tuple[int, ...]) -> int:
        inputs = len(reads)
        for j in range(inputs):
            if not truth.depends(table, inputs, j):
                return self.function(truth.fix_input(table, inputs, j, 0), reads[:j] + reads[j + 1 :])
        if inputs == 0:
            return self._shared(algebra.TRUE if table else algebra.FALSE, 0, 0)
        if inputs == 1:
            return reads[0] if table == truth.variable(1, 0) else self._shared(algebra.NOT_A, reads[0], reads[0])
        if inputs == 2:
            return self._shared(algebra.gate_of(lambda a, b: table >> (a | b << 1) & 1), *reads)
        return self._split(table, reads)

    def _split(self, table: int, reads: tuple[int, ...]) -> int:
        inputs, last = len(reads), reads[-1]
        low, high = (truth.fix_input(table, inputs, inputs - 1, value) for value in (0, 1))
        rest, ones = reads[:-1], truth.full(inputs - 1)
        if low == ones & ~high:
            return self._shared(algebra.XOR, self.function(low, rest), last)
        if low == 0:
            return self._shared(algebra.AND, last, self.function(high, rest))
        if high == 0:
            return self._shared(algebra.LESS, last, self.function(low, rest))
        if high == ones:
            return self._shared(algebra.OR, last, self.function(low, rest))
        if low == ones:
            return self._shared(_IMPLIES, last, self.function(high, rest))
        yes = self._shared(algebra.AND, last, self.function(high, rest))
        no = self._shared(algebra.LESS, last, self.function(low, rest))
        return self._shared(algebra.OR, yes, no)

    def _shared(self, gate: int, a: int, b: int) -> int:
        key = ("gate", gate, a, b)
        if key not in self._made:
            self._made[key] = self.gate(gate, a, b)
        return self._made[key]
