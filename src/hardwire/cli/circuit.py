"""`hardwire circuit`: builds circuits from models, simplifies, measures, exports and verifies them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hardwire.cli import circuit_export, circuit_fpga, circuit_run
from hardwire.cli.circuits import (
    OutArgument,
    OutOption,
    Raw,
    dataset_for,
    open_circuit,
    open_step,
    output_path,
    simplify_and_report,
)
from hardwire.cli.options import Model, TestData
from hardwire.cli.output import Json, Output
from hardwire.cli.progress import steps

app = typer.Typer(
    help="Build, simplify, run, export and verify circuits.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.command()
def build(
    model: Model,
    out: OutArgument = None,
    simplified: Annotated[bool, typer.Option("--simplify/--no-simplify", help="Simplify it as well.")] = True,
    data: TestData = None,
    state: Annotated[
        bool, typer.Option("--state", help="Keep the state of a loop in registers, instead of unrolling its steps.")
    ] = False,
    cell: Annotated[bool, typer.Option("--cell", help="Make the circuit of one cell of an automaton.")] = False,
    to: OutOption = None,
) -> None:
    """Turn a trained model into a circuit file, which runs without torch.

    The file records the accuracy on the test set, if the data is at hand. A model that loops is unrolled into one
    circuit for whole sequences, or, with --state, becomes the circuit of one step.

    Example:

    ```
    hardwire circuit build digits.safetensors digits.circuit
    hardwire circuit build loop.safetensors loop.circuit --state
    ```
    """
    from hardwire.circuit.evaluate import describe_accuracy, test_set

    path, output = output_path(out, to), Output()
    circuit = open_step(model, cell) if state or cell else open_circuit(model)
    dataset = None if circuit.state is not None else dataset_for(circuit, data)
    if dataset is not None:
        circuit = circuit.tested(dataset, data)
        images, labels = test_set(dataset)
        accuracy = describe_accuracy(circuit, circuit.predict(images), labels)
        output.line(f"{accuracy} on the test set of {circuit.provenance.dataset}")
    if simplified:
        circuit = simplify_and_report(circuit, output)
    circuit.save(path)
    output.line(f"wrote {path}: {circuit}")


@app.command("list")
def list_circuits(json: Json = False) -> None:
    """List the trained circuits that come with the package; every command on circuits knows them by name.

    Example:

    ```
    hardwire circuit list
    hardwire circuit export digits-1k digits.c
    ```
    """
    from rich.table import Table

    from hardwire import zoo

    output, entries = Output(json), zoo.entries()
    table = Table(box=None, header_style="bold")
    for heading in ("circuit", "data", "test %", "gates", "recipe", "network"):
        justify: Literal["left", "right"] = "right" if heading in ("test %", "gates") else "left"
        table.add_column(heading, justify=justify, no_wrap=heading != "network")
    for entry in entries:
        table.add_row(
            entry.name, entry.data, f"{100 * entry.accuracy:.2f}", f"{entry.gates:,}", entry.recipe, entry.title
        )
    output.console.print(table)
    output.document(entries)


@app.command()
def simplify(
    file: Model,
    out: OutArgument = None,
    rewrite: Annotated[bool, typer.Option("--rewrite", help="Rewrite the AIG as well (needs aigverse).")] = False,
    dont_cares: Annotated[
        bool,
        typer.Option(
            "--dont-cares", help="Rely on the order of the encoder's bits; the circuit is then right only behind it."
        ),
    ] = False,
    to: OutOption = None,
) -> None:
    """Remove gates without changing the function, and prove it.

    Example:

    ```
    hardwire circuit simplify digits.circuit smaller.circuit --rewrite
    ```
    """
    path, output = output_path(out, to), Output()
    circuit = simplify_and_report(open_circuit(file), output, rewrite, dont_cares)
    circuit.save(path)
    output.line(f"wrote {path}: {circuit}")


@app.command()
def shrink(
    file: Model,
    out: OutArgument = None,
    tolerance: Annotated[float, typer.Option(help="Training accuracy that may be lost, as a share.")] = 0.001,
    data: TestData = None,
    to: OutOption = None,
) -> None:
    """Trade a little accuracy for fewer gates: remove those that rarely change a decision on the training set.

    Example:

    ```
    hardwire circuit shrink digits.circuit smaller.circuit --tolerance 0.005
    ```
    """
    from hardwire.errors import HardwireError

    path, output = output_path(out, to), Output()
    circuit = open_circuit(file)
    dataset = dataset_for(circuit, data)
    if dataset is None:
        raise HardwireError("shrinking needs the training data, to see which gates matter; name it with --data")
    with steps("shrinking") as step:
        smaller, report = circuit.shrink(dataset, tolerance=tolerance, progress=step)
    rows = [[name, f"{100 * before:.2f}", f"{100 * after:.2f}"] for name, (before, after) in report.accuracies.items()]
    output.table(["accuracy, %", "before", "after"], rows)
    smaller.save(path)
    output.line(f"{report.gates[0]:,} gates -> {report.gates[1]:,}; wrote {path}: {smaller}")


@app.command()
def stats(file: Model, json: Json = False) -> None:
    """Count gates by type or tables by inputs, depth, fan-out, dead nodes, and the thresholds of the encoder.

    Example:

    ```
    hardwire circuit stats digits.circuit
    ```
    """
    output, numbers = Output(json), open_circuit(file).statistics()
    rows = [
        ["inputs (unused)", f"{numbers.inputs:,} ({numbers.unused_inputs:,})"],
        ["outputs, classes", f"{numbers.outputs:,}, {numbers.classes:,}"],
        [f"{numbers.made_of} (dead)", f"{numbers.gates:,} ({numbers.dead:,})"],
        *([["of both, registers", f"{numbers.registers:,}"]] if numbers.registers else []),
        *([["two-input gates of the same", f"{numbers.two_input:,}"]] if numbers.made_of == "tables" else []),
        *([["thresholds compared with", f"{numbers.thresholds:,}"]] if numbers.thresholds is not None else []),
        ["depth", f"{numbers.depth:,}"],
        ["fan-out, mean and highest", f"{numbers.mean_fan_out:.2f}, {numbers.max_fan_out:,}"],
        *([f"  {name}", f"{count:,}"] for name, count in numbers.by_type.items()),
    ]
    output.table(["", ""], rows)
    output.document(numbers)


@app.command()
def verify(
    model: Model,
    file: Annotated[Path, typer.Argument(help="The exported file: .c .wasm .v .aig .aag .blif, or a circuit file.")],
    data: TestData = None,
    raw: Raw = None,
    time_steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            help="For a circuit with state: steps from reset to compare as yosys or ABC reads FILE. [default: up to 8]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check that an exported FILE computes what MODEL computes. Exit code 1 and a counterexample if not.

    FILE may come from a stranger. C is never compiled or run: its text is compared with what `export` writes, and its
    gates are proven equal. WebAssembly runs in a sandbox without imports, with bounded memory and instructions.
    Verilog and BLIF that refer to other files are refused; yosys and ABC read the rest with bounded memory and time,
    but without a sandbox.

    Of a circuit with state, the registers after reset are compared, one step is proven, and the first steps from reset
    are compared once more as yosys or ABC reads the file.

    Example:

    ```
    hardwire circuit verify digits.circuit digits.c
    ```
    """
    from hardwire.circuit.verify import images_of

    output, circuit = Output(json), open_circuit(model)
    dataset = None if circuit.state is not None and data is None else dataset_for(circuit, data)
    images = None if dataset is None else images_of(circuit, dataset)
    with steps("verifying") as step:
        answer = circuit.verify(file, images, raw=raw, steps=time_steps, progress=step)
    output.line(str(answer))
    output.document({"model": model, "file": file} | vars(answer))
    if not answer.equal:
        raise typer.Exit(1)


app.command()(circuit_run.run)
app.command()(circuit_export.export)
app.command()(circuit_fpga.estimate)
app.command()(circuit_fpga.place)
