"""`Netlist`: gates in topological order.

Nodes 0 to inputs - 1 are the input bits, and node inputs + i is gate i. A gate reads two earlier nodes, so there are no
cycles. Surprising: simplification never changes the number of outputs (an output may become an input, a constant or a
node shared with others), so that two versions of a netlist can be compared output by output.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hardwire.errors import HardwireError
from hardwire.gates import GATES, algebra

Integers = npt.NDArray[np.integer[Any]]
_FIELDS = (("gate", np.uint8), ("first", np.int32), ("second", np.int32), ("outputs", np.int32))


@dataclass(frozen=True, eq=False)
class Netlist:
    """Two-input gates over `inputs` bits. The arrays are checked, and read-only afterwards.

    Args:
        inputs: Number of input bits.
        gate: uint8 [gates], positions in `hardwire.GATES`.
        first: int32 [gates], the node each gate reads as its first operand.
        second: int32 [gates], the node each gate reads as its second operand.
        outputs: int32 [outputs], nodes.

    Raises:
        HardwireError: If a gate number is unknown, or a gate or output refers to a node that does not exist or does
            not come before it.

    Example:
        >>> half_adder = Netlist(2, gate=[6, 1], first=[0, 0], second=[1, 1], outputs=[2, 3])
        >>> half_adder.depth
        1
    """

    inputs: int
    gate: Integers
    first: Integers
    second: Integers
    outputs: Integers

    made_of: ClassVar[str] = "gates"

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise HardwireError(f"a netlist has at least 1 input, not {self.inputs}")
        for name, dtype in _FIELDS:
            object.__setattr__(self, name, checked_vector(name, getattr(self, name), dtype))
        if not len(self.gate) == len(self.first) == len(self.second):
            raise HardwireError(
                f"gate, first and second must be equally long, not {len(self.gate)}, {len(self.first)} "
                f"and {len(self.second)}"
            )
        self._check_nodes()

    @classmethod
    def from_layers(
        cls,
        inputs: int,
        gates: Sequence[npt.ArrayLike],
        wirings: Sequence[npt.ArrayLike],
        reads: Sequence[Sequence[tuple[int, int, int]] | None] | None = None,
    ) -> "Netlist":
        """Builds a netlist from layers of plain arrays.

        Args:
            inputs: Number of input bits.
            gates: For each layer the gate numbers (0 to 15), uint8 [neurons].
            wirings: For each layer integers [2, neurons]: indices into what it reads.
            reads: For each layer what it reads, if that is not the layer before: parts (layer, start, stop), side by
                side; layer -1 is the inputs.

        Returns:
            The netlist; the neurons of the last layer are its outputs.
        """
        if not len(gates) == len(wirings) >= 1:
            raise HardwireError(f"give as many wirings as layers, at least one, not {len(wirings)} for {len(gates)}")
        numbers = [checked_vector("gate", gate, np.uint8) for gate in gates]
        starts = [0, *np.cumsum([inputs, *map(len, numbers)]).tolist()]
        width, nodes = inputs, []
        for layer, (gate, given) in enumerate(zip(numbers, wirings, strict=True)):
            wiring = np.asarray(given, np.int64)
            there = nodes_read(starts, layer, width, None if reads is None else reads[layer])
            if wiring.shape != (2, len(gate)):
                raise HardwireError(f"layer {layer} has {len(gate)} gates, so its wiring is [2, {len(gate)}]")
            if wiring.size and (wiring.min() < 0 or wiring.max() >= len(there)):
                raise HardwireError(f"the wiring of layer {layer} must lie in 0 to {len(there) - 1}, a dangling wire")
            nodes.append(there[wiring])
            width = len(gate)
        first, second = np.concatenate(nodes, axis=1)
        return cls(inputs, np.concatenate(numbers), first, second, np.arange(starts[-2], starts[-1]))

    def _check_nodes(self) -> None:
        if len(self.outputs) == 0:
            raise HardwireError("a netlist has at least 1 output")
        unknown = self.gate >= len(GATES)
        if unknown.any():
            worst = int(np.argmax(unknown))
            raise HardwireError(f"gate {worst} has number {self.gate[worst]}; the 16 gates are 0 to 15")
        own = np.arange(self.inputs, self.nodes)
        for operand in (self.first, self.second):
            self._check_range(operand, "gate {} reads")
            if (operand >= own).any():
                bad = int(np.argmax(operand >= own))
                raise HardwireError(
                    f"gate {bad} (node {own[bad]}) reads node {operand[bad]}, which does not come before it: a cycle, "
                    "or gates out of order; sort them so that each reads only earlier nodes"
                )
        self._check_range(self.outputs, "output {} is")

    def _check_range(self, nodes: Integers, who: str) -> None:
        wrong = (nodes < 0) | (nodes >= self.nodes)
        if wrong.any():
            bad = int(np.argmax(wrong))
            raise HardwireError(
                f"{who.format(bad)} node {nodes[bad]}, a dangling wire; this netlist has nodes 0 to {self.nodes - 1}"
            )

    @property
    def size(self) -> int:
        """Number of gates."""
        return len(self.gate)

    @property
    def nodes(self) -> int:
        """Number of inputs and gates."""
        return self.inputs + len(self.gate)

    def rows(self) -> list[tuple[int, int, int]]:
        """Lists (gate number, first, second) of each gate as plain integers."""
        return list(zip(self.gate.tolist(), self.first.tolist(), self.second.tolist(), strict=True))

    def reads(self) -> list[tuple[int, ...]]:
        """Lists the nodes that each gate really depends on: none, one or two."""
        first, second = algebra.READS_FIRST, algebra.READS_SECOND
        return [(a,) * first[gate] + (b,) * second[gate] for gate, a, b in self.rows()]

    @cached_property
    def levels(self) -> npt.NDArray[np.int32]:
        """int32 [nodes]: 0 for inputs and constants; a gate is one above the highest node it depends on."""
        level = [0] * self.inputs
        for nodes in self.reads():
            level.append(1 + max((level[node] for node in nodes), default=-1))
        return np.array(level, np.int32)

    @property
    def depth(self) -> int:
        """Number of gates on the longest path to an output."""
        return int(self.levels[self.outputs].max())


def nodes_read(
    starts: Sequence[int], layer: int, width: int, parts: Sequence[tuple[int, int, int]] | None
) -> npt.NDArray[np.int64]:
    """Returns the nodes that a layer may read: those of the layer before it, or the parts that it names."""
    if not parts:
        return np.arange(starts[layer], starts[layer] + width)
    return np.concatenate([starts[at + 1] + np.arange(begin, end) for at, begin, end in parts])


def checked_vector(name: str, values: npt.ArrayLike, dtype: type[np.integer[Any]]) -> Integers:
    """Returns a read-only copy of `values` as a vector of `dtype`, which must hold every value exactly."""
    values = np.asarray(values)
    if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.integer)):
        raise HardwireError(f"{name} is a list of integers, not {values.dtype} {list(values.shape)}")
    exact: Integers = np.array(values, dtype)
    if not np.array_equal(exact, values):
        raise HardwireError(f"{name} holds values from {values.min()} to {values.max()}, outside {np.dtype(dtype)}")
    exact.setflags(write=False)
    return exact
