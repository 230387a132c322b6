"""`hardwire playground`: a circuit as one web page: draw and watch it decide, or disturb a board of its cells."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwire.cli.options import Model, TestData
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit import Circuit


def playground(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("playground.html"),
    data: TestData = None,
    shape: Annotated[
        str | None,
        typer.Option(help="Height and width of an image, such as 28x28, or of a board of cells. [default: a square]"),
    ] = None,
    rule: Annotated[
        bool, typer.Option("--rule", help="The circuit is the rule of a cell: it reads a square of bits, such as 9.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    home: Annotated[str | None, typer.Option(help="An address that the page links to as its home.")] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Where the page will be published; a picture for those who share it is written beside it."),
    ] = None,
) -> None:
    """Write a circuit as one web page: draw an image, and watch the circuit decide, or disturb a board of its cells.

    The page contains the circuit as WebAssembly and needs no server and no network. It shows the class sums, the gates
    that are on for the winning class, and the nanoseconds per image. With the data at hand it offers test images.

    The cell of an automaton becomes a board of cells, each running the circuit: play, step, and click to disturb it.

    Example:

    ```
    hardwire playground digits.circuit -o digits.html
    hardwire playground life.circuit -o life.html --shape 256x512
    ```
    """
    from hardwire.cli.circuits import dataset_for, open_circuit, simplify_and_report
    from hardwire.cli.output import Output
    from hardwire.playground import check_drawable, write_page

    circuit = open_circuit(model)
    size = None if shape is None else _size(shape)
    if rule or (circuit.state is not None and circuit.state.grid is not None):
        _write_board(circuit, out, size, title, home, given=[("--data", data), ("--url", url)])
        return
    check_drawable(circuit, size)  # before the work
    dataset = dataset_for(circuit, data)
    if dataset is not None:
        circuit = circuit.tested(dataset, data)
    circuit = simplify_and_report(circuit, Output())
    samples = None if dataset is None else dataset.raw("test")
    write_page(circuit, out, shape=size, samples=samples, title=title, home=home, url=url)
    typer.echo(f"wrote {out}: {circuit.gates.size:,} gates, {out.stat().st_size / 1000:,.0f} kB; open it in a browser")


def _write_board(
    circuit: "Circuit",
    out: Path,
    size: tuple[int, int] | None,
    title: str | None,
    home: str | None,
    given: list[tuple[str, str | None]],
) -> None:
    from hardwire.circuit import as_cell
    from hardwire.cli.circuits import simplify_and_report
    from hardwire.cli.output import Output
    from hardwire.playground import write_board

    for option, value in given:
        if value is not None:
            raise HardwireError(f"{option} is for pages of images; the board of an automaton has none")
    cell = simplify_and_report(as_cell(circuit), Output())
    write_board(cell, out, shape=size, title=title, home=home)
    typer.echo(
        f"wrote {out}: cells of {cell.gates.size:,} gates, {out.stat().st_size / 1000:,.0f} kB; open it in a browser"
    )


def _size(shape: str) -> tuple[int, int]:
    from hardwire.data.kinds import parse_count

    height, width = (parse_count(part) for part in (shape.lower().partition("x")[0], shape.lower().partition("x")[2]))
    if height is None or width is None:
        raise HardwireError(f"--shape {shape[:40]!r} is not a height and a width such as 28x28")
    return height, width
