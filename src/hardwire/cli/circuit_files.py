"""What the commands on circuits share: opening files, simplifying aloud, tables and progress lines."""

import contextlib
from pathlib import Path

import typer


def open_circuit(path: Path):
    """The circuit in a circuit file, or that of a model file."""
    from hardwire.circuit import Circuit
    from hardwire.circuit.file import is_circuit_file
    from hardwire.errors import HardwireError

    if not path.is_file():
        raise HardwireError(f"cannot read {path}: no such file")
    if is_circuit_file(path):
        return Circuit.load(path)
    import hardwire

    return Circuit.from_network(hardwire.load(path))


def trained_on(path: Path) -> str | None:
    """The dataset that a model file names; a circuit file names none."""
    from hardwire.circuit.file import is_circuit_file

    if is_circuit_file(path):
        return None
    from hardwire.models import trained_on as named

    return named(path)


def simplify_aloud(circuit, rewrite: bool):
    from hardwire.circuit.passes import simplify as run_passes

    with steps("simplifying") as say:
        simplified, report = run_passes(circuit, rewrite=rewrite, progress=say)
    typer.echo(f"{len(circuit.netlist.gate):,} gates -> {len(simplified.netlist.gate):,}; {report.proof}")
    return simplified


def table_of(*headers: str):
    from rich.table import Table

    table = Table(show_header=any(headers))
    for i, header in enumerate(headers):
        table.add_column(header, justify="right" if i else "left", no_wrap=True)
    return table


@contextlib.contextmanager
def steps(what: str):
    """A progress line on the terminal while something takes its time; gives a function that names the step."""
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda step: status.update(f"{what}: {step}")
