"""`TableNetlist`: look-up tables of up to six inputs in topological order, as an FPGA has them.

Nodes 0 to inputs - 1 are the input bits, and node inputs + i is table i. On an FPGA a table costs one cell whatever it
computes, so it must get there as a table; everything that works on two-input gates gets the view of `two_input`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hardwire.circuit import truth
from hardwire.circuit.netlist import Integers, Netlist, checked_vector, nodes_read
from hardwire.circuit.table_rows import Row
from hardwire.errors import HardwireError
from hardwire.gates import GATES

MOST_INPUTS = truth.MOST_INPUTS
TABLE_OF_GATE = [sum(gate.hard(a & 1, a >> 1) << a for a in range(4)) for gate in GATES]
GATE_OF_TABLE = [TABLE_OF_GATE.index(table) for table in range(16)]


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
        >>> from hardwire.circuit import TableNetlist
        >>> majority = TableNetlist(3, [0b11101000], [3], [[0, 1, 2, 0, 0, 0]], [3])
        >>> majority.depth
        1
    """

    inputs: int
    table: Integers
    arity: Integers
    wires: npt.NDArray[np.int32]
    outputs: Integers

    made_of: ClassVar[str] = "tables"

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise HardwireError(f"a netlist has at least 1 input, not {self.inputs}")
        if not isinstance(self.table, np.ndarray):  # numpy makes floats of a list in which some need 64 bits
            try:
                object.__setattr__(self, "table", np.array(self.table, np.uint64))
            except (OverflowError, TypeError, ValueError):
                raise HardwireError("a table is a whole number of up to 64 bits") from None
        for name, dtype in (("table", np.uint64), ("arity", np.uint8), ("outputs", np.int32)):
            object.__setattr__(self, name, checked_vector(name, getattr(self, name), dtype))
        if len(self.table) != len(self.arity):
            raise HardwireError(f"table and arity must be equally long, not {len(self.table)} and {len(self.arity)}")
        wires = checked_vector("wires", np.asarray(self.wires).reshape(-1), np.int32)
        if len(wires) != MOST_INPUTS * len(self.table):
            raise HardwireError(
                f"wires are [tables, {MOST_INPUTS}], not {len(wires)} numbers for {len(self.table)} tables"
            )
        object.__setattr__(self, "wires", wires.reshape(-1, MOST_INPUTS))
        self._check()

    @classmethod
    def from_layers(
        cls,
        inputs: int,
        tables: Sequence[npt.ArrayLike],
        wirings: Sequence[npt.ArrayLike],
        reads: Sequence[Sequence[tuple[int, int, int]] | None] | None = None,
    ) -> "TableNetlist":
        """Builds a netlist from layers of plain arrays.

        Args:
            inputs: Number of input bits.
            tables: For each layer uint64 [neurons]; bit `address` is the output where input j is bit j of the address.
            wirings: For each layer integers [n, neurons], n at most 6: indices into the previous layer, or into the
                inputs for the first one.
            reads: As for `Netlist.from_layers`.

        Returns:
            The netlist; the neurons of the last layer are its outputs.
        """
        if not len(tables) == len(wirings) >= 1:
            raise HardwireError(f"give as many wirings as layers, at least one, not {len(wirings)} for {len(tables)}")
        entries = [checked_vector("table", given, np.uint64) for given in tables]
        starts = [0, *np.cumsum([inputs, *map(len, entries)]).tolist()]
        width, arities, wires = inputs, [], []
        for layer, (table, wiring) in enumerate(zip(entries, map(np.asarray, wirings), strict=True)):
            there = nodes_read(starts, layer, width, None if reads is None else reads[layer])
            if wiring.ndim != 2 or wiring.shape[1] != len(table) or len(wiring) > MOST_INPUTS:
                raise HardwireError(
                    f"layer {layer} has {len(table)} tables, so its wiring is [n, {len(table)}] with n up to "
                    f"{MOST_INPUTS}, not {list(wiring.shape)}"
                )
            if wiring.size and (wiring.min() < 0 or wiring.max() >= len(there)):
                raise HardwireError(f"the wiring of layer {layer} must lie in 0 to {len(there) - 1}, a dangling wire")
            row = np.zeros((len(table), MOST_INPUTS), np.int64)
            row[:, : len(wiring)] = there[wiring.T]
            wires.append(row)
            arities.append(np.full(len(table), len(wiring)))
            width = len(table)
        outputs = np.arange(starts[-2], starts[-1])
        return cls(inputs, np.concatenate(entries), np.concatenate(arities), np.concatenate(wires), outputs)

    @classmethod
    def of_gates(cls, netlist: Netlist) -> "TableNetlist":
        """The same netlist with each gate as a table of two inputs."""
        wires = np.zeros((netlist.size, MOST_INPUTS), np.int32)
        wires[:, 0], wires[:, 1] = netlist.first, netlist.second
        tables = np.array(TABLE_OF_GATE, np.uint64)[netlist.gate]
        return cls(netlist.inputs, tables, np.full(netlist.size, 2), wires, netlist.outputs)

    def _check(self) -> None:
        if len(self.outputs) == 0:
            raise HardwireError("a netlist has at least 1 output")
        if (self.arity > MOST_INPUTS).any():
            raise HardwireError(f"a table has {self.arity.max()} inputs; the most are {MOST_INPUTS}")
        entries = np.array([truth.full(n) for n in range(MOST_INPUTS + 1)], np.uint64)[self.arity]
        if (self.table & ~entries).any():
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
    def size(self) -> int:
        """Number of tables."""
        return len(self.table)

    @property
    def nodes(self) -> int:
        """Number of inputs and tables."""
        return self.inputs + len(self.table)

    def rows(self) -> list[Row]:
        """Lists (table, the nodes it reads) of each table as plain integers."""
        wires, arity = self.wires.tolist(), self.arity.tolist()
        return [(t, tuple(w[:n])) for t, w, n in zip(self.table.tolist(), wires, arity, strict=True)]

    def reads(self) -> list[tuple[int, ...]]:
        """Lists the nodes that each table really depends on, up to six."""
        return [
            tuple(node for j, node in enumerate(nodes) if truth.depends(table, len(nodes), j))
            for table, nodes in self.rows()
        ]

    @cached_property
    def levels(self) -> npt.NDArray[np.int32]:
        """int32 [nodes]: 0 for inputs and constants; a table is one above the highest node it reads."""
        level = [0] * self.inputs
        for reads in self.reads():
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
        self.rows: list[Row] = []

    def table(self, table: int, reads: tuple[int, ...]) -> int:
        """Adds a table and returns its node."""
        self.rows.append((table, reads))
        return self.inputs + len(self.rows) - 1

    def embed(self, netlist: "AnyNetlist", inputs: Sequence[int]) -> list[int]:
        """Copies `netlist`, reading the nodes `inputs`, and returns the nodes of its outputs."""
        tables = netlist if isinstance(netlist, TableNetlist) else TableNetlist.of_gates(netlist)
        place = [*inputs, *range(self.inputs + len(self.rows), self.inputs + len(self.rows) + tables.size)]
        self.rows += [(table, tuple(place[read] for read in reads)) for table, reads in tables.rows()]
        return [place[node] for node in tables.outputs.tolist()]

    def netlist(self, outputs: npt.ArrayLike) -> TableNetlist:
        """Returns the netlist made so far with these outputs."""
        wires = np.zeros((len(self.rows), MOST_INPUTS), np.int32)
        for row, (_, reads) in zip(wires, self.rows, strict=True):
            row[: len(reads)] = reads
        arity = np.array([len(reads) for _, reads in self.rows], np.uint8)
        tables = np.array([table for table, _ in self.rows], np.uint64)
        return TableNetlist(self.inputs, tables, arity, wires, np.asarray(outputs))


AnyNetlist: TypeAlias = Netlist | TableNetlist
