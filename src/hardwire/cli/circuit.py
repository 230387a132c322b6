"""`hardwire circuit`: from a model to a circuit, simplified, run, exported, estimated and verified."""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.circuit_files import open_circuit, simplify_aloud, steps, table_of, trained_on

app = typer.Typer(help="Circuits: build, simplify, run, export and verify them.", no_args_is_help=True)

Model = Annotated[Path, typer.Argument(help="A model file or a circuit file.")]
RAW = typer.Option(None, "--raw", help="What the file reads: bits, bytes or floats (default: bytes with an encoder).")
DATA = typer.Option(None, "--data", help="Also on this test set. [default: of what the model was trained on, if known]")


@app.command()
def build(
    model: Model,
    out: Annotated[Path, typer.Argument(help="The circuit file to write.")],
    simplified: bool = typer.Option(True, "--simplify/--no-simplify", help="Simplify it as well."),
):
    """Turn a trained model into a circuit file, which runs without torch."""
    circuit = open_circuit(model)
    if simplified:
        circuit = simplify_aloud(circuit, rewrite=False)
    circuit.save(out)
    typer.echo(f"wrote {out}: {circuit}")


@app.command()
def simplify(
    file: Model,
    out: Annotated[Path, typer.Argument(help="The circuit file to write.")],
    rewrite: bool = typer.Option(False, "--rewrite", help="AIG rewriting as well (needs aigverse)."),
):
    """Fewer gates, the same function, and the proof of that."""
    circuit = simplify_aloud(open_circuit(file), rewrite)
    circuit.save(out)
    typer.echo(f"wrote {out}: {circuit}")


@app.command()
def stats(file: Model):
    """Gates by type, depth, fan-out, dead gates."""
    from rich.console import Console

    numbers = open_circuit(file).statistics()
    table = table_of("", "")
    table.add_row("inputs (unused)", f"{numbers.inputs:,} ({numbers.unused_inputs:,})")
    table.add_row("outputs, classes", f"{numbers.outputs:,}, {numbers.classes:,}")
    table.add_row("gates (dead)", f"{numbers.gates:,} ({numbers.dead:,})")
    table.add_row("depth", f"{numbers.depth:,}")
    table.add_row("fan-out, mean and most", f"{numbers.mean_fan_out:.2f}, {numbers.max_fan_out:,}")
    for name, count in numbers.by_type.items():
        table.add_row(f"  {name}", f"{count:,}")
    Console().print(table)


@app.command()
def run(
    file: Model,
    data: str = typer.Option(..., "--data", help="A dataset by name, or an .npz file; its test set is run."),
    out: Annotated[Path | None, typer.Option("--out", help="Write the classes there, one a line.")] = None,
    threads: int = typer.Option(None, "--threads", help="Default: as many as are worth starting."),
):
    """Classify a test set: accuracy and images per second."""
    import time

    from hardwire.files import write_whole

    circuit, dataset = open_circuit(file), _load_data(data)
    images, labels = dataset.test.x, dataset.test.y.numpy()
    if not hasattr(images, "features"):
        images = images.numpy() > 0.5  # as a network's eval() reads continuous values
    circuit.predict(images[:1])  # so that scheduling is not timed
    start = time.perf_counter()
    classes = circuit.predict(images, threads=threads)
    seconds = time.perf_counter() - start
    if out is not None:
        write_whole(out, "".join(f"{number}\n" for number in classes))
    accuracy = (classes == labels).mean()
    typer.echo(f"accuracy {accuracy:.4f} on {len(labels):,} images, {len(labels) / seconds / 1e6:.2f} million images/s")


