"""`hardwire gap`: how much of what training promised the circuit keeps, and where it is lost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwire.cli.options import Data, Threads
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from rich.table import Table

    from hardwire.data import Dataset
    from hardwire.measure import NodeGap
    from hardwire.network import LogicNetwork


def gap(
    model: Annotated[Path, typer.Argument(help="A model file, as `hardwire train` writes it.")],
    data: Data = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in each forward pass.")] = 1000,
    threads: Threads = None,
) -> None:
    """Measure the gap between training and the deployed circuit.

    Three accuracies on the test set: with the method's own forward pass (A^M), with one gate a neuron (A^soft), and
    with that gate on hard bits (A^hard), which is the circuit. Then, for each layer, how decided its neurons are, and
    the mean distance between a neuron in training and its deployed gate beside the bound the theory gives.
    """
    import hardwire as hw
    from hardwire.cli import report
    from hardwire.models import trained_on

    report.set_threads(threads)
    net = hw.load(model)
    name = data or _trained_on(model)
    rows = hw.data.load(name, like=net, whole=name != trained_on(model))
    _check_fit(model, net, rows)
    console = report.console()
    console.print(
        f"{model}: {net.method}, {sum(net.widths):,} gates, on the {len(rows.test):,} test rows of {rows.name}"
    )
    console.print(report.accuracies(hw.measure_gap(net, rows.test, batch_size=batch_size), rows.number is not None))
    console.print(report.layers(net))
    console.print(_nodes(hw.node_gaps(net, rows.test.x[:batch_size])))


def _trained_on(model: Path) -> str:
    from hardwire.models import trained_on

    name = trained_on(model)
    if name is None:
        raise HardwireError(f"{model} does not say what it was trained on; say it: hardwire gap {model} --data DATASET")
    return name


def _check_fit(model: Path, net: "LogicNetwork", data: "Dataset") -> None:
    if (net.inputs, net.classes) != (data.inputs, data.classes):
        raise HardwireError(
            f"{model} reads {net.inputs} inputs and tells {net.classes} classes apart, but {data.name} has "
            f"{data.inputs} and {data.classes}; name the dataset it was trained on"
        )


def _nodes(gaps: "list[NodeGap]") -> "Table":
    from rich.table import Table

    table = Table(title="Neurons in training beside their deployed gate: |difference of outputs|", title_justify="left")
    for header in ("layer", "mean", "bound on it", "largest", "bound on it", "above the bound"):
        table.add_column(header, justify="right")
    for number, node in enumerate(gaps, start=1):
        values = (node.actual_mean, node.bound_mean, node.actual_max, node.bound_max)
        table.add_row(str(number), *(f"{value:.4f}" for value in values), f"{node.violations:,}")
    return table
