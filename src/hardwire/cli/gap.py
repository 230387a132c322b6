"""`hardwire gap`: the accuracy that training shows, the accuracy of the circuit, and what is lost between them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwire.cli.completion import trained
from hardwire.cli.options import Data, Threads
from hardwire.cli.output import Json, Output
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from rich.table import Table

    from hardwire.data import Dataset
    from hardwire.measure import NodeGap
    from hardwire.network import LogicNetwork


def gap(
    model: Annotated[Path, typer.Argument(help="A model file, as `hardwire train` writes it.", autocompletion=trained)],
    data: Data = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in each forward pass.")] = 1000,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure the gap between the network in training and the deployed circuit.

    Three accuracies on the test set: of the method's own forward pass (A^M), of one gate per neuron (A^soft), and of
    that gate on bits (A^hard), which is the circuit. Then, for each layer, how committed its neurons are, and the mean
    difference between a neuron in training and its deployed gate, next to the bound that the theory gives.

    Example:

    ```
    hardwire gap digits.safetensors --data digits
    ```
    """
    import hardwire as hw
    from hardwire import models
    from hardwire.cli import report
    from hardwire.models import trained_on

    output = Output(json)
    report.set_threads(threads)
    net = models.load(model)
    name = data or _trained_on(model)
    rows = hw.data.load(name, like=net, whole=name != trained_on(model))
    _check_fit(model, net, rows)
    gates, method = sum(report.layer_widths(net)), report.method_title(net)
    output.line(f"{model}: {method}, {gates:,} gates, on the {len(rows.test):,} test rows of {rows.name}")
    measured = hw.measure_gap(net, rows.test, batch_size=batch_size)
    nodes = hw.node_gaps(net, rows.test.x[:batch_size])
    output.console.print(report.accuracies(measured, rows.number is not None), report.layers(net), _nodes(nodes))
    output.document(
        {
            "model": model,
            "method": method,
            "gates": gates,
            "data": rows.name,
            "rows": len(rows.test),
            "measure": "squared error" if rows.number is not None else "accuracy",
            "gap": report.gap_numbers(measured),
            "layers": [
                {**layer, "difference": node} for layer, node in zip(report.layer_numbers(net), nodes, strict=True)
            ],
        }
    )


def _trained_on(model: Path) -> str:
    from hardwire.models import trained_on

    name = trained_on(model)
    if name is None:
        raise HardwireError(
            f"{model} does not say what it was trained on; name the data: hardwire gap {model} --data DATASET"
        )
    return name


def _check_fit(model: Path, net: "LogicNetwork", data: "Dataset") -> None:
    if (net.inputs, net.classes) != (data.inputs, data.classes):
        raise HardwireError(
            f"{model} has {net.inputs} inputs and {net.classes} classes, but {data.name} has {data.inputs} and "
            f"{data.classes}; name the dataset it was trained on"
        )


def _nodes(gaps: "list[NodeGap]") -> "Table":
    from rich.table import Table

    table = Table(title="How far neurons in training are from their deployed gates", title_justify="left")
    for header in ("layer", "mean", "bound", "largest", "bound", "above the bound"):
        table.add_column(header, justify="right")
    for number, node in enumerate(gaps, start=1):
        values = (node.actual_mean, node.bound_mean, node.actual_max, node.bound_max)
        table.add_row(str(number), *(f"{value:.4f}" for value in values), f"{node.violations:,}")
    return table