@app.command()
def export(
    file: Model,
    out: Annotated[Path, typer.Argument(help="By its ending: .c .v .aig .aag .blif .svg .dot")],
    raw: str = RAW,
    name: str = typer.Option(None, "--name", help="Of the C functions or the Verilog module (default: the file's)."),
    main: bool = typer.Option(False, "--main", help="C: add a program that reads a file of images."),
    form: str = typer.Option(None, "--form", help="C: code or tables (default: code up to 20,000 gates)."),
    pipeline: int = typer.Option(None, "--pipeline", help="Verilog: registers every so many levels."),
    data: str = typer.Option(None, "--data", help="Verilog: write a testbench with images of this test set."),
    images: int = typer.Option(100, "--images", help="Verilog: how many images the testbench has."),
    label: int = typer.Option(None, "--class", help="SVG and dot: only the cone of this class."),
    output: int = typer.Option(None, "--output", help="SVG and dot: only this output of the class."),
):
    """Write the circuit as C, Verilog, AIGER, BLIF or a drawing; encoder, class sums and argmax inside."""
    from hardwire.errors import HardwireError, unknown_name

    circuit = open_circuit(file)
    options = {
        ".c": {"name": name, "main": main, "raw": raw, "form": form},
        ".v": {"name": name, "pipeline": pipeline, "raw": raw},
        ".aig": {"raw": raw},
        ".aag": {"raw": raw},
        ".blif": {"name": name, "raw": raw},
        ".svg": {"label": label, "output": output},
        ".dot": {"label": label, "output": output},
    }
    writers = {".c": "to_c", ".v": "to_verilog", ".blif": "to_blif", ".svg": "to_svg", ".dot": "to_dot"}
    if out.suffix not in options:
        raise unknown_name("ending", out.suffix, options)
    if data is not None:
        if out.suffix != ".v":
            raise HardwireError(f"--data makes a Verilog testbench; {out} is no Verilog file")
        options[".v"]["images"] = _test_images(circuit, data)[:images]
    getattr(circuit, writers.get(out.suffix, "to_aiger"))(out, **options[out.suffix])
    typer.echo(f"wrote {out}")


@app.command()
def estimate(
    file: Model,
    pipeline: int = typer.Option(None, "--pipeline", help="Registers every so many levels."),
    raw: str = RAW,
    lut: int = typer.Option(6, "--lut", help="Inputs of a look-up table."),
):
    """Look-up tables and flip-flops after synthesis by yosys, with and without class sums and encoder."""
    from rich.console import Console

    from hardwire.circuit.estimate import estimate as count

    circuit = open_circuit(file)
    with steps("synthesis") as say:
        lines = count(circuit, pipeline=pipeline, raw=raw, lut=lut, progress=say)
    table = table_of("includes", f"LUT{lut}", "flip-flops")
    for line in lines:
        table.add_row(line.includes, f"{line.luts:,}", f"{line.flip_flops:,}")
    Console().print(table)


@app.command()
def verify(
    model: Model,
    file: Annotated[Path, typer.Argument(help="What was exported: .c .v .aig .aag .blif, or a circuit file.")],
    data: str = DATA,
    raw: str = RAW,
):
    """Does FILE compute what MODEL computes? Exit code 1, and a counterexample, if not."""
    from hardwire.circuit.verify import verify as compare

    circuit = open_circuit(model)
    data = data or trained_on(model)
    images = None if data is None else _test_images(circuit, data)
    with steps("verifying") as say:
        say(file.name)
        answer = compare(circuit, file, images, raw=raw)
    on = f"; the {answer.images:,} test images agree" if answer.images else ""
    typer.echo(f"{answer.how}{on}" if answer.equal else f"DIFFERENT, {answer.how}")
    if not answer.equal:
        typer.echo(answer.counterexample)
        raise typer.Exit(1)


def _load_data(name: str):
    from hardwire import data

    return data.load(name)


def _test_images(circuit, name: str):
    """The test set as raw values where the circuit has an encoder, else as 0 and 1 [n, inputs]."""
    import numpy as np

    dataset = _load_data(name)
    if circuit.encoder is not None:
        return dataset.raw("test")
    x = dataset.test.x
    return (x.unpack() if hasattr(x, "features") else x > 0.5).numpy().astype(np.uint8)
