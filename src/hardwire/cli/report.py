"""What several commands print: accuracies with their gaps, layers with their gates, the settings of a run.

Accuracies are per cent and gaps are percentage points, always of the test set.
"""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

from hardwire.gates import GATE_NAMES

if TYPE_CHECKING:
    from hardwire.data import Dataset
    from hardwire.measure import Gap
    from hardwire.network import LogicNetwork
    from hardwire.training import Record
    from hardwire.training.settings import Job


def console() -> Console:
    return Console(highlight=False)


def percent(accuracy: float) -> str:
    return f"{100 * accuracy:.1f}"


def points(gap: float) -> str:
    """A gap in percentage points, with its sign; zero has none."""
    return f"{100 * gap:+.1f}" if gap else "0"


def program() -> str:
    """How to call hardwire from this folder: by its name where the shell finds it, else by its path."""
    script = Path(sys.executable).with_name("hardwire")
    if shutil.which("hardwire") or not script.exists():
        return "hardwire"
    return str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script)


def set_threads(threads: int | None) -> None:
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def settings(job: "Job") -> Table:
    """What is about to be run, line by line."""
    import torch

    from hardwire.temperature import CAGE

    settings, data, net = job.settings, job.data, job.net
    cage = isinstance(net.selector.temperature, CAGE)
    shape = " + ".join(f"{width:,}" for width in net.widths)
    rows, batch = data.with_validation() if settings.validation else data, f"batch size {settings.batch_size}"
    held_out = f", {len(rows.validation):,} to choose on" if settings.validation else ""
    batch += f" times {settings.accumulate}" if settings.accumulate > 1 else ""
    length = f"{settings.iterations:,} iterations" if settings.epochs is None else f"{settings.epochs:g} epochs"
    lines = {
        "data": f"{data.name}: {len(rows.train):,} training and {len(data.test):,} test rows{held_out}, of "
        f"{data.inputs:,} inputs, {_target(data)}",
        "network": f"{shape} gates, {net.method} with {'CAGE' if cage else f'tau {net.tau:g}'}",
        "training": f"{length}, {batch}, Adam at {settings.lr:g}, seed {settings.seed}",
        "engine": f"{net.engine_name(data.train.x)}, {torch.get_num_threads()} threads",
        "model": job.out,
        "checkpoint": job.checkpoint,
    }
    table = Table("name", Column("value", overflow="fold"), show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in lines.items():
        table.add_row(f"[bold]{name}", str(value))
    return table


def _target(data: "Dataset") -> str:
    named = f" of {data.columns.target}" if data.columns is not None else ""
    if data.number is None:
        return f"{data.classes} classes{named}"
    return f"a number{named} from {data.number[0]:g} to {data.number[1]:g}"


def accuracies(gap: "Gap | Record", number: bool = False) -> Table:
    """The three accuracies and what is lost between them; `gap` is a Gap or a Record of a history. number: they are
    mean squared errors."""
    show, cost = (_plain, _plain_gap) if number else (percent, points)
    name = "squared error" if number else "accuracy"
    table = Table(title=f"Test {name}, and what is lost on the way to the circuit", title_justify="left")
    table.add_column("pass")
    table.add_column(name if number else "accuracy %", justify="right")
    table.add_column("gap", justify="right")
    table.add_column("what it is")
    table.add_row("A^M", show(gap.method), "", "the method's own pass: what training sees")
    table.add_row("A^soft", show(gap.argmax), cost(gap.selection), "one gate a neuron: the selection gap")
    table.add_row("A^hard", f"[bold]{show(gap.deploy)}", cost(gap.computation), "on hard bits: the computation gap")
    table.add_section()
    table.add_row("[bold]in all", "", f"[bold]{cost(gap.total)}", "from what training sees to what is deployed")
    return table


def _plain(error: float) -> str:
    return f"{error:.5g}"


def _plain_gap(gap: float) -> str:
    return f"{gap:+.4g}" if gap else "0"


def layers(net: "LogicNetwork") -> Table:
    """One row a layer: its size, how decided its neurons are, and the gates they chose most."""
    from hardwire.measure import commitment, gate_usage

    table = Table(title="Layers", title_justify="left")
    table.add_column("layer", justify="right")
    table.add_column("gates", justify="right")
    table.add_column("commitment %", justify="right")
    table.add_column("chosen most (% of the layer)")
    rows = zip(net.widths, commitment(net), gate_usage(net), strict=True)
    for number, (width, committed, usage) in enumerate(rows, start=1):
        shares = sorted(zip(usage.tolist(), GATE_NAMES, strict=True), reverse=True)[:4]
        top = "  ".join(f"{name} {100 * share:.0f}" for share, name in shares)
        table.add_row(str(number), f"{width:,}", percent(committed), top)
    return table
