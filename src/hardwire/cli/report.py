"""What several commands print: accuracies with their gaps, layers with their gates, the settings of a run.

Accuracies are in percent and gaps in percentage points, always on the test set.
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table

from hardwire.gates import GATE_ARITY, GATE_NAMES

if TYPE_CHECKING:
    from hardwire.data import Dataset
    from hardwire.measure import Gap
    from hardwire.network import LogicNetwork
    from hardwire.training import Record
    from hardwire.training.job import TrainingJob
    from hardwire.training.settings import Settings


def percent(accuracy: float) -> str:
    """An accuracy in percent, with one digit."""
    return f"{100 * accuracy:.1f}"


def points(gap: float) -> str:
    """A gap in percentage points, with its sign; zero has none."""
    return f"{100 * gap:+.1f}" if gap else "0"


def program() -> str:
    """How to call hardwire from this folder: by name if the shell finds it, else by its path."""
    script = Path(sys.executable).with_name("hardwire")
    if shutil.which("hardwire") or not script.exists():
        return "hardwire"
    return str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script)


def set_threads(threads: int | None) -> None:
    """Sets the number of threads that training and measuring use; None leaves it."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def settings(job: "TrainingJob") -> Table:
    """The settings of a run, line by line."""
    import torch

    settings, data, net = job.settings, job.data, job.net
    shape = " + ".join(f"{width:,}" for width in layer_widths(net))
    neurons = "gates" if settings.arity is None else f"tables of {settings.arity} inputs"
    rows, batch = data.with_validation() if settings.validation else data, f"batch size {settings.batch_size}"
    held_out = f", {len(rows.validation):,} to choose on" if settings.validation else ""
    batch += f" times {settings.accumulate}" if settings.accumulate > 1 else ""
    length = f"{settings.iterations:,} iterations" if settings.epochs is None else f"{settings.epochs:g} epochs"
    lines = {
        "data": f"{data.name}: {len(rows.train):,} training and {len(data.test):,} test rows{held_out}, of "
        f"{data.inputs:,} inputs, {_target(data)}",
        "network": f"{_loop(job)}{shape} {neurons}, {_method(net)}, {_wires(job)}",
        "training": f"{length}, {batch}, Adam at {settings.lr:g}{_extras(settings)}, seed {settings.seed}",
        "engine": f"{net.engine_name(data.train.x)}, {_count(torch.get_num_threads(), 'thread')}",
        "model": job.out,
        "checkpoint": ", ".join(map(str, job.checkpoints)),
    }
    table = Table("name", Column("value", overflow="fold"), show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in lines.items():
        table.add_row(f"[bold]{name}", str(value))
    return table


def layer_widths(net: "LogicNetwork") -> list[int]:
    """The neurons of each layer; of a loop those of each layer of its cell."""
    from hardwire.layers import Recurrent

    return [
        inner.neurons for layer in net.layers for inner in (layer.cell if isinstance(layer, Recurrent) else [layer])
    ]


def _loop(job: "TrainingJob") -> str:
    """The loop in words, if there is one."""
    from hardwire.layers import Recurrent

    first = job.net.layers[0]
    if not isinstance(first, Recurrent):
        return ""
    shorter = job.settings.loop.get("curriculum") if job.settings.loop is not None else None
    after = f" after {', '.join(map(str, shorter))}" if shorter else ""
    return f"{first.steps} steps{after} of {first.bits} bits, {first.state} bits of state, a cell of "


def method_title(net: "LogicNetwork") -> str:
    """The method of a network as the paper writes it, with CAGE if it has one."""
    from hardwire import selection

    return selection.method_name(net.method + ("+cage" if _has_cage(net) else ""))


def _method(net: "LogicNetwork") -> str:
    return method_title(net) if _has_cage(net) else f"{method_title(net)} at tau {net.tau:g}"


def _wires(job: "TrainingJob") -> str:
    """The wiring in words."""
    from hardwire.layers import Recurrent

    settings = job.settings
    if settings.layers:
        return f"{len(settings.layers)} layers of its recipe"
    if settings.wiring != "learned":
        first = job.net.layers[0]
        layer = first.cell[0] if isinstance(first, Recurrent) else first
        return f"{layer.config()['wiring']} wires"
    of = f" among {settings.candidates} candidates" if settings.candidates else ""
    redrawn = (
        f", redrawn every {settings.redraw.get('every', 250)} steps" if isinstance(settings.redraw, Mapping) else ""
    )
    return f"wires learned{of}{redrawn}"


def _extras(settings: "Settings") -> str:
    """Schedule and augmentation in words, if there are any."""
    text = {"cosine": " along a cosine", "cooldown": " with a cooldown"}.get(settings.schedule, "")
    if shift := settings.augment.get("shift"):
        text += f", images shifted by up to {shift} pixels"
    return text + (", half of the images mirrored" if settings.augment.get("flip") else "")


def _has_cage(net: "LogicNetwork") -> bool:
    from hardwire.temperature import CAGE

    return isinstance(net.selector.temperature, CAGE)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _target(data: "Dataset") -> str:
    named = f" of {data.columns.target}" if data.columns is not None else ""
    if data.number is None:
        return f"{data.classes} classes{named}"
    return f"a number{named} from {data.number[0]:g} to {data.number[1]:g}"


def accuracies(gap: "Gap | Record", number: bool = False) -> Table:
    """The three accuracies and what is lost between them; number: they are mean squared errors instead."""
    show, cost = (_plain, _plain_gap) if number else (percent, points)
    name = "squared error" if number else "accuracy"
    table = Table(title=f"Test {name}, and what is lost between training and the circuit", title_justify="left")
    table.add_column("pass")
    table.add_column(name if number else "accuracy %", justify="right")
    table.add_column("gap", justify="right")
    table.add_column("what it is")
    table.add_row("A^M", show(gap.method), "", "the method's own forward pass, as in training")
    table.add_row("A^soft", show(gap.argmax), cost(gap.selection), "one gate per neuron (selection gap)")
    table.add_row(
        "A^hard", f"[bold]{show(gap.deploy)}", cost(gap.computation), "that gate on bits: the circuit (computation gap)"
    )
    table.add_section()
    table.add_row("[bold]total", "", f"[bold]{cost(gap.total)}", "from training to the deployed circuit")
    return table


def _plain(error: float) -> str:
    return f"{error:.5g}"


def _plain_gap(gap: float) -> str:
    return f"{gap:+.4g}" if gap else "0"


def layers(net: "LogicNetwork") -> Table:
    """One row per layer: its size, the commitment of its neurons, and the gates they chose most often."""
    table = Table(title="Layers", title_justify="left")
    table.add_column("layer", justify="right")
    table.add_column("neurons", justify="right")
    table.add_column("commitment %", justify="right")
    table.add_column("most frequent gates (% of the layer)")
    for number, (width, committed, arity, usage) in enumerate(_chosen(net), start=1):
        shares = sorted(((share, name) for name, share in usage.items()), reverse=True)[:4]
        top = "  ".join(f"{name} {100 * share:.0f}" for share, name in shares)
        table.add_row(str(number), f"{width:,}", percent(committed), top or f"tables of {arity} inputs")
    return table


def _chosen(net: "LogicNetwork") -> Iterator[tuple[int, float, int, dict[str, float]]]:
    """(neurons, commitment, inputs of a neuron, share of each gate) of every layer; tables have no shares."""
    from hardwire.measure import commitment, gate_levels, gate_usage, parts_in

    usage = iter(gate_usage(net).tolist() if gate_levels(net) else [])
    for part, committed in zip(parts_in(net), commitment(net), strict=True):
        arity = part.level.arity
        shares = dict(zip(GATE_NAMES, next(usage), strict=True)) if arity == GATE_ARITY else {}
        yield part.level.neurons, committed, arity, shares


def gap_numbers(gap: "Gap | Record") -> dict[str, float]:
    """The accuracies and gaps as fractions, for JSON, by the names that `hw.measure_gap` gives them."""
    names = ("method", "argmax", "deploy", "selection", "computation", "total")
    return {name: float(getattr(gap, name)) for name in names}


def layer_numbers(net: "LogicNetwork") -> list[dict[str, Any]]:
    """The layers for JSON: neurons, commitment, and of two-input neurons the share of each gate."""
    return [
        {"gates": width, "commitment": committed} | ({"usage": usage} if usage else {"arity": arity})
        for width, committed, arity, usage in _chosen(net)
    ]
