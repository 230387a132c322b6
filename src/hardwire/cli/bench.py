"""`hardwire bench`: images per second and the latency of one image, beside our own C export in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.circuit_files import open_circuit, print_table, simplify_aloud, steps


def bench(
    file: Annotated[Path | None, typer.Argument(help="A circuit or model file; otherwise a random network.")] = None,
    inputs: Annotated[int, typer.Option(help="Of the random network.")] = 784,
    width: Annotated[int, typer.Option(help="Of the random network.")] = 8000,
    depth: Annotated[int, typer.Option(help="Of the random network.")] = 6,
    classes: Annotated[int, typer.Option(help="Of the random network.")] = 10,
    images: Annotated[int, typer.Option(help="Random images that are classified.")] = 65_536,
    seed: Annotated[int, typer.Option(help="Of the random network and images.")] = 0,
) -> None:
    """Images per second of a circuit on one core, and the latency of one image, beside its C export.

    Packing, gates, class sums and argmax are inside the time.
    """
    import numpy as np

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
    rows = [
        [line.what, f"{line.images_per_second / 1e6:.2f}", f"{line.latency:.1f}", f"{line.preparation:.2f}"]
        for line in lines
    ]
    print_table(["one core", "million images/s", "one image, µs", "ready after, s"], rows)
    typer.echo(f"engine / C export: {lines[0].images_per_second / lines[1].images_per_second:.2f}")
