"""`hardwire bench`: images per second and the latency of one image, beside our own C export in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.circuit_files import open_circuit, simplify_aloud, steps, table_of


def bench(
    file: Annotated[Path | None, typer.Option(help="A circuit or model file; otherwise a random network.")] = None,
    inputs: int = typer.Option(784, help="Of the random network."),
    width: int = typer.Option(8000, help="Of the random network."),
    depth: int = typer.Option(6, help="Of the random network."),
    classes: int = typer.Option(10, help="Of the random network."),
    images: int = typer.Option(65_536, help="Random images that are classified."),
    seed: int = typer.Option(0),
):
    """Images per second of a circuit on one core, and the latency of one image, beside its C export.

    Packing, gates, class sums and argmax are inside the time.
    """
    import numpy as np
    from rich.console import Console

    from hardwire.circuit import speed
    from hardwire.errors import HardwireError

    if images < 64:
        raise HardwireError(f"{images} images are too few to time; use 64 or more")
    circuit = open_circuit(file) if file else speed.random_circuit(inputs, width, depth, classes, seed)
    circuit = simplify_aloud(circuit, rewrite=False)
    x = np.random.default_rng(seed).random((images // 64 * 64, circuit.inputs)) < 0.5
    with speed.one_core(), steps("timing") as say:
        say("the engine")
        lines = [speed.measure_engine(circuit, x)]
        say("the C export, compiling first")
        lines.append(speed.measure_c(circuit, x))
    table = table_of("one core", "million images/s", "one image, µs", "ready after, s")
    for line in lines:
        table.add_row(
            line.what, f"{line.images_per_second / 1e6:.2f}", f"{line.latency:.1f}", f"{line.preparation:.2f}"
        )
    Console().print(table)
    typer.echo(f"engine / C export: {lines[0].images_per_second / lines[1].images_per_second:.2f}")
