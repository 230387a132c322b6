"""The page of an automaton: a board of cells that WebAssembly runs, and that one disturbs with the mouse."""

import base64
import json
import os
from collections.abc import Sequence
from pathlib import Path

from hardwire.circuit import Circuit
from hardwire.circuit.sequential.cell import grid_of, start_board
from hardwire.circuit.sequential.wasm import board_wasm
from hardwire.files import write_whole
from hardwire.playground.parts import part, rendered

SHAPE = (256, 256)  # of a board where a cell has none of its own


def write_board(
    cell: Circuit,
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    title: str | None = None,
    home: str | None = None,
) -> Path:
    """Writes a web page with a board of cells, for one to watch and to disturb.

    Args:
        cell: The circuit of a cell, as `hw.Circuit.from_automaton` and `hardwire.circuit.as_cell` make it.
        path: The page to write.
        shape: (height, width) of the board; by default the one that a growing automaton was trained on, and 256 x 256.
        title: The heading.
        home: Address that the page links to as its home.

    Returns:
        The path of the page.

    Raises:
        HardwireError: If the circuit is no cell, or the board is smaller than a neighbourhood.

    Example:
        >>> hw.playground.write_board(cell, "life.html")  # doctest: +SKIP
        PosixPath('life.html')
    """
    path = Path(path).expanduser()
    write_whole(path, board_of(cell, shape=shape, title=title, home=home))
    return path


def board_of(
    cell: Circuit, *, shape: Sequence[int] | None = None, title: str | None = None, home: str | None = None
) -> str:
    """Returns the page as text; for the arguments see `write_board`."""
    grid, cell = grid_of(cell), cell.as_gates()
    if shape is None:
        shape = grid.shape if grid.seed and grid.shape is not None else SHAPE
    _, height, width = start_board(cell, shape).shape
    wasm = board_wasm(cell, (height, width))
    facts = {
        "wasm": base64.b64encode(wasm).decode(),
        "seed": list(grid.seed),
        "speed": 3 if grid.seed else 6,
        "brush": 5 if grid.seed else 3,
    }
    gates, kilobytes = cell.gates.size, -(-len(wasm) // 1024)
    return rendered(
        "board.html",
        title=title or "hardwire playground",
        description=f"{height} x {width} cells run one circuit of {gates:,} gates; {kilobytes:,} KB of WebAssembly",
        home=home,
        seeded=bool(grid.seed),
        facts=json.dumps(facts),
        script=part("board.js"),
    )
