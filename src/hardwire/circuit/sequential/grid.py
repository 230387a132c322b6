"""`on_grid`: the circuit of one cell, put at every place of a grid, with a register for each bit of a cell."""

import math

import numpy as np

from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.lower import complete
from hardwire.circuit.sequential.state import State, gates_of
from hardwire.errors import HardwireError, whole_number

MOST_GATES = 1 << 24


def on_grid(cell: Circuit, shape: tuple[int, int], border: str = "periodic") -> Circuit:
    """A cellular automaton as a circuit with state: every cell reads its square neighbourhood, all at once.

    Args:
        cell: Reads side * side bits, the neighbourhood row by row with the cell in the middle, for an odd side; its
            class (0 or 1) is the next state of the cell. A circuit of one class makes it as its only output.
        shape: (height, width) of the grid.
        border: "periodic", where opposite edges meet, or "zero".

    Returns:
        A circuit without inputs whose state is the grid, row by row, and whose answer is the next state.

    Example:
        >>> from hardwire.circuit.sequential.grid import on_grid
        >>> copy = Circuit.from_layers(9, gates=[[3]], wirings=[[[3], [3]]], classes=1)  # the left neighbour
        >>> board = on_grid(copy, (2, 3))
        >>> board.run([[[], []]], state=[1, 0, 0, 0, 0, 0])[0].tolist()
        [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]
    """
    height, width = (whole_number(name, size) for name, size in zip(("height", "width"), shape, strict=True))
    netlist = gates_of(cell) if cell.classes == 1 else complete(cell, input_format_of(cell))
    side = math.isqrt(netlist.inputs)
    if side**2 != netlist.inputs or side % 2 == 0 or len(netlist.outputs) != 1:
        raise HardwireError(
            f"a cell reads an odd square of bits, such as 9, and makes one; this one reads {netlist.inputs} and makes "
            f"{len(netlist.outputs)}"
        )
    if border not in ("periodic", "zero"):
        raise HardwireError(f"border {border!r} is not periodic or zero")
    if height * width * max(1, len(netlist.gate)) > MOST_GATES:
        raise HardwireError(f"{height} x {width} cells of {len(netlist.gate)} gates are too many; use a smaller grid")
    builder = Builder(height * width)
    outside = builder.constant(False) if border == "zero" else -1
    around = np.arange(side) - side // 2
    following: list[int] = []
    for row, column in np.ndindex(height, width):
        rows, columns = np.repeat(row + around, side), np.tile(column + around, side)
        nodes = rows % height * width + columns % width
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        nodes = nodes if border == "periodic" else np.where(inside, nodes, outside)
        following += builder.embed(netlist, nodes.tolist())
    return Circuit(builder.netlist(following * 2), 1, state=State(height * width, given=True))
