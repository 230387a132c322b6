"""`hardwire bench`: images per second and the latency of one image, next to our own C export in the same run."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.circuits import open_circuit, simplify_and_report
from hardwire.cli.completion import models
from hardwire.cli.output import Json, Output
from hardwire.cli.progress import steps

_RANDOM = "The random network, if no file is given"


def bench(
    file: Annotated[
        Path | None,
        typer.Argument(help="A circuit or model file. [default: a random network]", autocompletion=models),
    ] = None,
    inputs: Annotated[int, typer.Option(help="Inputs.", rich_help_panel=_RANDOM)] = 784,
    width: Annotated[int, typer.Option(help="Gates per layer.", rich_help_panel=_RANDOM)] = 8000,
    depth: Annotated[int, typer.Option(help="Layers.", rich_help_panel=_RANDOM)] = 6,
    classes: Annotated[int, typer.Option(help="Classes.", rich_help_panel=_RANDOM)] = 10,
    images: Annotated[int, typer.Option(help="Number of random images to classify.")] = 65_536,
    seed: Annotated[int, typer.Option(help="Seed of the random network and images.")] = 0,
    json: Json = False,
) -> None:
    """Measure the speed of a circuit on one core: images per second, and the latency of one image.

    The C export of the same circuit is measured next to it. The times include packing, gates, class sums and argmax.

    Example:

    ```
    hardwire bench digits.circuit
    ```
    """
    import numpy as np

    from hardwire.circuit import speed
    from hardwire.errors import HardwireError

    output = Output(json)
    if images < 64:
        raise HardwireError(f"{images} images are too few to time; use 64 or more")
    circuit = open_circuit(file) if file else speed.random_circuit(inputs, width, depth, classes, seed)
    circuit = simplify_and_report(circuit, output)
    x = np.random.default_rng(seed).random((images // 64 * 64, circuit.inputs)) < 0.5
    with speed.one_core(), steps("timing") as step:
        step("the engine")
        lines = [speed.measure_engine(circuit, x)]
        step("the C export, compiling first")
        lines.append(speed.measure_c(circuit, x))
    rows = [
        [line.what, f"{line.images_per_second / 1e6:.2f}", f"{line.latency:.1f}", f"{line.preparation:.2f}"]
        for line in lines
    ]
    output.table(["one core", "million images/s", "one image, µs", "ready after, s"], rows)
    output.line(f"engine / C export: {lines[0].images_per_second / lines[1].images_per_second:.2f}")
    output.document({"gates": circuit.netlist.size, "images": len(x), "measured": lines})
