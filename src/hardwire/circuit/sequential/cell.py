"""Circuits of one cell of an automaton: made of a trained automaton or of a rule, and run on boards of any size.

A cell is a circuit with state: its own bits are its registers, and its other inputs are the bits of its neighbours.
Surprising: nothing in it knows how large the board is, so a rule learned on a small board runs on any.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.builder import Builder
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.passes.dead import remove_dead
from hardwire.circuit.sequential.state import Grid, State, gates_of
from hardwire.errors import HardwireError, whole_number

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

MOST_BITS = 1 << 28  # of the neighbourhoods of a board
Board = npt.NDArray[np.uint8]  # [channels, height, width]


def as_cell(
    circuit: "Circuit",
    border: str = "periodic",
    shape: tuple[int, int] | None = None,
    seed: Sequence[int] = (),
) -> "Circuit":
    """The circuit of a neighbourhood as a cell; cells stay as they are.

    Args:
        circuit: Reads side * side bits, the neighbourhood row by row with the cell in the middle, for an odd side; its
            class (0 or 1) is the next state of the cell. A circuit of one class makes the next bits of the cell as its
            outputs, and reads [bits, side, side].
        border: "periodic", where opposite edges of a board meet, or "zero".
        shape: (height, width) of the board to show, if there is one that belongs to the rule.
        seed: The bits of the cell that it grows from, if it grows from one.

    Example:
        >>> import hardwire as hw
        >>> copy = hw.Circuit.from_layers(9, gates=[[3]], wirings=[[[3], [3]]], classes=1)  # the left neighbour
        >>> as_cell(copy).state.grid
        Grid(side=3, border='periodic', shape=None, seed=())
    """
    if circuit.state is not None:
        grid_of(circuit)
        return circuit
    plain = circuit.encoder is None and circuit.number is None
    netlist = gates_of(circuit) if circuit.classes == 1 else complete(circuit, input_format_of(circuit))
    channels = len(netlist.outputs)
    side = math.isqrt(netlist.inputs // channels)
    if not plain or channels * side**2 != netlist.inputs or side % 2 == 0:
        raise HardwireError(
            f"a cell reads an odd square of bits, such as 9, for each that it makes; this one reads {netlist.inputs} "
            f"and makes {channels}"
        )
    return _cell(netlist, channels, Grid(side, border, shape, tuple(seed)), circuit)


def from_automaton(net: Any, seed: Sequence[int] = ()) -> "Circuit":
    """The circuit of one cell of a `CellularAutomaton`; see `Circuit.from_automaton`."""
    from hardwire.circuit.circuit import Circuit
    from hardwire.circuit.from_layers import frozen_netlist
    from hardwire.engine.stack import Stack
    from hardwire.layers import LocalLayer, Recurrent

    loop = next(iter(getattr(net, "layers", [net])))
    layers = [layer for layer in getattr(loop, "cell", ()) if isinstance(layer, LocalLayer)]
    if not isinstance(loop, Recurrent) or not layers or len(layers) < len(loop.cell):
        raise HardwireError(f"{type(net).__name__} is no hw.CellularAutomaton, so it has no cell")
    if loop.masked:
        raise HardwireError("an automaton with random updates reads a mask; its circuit is hw.Circuit.from_loop(net)")
    channels, *shape = layers[0].input_shape
    side = 1 + sum(layer.kernel_size - 1 for layer in layers)
    small = []  # the same layers on a board that is one neighbourhood
    for layer in layers:
        config = layer.config() | {"shape": [layer.input_shape[0], side, side]}
        small.append(type(layer).restore(config, layer.state_dict()))
    levels = [level for layer in small for level in layer.levels()]
    made = Circuit(frozen_netlist(Stack(tuple(levels))), 1).gates
    middle = np.arange(channels) * side**2 + side**2 // 2
    netlist = remove_dead(replace(made, outputs=made.outputs[middle]))  # the other cells are not wanted
    height, width = shape
    return _cell(netlist, channels, Grid(side, layers[0].border, (height, width), tuple(seed)))


def _cell(netlist: Netlist, channels: int, grid: Grid, like: "Circuit | None" = None) -> "Circuit":
    """A cell of a netlist from whole neighbourhoods, channel by channel, to the next bits of the cell."""
    from hardwire.circuit.circuit import Circuit

    builder = Builder(netlist.inputs)
    place = np.empty(netlist.inputs, int)
    place[_order(grid.side, channels)] = np.arange(netlist.inputs)
    made = builder.embed(netlist, place.tolist())
    state = State(channels, given=True, grid=grid)
    if like is None:
        return Circuit(builder.netlist(made * 2), 1, state=state)
    return replace(like, netlist=builder.netlist(made * 2), classes=1, state=state)


def _order(side: int, channels: int) -> npt.NDArray[np.intp]:
    """What the inputs of a cell are, as places of a neighbourhood [channels, side, side]: its own bits come first."""
    places = np.arange(channels * side**2)
    own = places % side**2 == side**2 // 2
    return np.concatenate([places[own], places[~own]])


def grid_of(cell: "Circuit") -> Grid:
    """How a cell lies among others; raises if the circuit is no cell."""
    if cell.state is None or cell.state.grid is None:
        raise HardwireError(
            "this circuit is no cell of an automaton; hw.Circuit.from_automaton makes one of a network, and as_cell of "
            "a circuit that reads a neighbourhood"
        )
    return cell.state.grid


def reads(cell: "Circuit") -> list[tuple[int, int, int]]:
    """For each input of a cell its channel, and how many rows down and columns to the right it lies."""
    grid = grid_of(cell)
    assert cell.state is not None
    channel, place = np.divmod(_order(grid.side, cell.state.bits), grid.side**2)
    down, right = np.divmod(place, grid.side)
    half = grid.side // 2
    return list(zip(channel.tolist(), (down - half).tolist(), (right - half).tolist(), strict=True))


def start_board(cell: "Circuit", shape: Sequence[int] | None = None, seed: int = 0) -> Board:
    """A board to start with: the seed of the cell in the middle, or random bits if it has none."""
    grid = grid_of(cell)
    assert cell.state is not None
    size = grid.shape if shape is None else shape
    if size is None:
        raise HardwireError("this cell was trained on no board of its own; give a shape, (height, width)")
    height, width = _checked(cell, size)
    if not grid.seed:
        return np.random.default_rng(seed).integers(0, 2, (cell.state.bits, height, width), np.uint8)
    board = np.zeros((cell.state.bits, height, width), np.uint8)
    board[:, height // 2, width // 2] = grid.seed
    return board


def _checked(cell: "Circuit", shape: Sequence[int]) -> tuple[int, int]:
    height, width = (whole_number(name, size) for name, size in zip(("height", "width"), shape, strict=True))
    side = grid_of(cell).side
    if min(height, width) < side:
        raise HardwireError(f"a board of {height} x {width} is smaller than a neighbourhood of {side} x {side}")
    if grid_of(cell).side ** 2 * height * width > MOST_BITS:
        raise HardwireError(f"a board of {height} x {width} cells is too large; use a smaller shape")
    return height, width


def generations(cell: "Circuit", board: npt.ArrayLike, steps: int = 1) -> Board:
    """Runs a cell at every place of a board.

    Args:
        cell: The circuit of a cell.
        board: Zeros and ones [channels, height, width], or [height, width] for cells of one bit.
        steps: The number of generations.

    Returns:
        The board after them, uint8 [channels, height, width].

    Example:
        >>> import hardwire as hw
        >>> copy = hw.Circuit.from_layers(9, gates=[[3]], wirings=[[[3], [3]]], classes=1)  # the left neighbour
        >>> generations(as_cell(copy), [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]], 2)[0].tolist()
        [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    """
    from hardwire.circuit.sequential.state import step

    grid = grid_of(cell)
    assert cell.state is not None
    now = np.asarray(board, np.uint8)
    now = now[None] if now.ndim == 2 else now
    if now.ndim != 3 or len(now) != cell.state.bits:
        raise HardwireError(f"a board is zeros and ones [{cell.state.bits}, height, width], not {list(now.shape)}")
    height, width = _checked(cell, now.shape[1:])
    half, mode = grid.side // 2, "wrap" if grid.border == "periodic" else "constant"
    for _ in range(whole_number("steps", steps)):
        wide = np.pad(now, ((0, 0), (half, half), (half, half)), mode=mode)  # type: ignore[call-overload]
        bits = [
            wide[channel, half + down : half + down + height, half + right : half + right + width].ravel()
            for channel, down, right in reads(cell)
        ]
        rows = np.stack(bits, axis=1)
        now = step(cell, rows[:, : len(now)], rows[:, len(now) :])[0].T.reshape(now.shape)
    return now
