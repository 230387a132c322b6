"""What the commands on circuits share: their arguments, opening files, finding the data, simplifying with a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwire.cli import completion
from hardwire.cli.output import Output
from hardwire.cli.progress import steps
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit import Circuit
    from hardwire.data import Dataset

OutArgument = Annotated[Path | None, typer.Argument(help="The circuit file to write, here or after -o.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write, instead of the argument.")]
Raw = Annotated[
    str | None,
    typer.Option(
        help="What the file reads: bits, bytes, int8, int16, int32, floats. [default: what the model reads]",
        autocompletion=completion.raw_kinds,
    ),
]
Pipeline = Annotated[float | None, typer.Option(help="Verilog: put registers after this many levels of logic.")]


def output_path(argument: Path | None, option: Path | None) -> Path:
    """The file to write, which must be named exactly once: as an argument or after -o."""
    given = [path for path in (argument, option) if path is not None]
    if len(given) != 1:
        raise HardwireError("name the file to write once: as the last argument, or after -o")
    return given[0]


def open_circuit(path: Path) -> "Circuit":
    """The circuit of a circuit file or a model file, or one that comes with the package."""
    from hardwire.zoo import load_circuit

    return load_circuit(path)


def open_step(path: Path, cell: bool) -> "Circuit":
    """The circuit of one step of the loop in a model file, or of one cell of an automaton."""
    from hardwire.circuit import Circuit
    from hardwire.circuit.file import is_model_file
    from hardwire.models import load

    if not is_model_file(path):
        raise HardwireError(f"{path} is no model file; --state and --cell make circuits of trained models")
    net = load(path)
    return Circuit.from_automaton(net) if cell else Circuit.from_loop(net)


def dataset_for(circuit: "Circuit", data: str | None) -> "Dataset | None":
    """The dataset that was asked for, or else the one the circuit was trained on, if it is known and can be loaded."""
    from hardwire.data import load

    trained_on = circuit.provenance.dataset
    if data is not None:
        return load(data, like=circuit, whole=data != trained_on)
    if trained_on is None:
        return None
    try:
        return load(trained_on, like=circuit)
    except (HardwireError, ModuleNotFoundError) as error:  # the latter if only the packages for circuits are installed
        typer.echo(f"going on without the data it was trained on: {error}", err=True)
        return None


def simplify_and_report(
    circuit: "Circuit", output: Output, rewrite: bool = False, dont_cares: bool = False
) -> "Circuit":
    """Simplifies a circuit and prints how much smaller it is and how that was proven."""
    from hardwire.circuit.passes import simplify as run_passes

    if circuit.state is not None:
        with steps("simplifying") as step:
            simplified = circuit.simplify(rewrite=rewrite, dont_cares=dont_cares, progress=step)
        assert simplified.state is not None
        output.line(
            f"{circuit.gates.size:,} gates, {circuit.state.bits:,} registers -> {simplified.gates.size:,} gates, "
            f"{simplified.state.bits:,} registers; proven equal step by step"
        )
        return simplified
    with steps("simplifying") as step:
        simplified, report = run_passes(circuit, rewrite=rewrite, dont_cares=dont_cares, progress=step)
    output.line(f"{circuit.netlist.size:,} {circuit.netlist.made_of} -> {simplified.netlist.size:,}; {report.proof}")
    return simplified
