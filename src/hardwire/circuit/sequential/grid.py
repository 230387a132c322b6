"""`on_grid`: the circuit of one cell, put at every place of a grid, with a register for each bit of a cell."""

import numpy as np

from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.sequential.cell import as_cell, grid_of, reads
from hardwire.circuit.sequential.state import State, gates_of
from hardwire.errors import HardwireError, whole_number

MOST_GATES = 1 << 24


def on_grid(cell: Circuit, shape: tuple[int, int], border: str = "periodic") -> Circuit:
    """A cellular automaton as a circuit with state: every cell reads its square neighbourhood, all at once.

    Args:
        cell: A cell, or a circuit that reads a neighbourhood; see `hardwire.circuit.as_cell`.
        shape: (height, width) of the grid.
        border: "periodic", where opposite edges meet, or "zero". A cell knows its own.

    Returns:
        A circuit without inputs whose state is the grid, channel by channel and row by row, and whose answer is the
        next state.

    Example:
        >>> from hardwire.circuit.sequential.grid import on_grid
        >>> copy = Circuit.from_layers(9, gates=[[3]], wirings=[[[3], [3]]], classes=1)  # the left neighbour
        >>> board = on_grid(copy, (2, 3))
        >>> board.run([[[], []]], state=[1, 0, 0, 0, 0, 0])[0].tolist()
        [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]
    """
    height, width = (whole_number(name, size) for name, size in zip(("height", "width"), shape, strict=True))
    cell = as_cell(cell, border)
    netlist, grid = gates_of(cell), grid_of(cell)
    assert cell.state is not None
    channels = cell.state.bits
    if height * width * max(1, len(netlist.gate)) > MOST_GATES:
        raise HardwireError(f"{height} x {width} cells of {len(netlist.gate)} gates are too many; use a smaller grid")
    builder = Builder(channels * height * width)
    outside = builder.constant(False) if grid.border == "zero" else -1
    channel, down, right = np.array(reads(cell)).T
    following: list[list[int]] = []
    for row, column in np.ndindex(height, width):
        rows, columns = row + down, column + right
        nodes = (channel * height + rows % height) * width + columns % width
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        nodes = nodes if grid.border == "periodic" else np.where(inside, nodes, outside)
        following.append(builder.embed(netlist, nodes.tolist())[:channels])
    made = np.array(following).T.ravel().tolist()
    return Circuit(builder.netlist(made * 2), 1, state=State(len(made), given=True))
