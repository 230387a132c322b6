"""`hardwire playground`: a circuit for images as one web page on which one draws and watches it decide."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.options import Model, TestData
from hardwire.errors import HardwireError


def playground(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("playground.html"),
    data: TestData = None,
    shape: Annotated[str | None, typer.Option(help="Height and width, such as 28x28. [default: a square]")] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    home: Annotated[str | None, typer.Option(help="An address that the page links to as its home.")] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Where the page will be published; a picture for those who share it is written beside it."),
    ] = None,
) -> None:
    """Write a circuit as one web page: draw an image, and watch the circuit decide while you draw.

    The page contains the circuit as WebAssembly and needs no server and no network. It shows the class sums, the gates
    that are on for the winning class, and the nanoseconds per image. With the data at hand it offers test images.

    Example:

    ```
    hardwire playground digits.circuit -o digits.html
    ```
    """
    from hardwire.cli.circuits import dataset_for, open_circuit, simplify_and_report
    from hardwire.cli.output import Output
    from hardwire.playground import check_drawable, write_page

    circuit = open_circuit(model)
    size = None if shape is None else _size(shape)
    check_drawable(circuit, size)  # before the work
    dataset = dataset_for(circuit, data)
    if dataset is not None:
        circuit = circuit.tested(dataset, data)
    circuit = simplify_and_report(circuit, Output())
    samples = None if dataset is None else dataset.raw("test")
    write_page(circuit, out, shape=size, samples=samples, title=title, home=home, url=url)
    typer.echo(f"wrote {out}: {circuit.gates.size:,} gates, {out.stat().st_size / 1000:,.0f} kB; open it in a browser")


def _size(shape: str) -> tuple[int, int]:
    from hardwire.data.kinds import parse_count

    height, width = (parse_count(part) for part in (shape.lower().partition("x")[0], shape.lower().partition("x")[2]))
    if height is None or width is None:
        raise HardwireError(f"--shape {shape[:40]!r} is not a height and a width such as 28x28")
    return height, width
