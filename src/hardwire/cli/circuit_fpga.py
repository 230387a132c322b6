"""`hardwire circuit estimate` and `place`: what a circuit needs on an FPGA, after synthesis and after routing."""

from typing import TYPE_CHECKING, Annotated

import typer

from hardwire.cli.circuits import Pipeline, Raw, open_circuit
from hardwire.cli.completion import devices
from hardwire.cli.options import Model
from hardwire.cli.output import Json, Output
from hardwire.cli.progress import steps

if TYPE_CHECKING:
    from hardwire.circuit.place import Placement


def estimate(
    file: Model,
    pipeline: Pipeline = None,
    raw: Raw = None,
    lut: Annotated[int | None, typer.Option(help="Inputs of a look-up table. [default: both 6 and 4]")] = None,
    json: Json = False,
) -> None:
    """Count look-up tables and flip-flops after synthesis by yosys: encoder, gates or tables, class sums, argmax.

    Example:

    ```
    hardwire circuit estimate digits.circuit --lut 4
    ```
    """
    from hardwire.circuit.estimate import estimate as count

    output, circuit = Output(json), open_circuit(file)
    sizes = (6, 4) if lut is None else (lut,)
    with steps("synthesis") as step:
        counts = [count(circuit, pipeline=pipeline, raw=raw, lut=size, progress=step) for size in sizes]
    rows = [
        [of[0].part, *(f"{line.luts:,}" for line in of), f"{of[0].flip_flops:,}"] for of in zip(*counts, strict=True)
    ]
    output.table(["part", *(f"LUT{size}" for size in sizes), "flip-flops"], rows)
    by_size = {f"lut{size}": lines for size, lines in zip(sizes, counts, strict=True)}
    output.document({"file": file, "pipeline": pipeline, "counts": by_size})


def place(
    file: Model,
    device: Annotated[str, typer.Option(help="ecp5-25k, ecp5-85k or ice40-hx8k.", autocompletion=devices)],
    pipeline: Annotated[
        str | None, typer.Option(help="Put registers after this many levels of logic; auto: as the clock needs.")
    ] = None,
    clock: Annotated[float | None, typer.Option(help="The clock to aim for, in MHz.")] = None,
    raw: Raw = None,
    seed: Annotated[int, typer.Option(help="Seed of the placer.")] = 1,
    json: Json = False,
) -> None:
    """Place and route on a real FPGA: look-up tables, flip-flops, clock, latency, images per second.

    Example:

    ```
    hardwire circuit place digits.circuit --device ecp5-25k --pipeline auto --clock 100
    ```
    """
    from hardwire.circuit.place import levels_of
    from hardwire.circuit.place import place as run_tools

    output, circuit = Output(json), open_circuit(file)
    with steps(f"placing on {device}") as step:
        placed = run_tools(
            circuit, device, pipeline=levels_of(pipeline), clock=clock, raw=raw, seed=seed, progress=step
        )
    rows = [[part.name, f"{part.luts:,}", f"{part.flip_flops:,}", f"{part.carries:,}"] for part in placed.parts]
    output.table(["after synthesis", "LUT4", "flip-flops", "carry cells"], rows)
    output.line(
        f"placed on {device}: {placed.cells:,} of {placed.available:,} logic cells, with the registers around it"
    )
    if placed.bits_per_second is not None:
        output.line(
            f"{placed.fmax:.1f} MHz: {placed.images_per_second / 1e6:.1f} million steps/s, "
            f"{placed.bits_per_second / 1e6:.1f} million input bits/s"
        )
    else:
        output.line(_speed(placed))
    path = ", ".join(f"{part} {nanoseconds:.2f} ns" for part, nanoseconds in placed.critical.items())
    output.line(f"critical path: {path}")
    output.document({"file": file} | vars(placed))


def _speed(placed: "Placement") -> str:
    stage = "" if placed.pipeline is None else f", stages of {placed.pipeline:.3g} levels"
    return (
        f"{placed.fmax:.1f} MHz; latency {placed.latency} clocks, {placed.nanoseconds:.1f} ns; "
        f"{placed.images_per_second / 1e6:.1f} million images/s{stage}"
    )
