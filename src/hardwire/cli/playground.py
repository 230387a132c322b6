"""`hardwire playground`: a model of images as one web page on which one draws and watches the circuit decide."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.options import TRAINED_ON
from hardwire.errors import HardwireError


def playground(
    model: Annotated[Path, typer.Argument(help="A model file or a circuit file, of images of one colour.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page.")] = Path("playground.html"),
    data: Annotated[
        str | None, typer.Option(help=f"Offer test images of this dataset, and say its accuracy. {TRAINED_ON}")
    ] = None,
    shape: Annotated[str | None, typer.Option(help="Height and width, such as 28x28. [default: a square]")] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
) -> None:
    """Write a circuit as one web page: draw an image, and watch it decide as you draw.

    The page holds the circuit as WebAssembly and needs no server and no network. It shows the class sums, the gates
    that fire for the class that wins, and the nanoseconds that one image takes.
    """
    from hardwire.cli.circuit_files import dataset_for, open_circuit, simplify_aloud
    from hardwire.playground import check_drawable, write_page

    circuit = open_circuit(model)
    size = None if shape is None else _size(shape)
    check_drawable(circuit, size)  # before the work
    dataset = dataset_for(circuit, data)
    if dataset is not None:
        circuit = circuit.tested(dataset, data)
    circuit = simplify_aloud(circuit, rewrite=False)
    samples = None if dataset is None else dataset.raw("test")
    write_page(circuit, out, shape=size, samples=samples, title=title)
    typer.echo(
        f"wrote {out}: {len(circuit.netlist.gate):,} gates, {out.stat().st_size / 1000:,.0f} kB; open it in a browser"
    )


def _size(shape: str) -> tuple[int, int]:
    height, cross, width = shape.lower().partition("x")
    if not (cross and height.isdecimal() and width.isdecimal()):
        raise HardwireError(f"--shape {shape!r} is not a height and a width such as 28x28")
    return int(height), int(width)
