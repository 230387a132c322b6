"""`hardwire circuit`: from a model to a circuit, simplified, run, exported, estimated and verified."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hardwire.cli.circuit_files import dataset_for, one_target, open_circuit, print_table, simplify_aloud, steps
from hardwire.cli.options import TRAINED_ON

app = typer.Typer(help="Circuits: build, simplify, run, export and verify them.", no_args_is_help=True)

Model = Annotated[Path, typer.Argument(help="A model file or a circuit file.")]
Written = Annotated[Path | None, typer.Argument(help="The circuit file to write, here or behind -o.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write, instead of the argument.")]
Raw = Annotated[
    str | None,
    typer.Option(
        help="What the file reads: bits, bytes, int8, int16, int32, floats. [default: what the model was made for]"
    ),
]
Pipeline = Annotated[float | None, typer.Option(help="Verilog: registers every so many levels of logic.")]


@app.command()
def build(
    model: Model,
    out: Written = None,
    simplified: Annotated[bool, typer.Option("--simplify/--no-simplify", help="Simplify it as well.")] = True,
    data: Annotated[str | None, typer.Option(help=f"Note its accuracy on this test set. {TRAINED_ON}")] = None,
    to: Out = None,
) -> None:
    """Turn a trained model into a circuit file, which runs without torch."""
    from hardwire.circuit.evaluate import how_well, test_set

    path = one_target(out, to)
    circuit = open_circuit(model)
    dataset = dataset_for(circuit, data)
    if dataset is not None:
        circuit = circuit.tested(dataset, data)
        images, wanted = test_set(dataset)
        typer.echo(f"{how_well(circuit, circuit.predict(images), wanted)} on the test set of {circuit.about.dataset}")
    if simplified:
        circuit = simplify_aloud(circuit, rewrite=False)
    circuit.save(path)
    typer.echo(f"wrote {path}: {circuit}")


@app.command()
def simplify(
    file: Model,
    out: Written = None,
    rewrite: Annotated[bool, typer.Option("--rewrite", help="AIG rewriting as well (needs aigverse).")] = False,
    dont_cares: Annotated[
        bool, typer.Option("--dont-cares", help="Use that the encoder's bits fall in order; right behind it alone.")
    ] = False,
    to: Out = None,
) -> None:
    """Fewer gates, the same function, and the proof of that."""
    path = one_target(out, to)
    circuit = simplify_aloud(open_circuit(file), rewrite, dont_cares)
    circuit.save(path)
    typer.echo(f"wrote {path}: {circuit}")


@app.command()
def shrink(
    file: Model,
    out: Written = None,
    tolerance: Annotated[float, typer.Option(help="Of the training accuracy, as a share.")] = 0.001,
    data: Annotated[str | None, typer.Option(help=f"What decides and measures. {TRAINED_ON}")] = None,
    to: Out = None,
) -> None:
    """Fewer gates for a little accuracy: cut those that hardly ever change a decision on the training set."""
    from hardwire.errors import HardwireError

    path = one_target(out, to)
    circuit = open_circuit(file)
    dataset = dataset_for(circuit, data)
    if dataset is None:
        raise HardwireError("shrinking needs the data that decides what may go; name it with --data")
    with steps("shrinking") as say:
        smaller, report = circuit.shrink(dataset, tolerance=tolerance, progress=say)
    rows = [[name, f"{100 * before:.2f}", f"{100 * after:.2f}"] for name, (before, after) in report.accuracies.items()]
    print_table(["accuracy, %", "before", "after"], rows)
    smaller.save(path)
    typer.echo(f"{report.gates[0]:,} gates -> {report.gates[1]:,}; wrote {path}: {smaller}")


@app.command()
def stats(file: Model) -> None:
    """Gates by type, depth, fan-out, dead gates."""
    numbers = open_circuit(file).statistics()
    rows = [
        ["inputs (unused)", f"{numbers.inputs:,} ({numbers.unused_inputs:,})"],
        ["outputs, classes", f"{numbers.outputs:,}, {numbers.classes:,}"],
        ["gates (dead)", f"{numbers.gates:,} ({numbers.dead:,})"],
        ["depth", f"{numbers.depth:,}"],
        ["fan-out, mean and most", f"{numbers.mean_fan_out:.2f}, {numbers.max_fan_out:,}"],
        *([f"  {name}", f"{count:,}"] for name, count in numbers.by_type.items()),
    ]
    print_table(["", ""], rows)


@app.command()
def run(
    file: Model,
    data: Annotated[str, typer.Option(help="A dataset by name, or an .npz file; its test set is run.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the classes there, one a line.")] = None,
    threads: Annotated[int | None, typer.Option(help="Default: as many as are worth starting.")] = None,
) -> None:
    """Classify a test set: accuracy and images per second."""
    import time

    from hardwire.circuit.evaluate import how_well, test_set
    from hardwire.files import write_whole

    circuit = open_circuit(file)
    images, labels = test_set(dataset_for(circuit, data))
    circuit.predict(images[:1])  # so that scheduling is not timed
    start = time.perf_counter()
    classes = circuit.predict(images, threads=threads)
    seconds = time.perf_counter() - start
    if out is not None:
        write_whole(out, "".join(f"{number}\n" for number in classes))
    rate = f"{len(labels) / seconds / 1e6:.2f} million images/s"
    typer.echo(f"{how_well(circuit, classes, labels)} on {len(labels):,} images, {rate}")


@app.command()
def export(
    file: Model,
    out: Annotated[
        Path | None, typer.Argument(help="By its ending: .c .wasm .v .aig .aag .blif .svg .dot .circuit")
    ] = None,
    raw: Raw = None,
    name: Annotated[str | None, typer.Option(help="Of the C functions or the module (default: the file's).")] = None,
    main: Annotated[bool, typer.Option("--main", help="C: add a program that reads a file of images.")] = False,
    form: Annotated[
        str | None, typer.Option(help="C, WebAssembly: code or tables. [default: code up to 20,000 gates]")
    ] = None,
    word: Annotated[
        int | None, typer.Option(help="C: images at once: 64, 32, 8, or 1 for small machines. [default: 64]")
    ] = None,
    simd: Annotated[bool, typer.Option("--simd/--no-simd", help="WebAssembly: for runtimes with SIMD.")] = True,
    pipeline: Pipeline = None,
    control: Annotated[
        bool, typer.Option("--control", help="Verilog: ports rst, ce, valid_in and valid_out, with a pipeline.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="Verilog: the class sums as an output too.")] = False,
    stream: Annotated[
        int | None, typer.Option(help="Verilog: a wrapper that takes an image in words of so many bits, 8 to 64.")
    ] = None,
    lut: Annotated[
        int | None, typer.Option(help="Verilog: class sums for look-up tables of 6 or 4 inputs. [default: 6]")
    ] = None,
    reach: Annotated[
        float | None, typer.Option(help="Verilog: levels that a gate counts as in a pipeline. [default: 1]")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Verilog: a testbench with images of its test set; --raw int8 to int32: fit its rows."),
    ] = None,
    images: Annotated[
        int | None, typer.Option(min=1, help="Verilog: how many images the testbench has. [default: 100]")
    ] = None,
    label: Annotated[int | None, typer.Option("--class", help="SVG and dot: only the cone of this class.")] = None,
    output: Annotated[int | None, typer.Option(help="SVG and dot: only this output of the class.")] = None,
    to: Out = None,
) -> None:
    """Write the circuit as C, WebAssembly, Verilog, AIGER, BLIF or a drawing, with encoder, class sums and argmax."""
    from hardwire.circuit.verify import images_of
    from hardwire.errors import HardwireError

    target = one_target(out, to)
    circuit = open_circuit(file)
    options: dict[str, Any] = {"raw": raw, "name": name, "main": main or None, "form": form, "pipeline": pipeline}
    options |= {"control": control or None, "scores": scores or None, "stream": stream, "lut": lut, "reach": reach}
    options |= {"word": word, "label": label, "output": output, "simd": None if simd else False}
    fits, tests = (raw or "").startswith("int"), target.suffix == ".v" and data is not None
    if data is not None and not (fits or tests):
        raise HardwireError("--data is for the testbench of Verilog and for --raw int8, int16 and int32")
    if images is not None and not tests:
        raise HardwireError("--images is for the testbench of Verilog; give its --data too")
    dataset = dataset_for(circuit, data) if fits or tests else None
    if tests and dataset is not None:
        options["images"] = images_of(circuit, dataset)[: images or 100]
    if fits and dataset is not None and circuit.encoder is not None:
        options["values"] = dataset.raw("train")
    given = {option: value for option, value in options.items() if value is not None}
    for path in circuit.export(target, **given):
        typer.echo(f"wrote {path}")
    if "values" in given:
        rows = len(given["values"])
        typer.echo(f"{raw}: no value of the {rows:,} training rows changes its side of a threshold; others may, and")
        typer.echo(f"`hardwire circuit verify {file} {target}` compares on the test set")


@app.command()
def estimate(
    file: Model,
    pipeline: Pipeline = None,
    raw: Raw = None,
    lut: Annotated[int, typer.Option(help="Inputs of a look-up table.")] = 6,
) -> None:
    """Look-up tables and flip-flops after synthesis by yosys, with and without class sums and encoder."""
    from hardwire.circuit.estimate import estimate as count

    circuit = open_circuit(file)
    with steps("synthesis") as say:
        lines = count(circuit, pipeline=pipeline, raw=raw, lut=lut, progress=say)
    rows = [[line.includes, f"{line.luts:,}", f"{line.flip_flops:,}"] for line in lines]
    print_table(["includes", f"LUT{lut}", "flip-flops"], rows)


@app.command()
def place(
    file: Model,
    device: Annotated[str, typer.Option(help="ecp5-25k, ecp5-85k or ice40-hx8k.")],
    pipeline: Annotated[
        str | None, typer.Option(help="Registers every so many levels of logic, or auto: by the clock.")
    ] = None,
    clock: Annotated[float | None, typer.Option(help="MHz that it should run at.")] = None,
    raw: Raw = None,
    seed: Annotated[int, typer.Option(help="Of the placer.")] = 1,
) -> None:
    """Place and route on a real FPGA: look-up tables, flip-flops, clock, latency, images per second."""
    from hardwire.circuit.place import levels_of
    from hardwire.circuit.place import place as run_tools

    circuit = open_circuit(file)
    with steps(f"placing on {device}") as say:
        found = run_tools(circuit, device, pipeline=levels_of(pipeline), clock=clock, raw=raw, seed=seed, progress=say)
    rows = [[part.name, f"{part.luts:,}", f"{part.flip_flops:,}", f"{part.carries:,}"] for part in found.parts]
    print_table(["after synthesis", "LUT4", "flip-flops", "carry cells"], rows)
    typer.echo(f"placed on {device}: {found.cells:,} of {found.available:,} logic cells, registers around it included")
    stage = "" if found.pipeline is None else f", stages of {found.pipeline:.3g} levels"
    typer.echo(
        f"{found.fmax:.1f} MHz; latency {found.latency} clocks, {found.nanoseconds:.1f} ns; "
        f"{found.images_per_second / 1e6:.1f} million images/s{stage}"
    )
    path = ", ".join(f"{part} {nanoseconds:.2f} ns" for part, nanoseconds in found.critical.items())
    typer.echo(f"critical path: {path}")


@app.command()
def verify(
    model: Model,
    file: Annotated[Path, typer.Argument(help="What was exported: .c .wasm .v .aig .aag .blif, or a circuit file.")],
    data: Annotated[str | None, typer.Option(help=f"Also on this test set. {TRAINED_ON}")] = None,
    raw: Raw = None,
) -> None:
    """Does FILE compute what MODEL computes? Exit code 1, and a counterexample, if not."""
    from hardwire.circuit.verify import images_of
    from hardwire.circuit.verify import verify as compare

    circuit = open_circuit(model)
    dataset = dataset_for(circuit, data)
    images = None if dataset is None else images_of(circuit, dataset)
    with steps("verifying") as say:
        answer = compare(circuit, file, images, raw=raw, progress=say)
    on = f"; the {answer.images:,} test images agree" if answer.images else ""
    typer.echo(f"{answer.how}{on}" if answer.equal else f"DIFFERENT, {answer.how}")
    if not answer.equal:
        typer.echo(answer.counterexample)
        raise typer.Exit(1)
