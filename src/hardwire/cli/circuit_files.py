"""What the commands on circuits share: opening files, simplifying aloud, tables and progress lines."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hardwire.errors import HardwireError

PATIENCE = 1.0  # seconds after which a log is told what takes so long

if TYPE_CHECKING:
    from hardwire.circuit import Circuit
    from hardwire.data import Dataset


def one_target(argument: Path | None, option: Path | None) -> Path:
    """The file to write, which is named once: as an argument or behind -o."""
    given = [path for path in (argument, option) if path is not None]
    if len(given) != 1:
        raise HardwireError("name the file to write once: as the last argument, or behind -o")
    return given[0]


def open_circuit(path: Path) -> "Circuit":
    from hardwire.circuit import Circuit

    return Circuit.load(path)


def dataset_for(circuit: "Circuit", data: str | None) -> "Dataset | None":
    """The dataset that is asked for, or else what the circuit was trained on, if that is known and can be loaded."""
    from hardwire.data import load
    from hardwire.errors import HardwireError

    if data is not None:
        return load(data, like=circuit, whole=data != circuit.about.dataset)
    if circuit.about.dataset is None:
        return None
    try:
        return load(circuit.about.dataset, like=circuit)
    except (HardwireError, ModuleNotFoundError) as error:  # of what only training needs
        typer.echo(f"without the data that it was trained on: {error}", err=True)
        return None


def simplify_aloud(circuit: "Circuit", rewrite: bool, dont_cares: bool = False) -> "Circuit":
    from hardwire.circuit.passes import simplify as run_passes

    with steps("simplifying") as say:
        simplified, report = run_passes(circuit, rewrite=rewrite, dont_cares=dont_cares, progress=say)
    typer.echo(f"{len(circuit.netlist.gate):,} gates -> {len(simplified.netlist.gate):,}; {report.proof}")
    return simplified


def print_table(headers: list[str], rows: list[list[str]]) -> None:
    """Numbers to the right of what they count; no headers where all are empty."""
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=any(headers))
    for i, header in enumerate(headers):
        table.add_column(header, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


@contextlib.contextmanager
def steps(what: str) -> Iterator[Callable[[str], None]]:
    """While something takes its time: gives a function that names the step. A terminal shows it as one live line; a log
    has a line for every step that takes longer than a second, with the seconds so far."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(what) as status:
            yield lambda step: status.update(f"{what}: {step}")
        return
    start, waiting = time.monotonic(), threading.Timer(0, int)

    def say(step: str) -> None:
        nonlocal waiting
        waiting.cancel()
        line = f"{what}: {step} ({time.monotonic() - start:.0f} s)"
        waiting = threading.Timer(PATIENCE, typer.echo, [line], {"err": True})
        waiting.daemon = True
        waiting.start()

    try:
        yield say
    finally:
        waiting.cancel()
