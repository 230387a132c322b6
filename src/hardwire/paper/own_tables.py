"""Tables that the paper does not have: deployed accuracy, training rows beside test rows, the same logits in other
passes, and the computation gap of each method.
"""

from hardwire.paper.groups import FAILURE_RULE, Cell, Group
from hardwire.paper.judging import Measured, table
from hardwire.paper.names import dataset_name, method_name, tau_name
from hardwire.selection import METHODS
from hardwire.study.reporting.table import Entry, Table

Cells = list[Entry | str | int]


def deployed_accuracy(group: Group) -> Table:
    """Final deployed accuracy by method and tau, its seeds and their spread."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        cells = [group.get(method, depth, tau) for tau in group.taus]
        rows.append([method_name(method), *("" if cell is None else _spread(cell, "deploy") for cell in cells)])
    return table(
        f"accuracy-{group.name}",
        f"Deployed accuracy (%) on {dataset_name(group.dataset)}, L={depth}",
        ["Method", *map(tau_name, group.taus)],
        rows,
        notes=["A^hard on the test set at the end: mean over seeds ± standard deviation.", FAILURE_RULE],
    )


def training_accuracy(group: Group) -> Table | None:
    """Accuracy on training rows beside that on test rows, where it was measured."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        for tau, cell in group.over_taus(method, depth).items():
            if cell.has("train_method"):
                passes = ("train_method", "method", "train_deploy", "deploy")
                rows.append([method_name(method), f"{tau:g}", *(_spread(cell, name) for name in passes)])
    if not rows:
        return None
    return table(
        f"train-accuracy-{group.name}",
        f"Accuracy (%) on training and test rows, {dataset_name(group.dataset)}, L={depth}",
        ["Method", "τ", "A^M, training rows", "A^M, test rows", "A^hard, training rows", "A^hard, test rows"],
        rows,
        notes=[
            "At the end, mean over seeds ± standard deviation. Training rows: the first 10,000 of the training set."
        ],
    )


def other_forwards(group: Group) -> Table | None:
    """The same trained logits under the four methods' passes: how far each is from the argmax network."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        for tau, cell in group.over_taus(method, depth).items():
            found = [run.measurements for run in cell.runs if "forward.argmax" in run.measurements]
            if found:
                gaps = [[100 * (m[f"forward.{name}"] - m["forward.argmax"]) for m in found] for name in METHODS]
                rows.append(
                    [method_name(method), f"{tau:g}", *(f"{Measured.of(values).value:+.1f}" for values in gaps)]
                )
    if not rows:
        return None
    return table(
        f"other-forwards-{group.name}",
        f"The same logits, another pass: its accuracy less A^soft (points), {dataset_name(group.dataset)}, L={depth}",
        ["Trained by", "τ", *(f"as {method_name(name)}" for name in METHODS)],
        rows,
        where="The experiment behind the paper's critique of Hessian regularisation, on one network instead of two.",
        notes=[
            "On 2,000 test rows at the end of training, at the run's own τ; the two noisy passes share their draws."
        ],
    )


def computation_gap(group: Group) -> Table | None:
    """The computation gap of each method, on continuous inputs."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        cells = [group.get(method, depth, tau) for tau in group.taus]
        shown = ["" if cell is None else _spread(cell, "computation", digits=2) for cell in cells]
        rows.append([method_name(method), *shown])
    finals = [value for cell in group.cells.values() for value in cell.finals("computation")]
    if not any(finals):
        return None
    return table(
        f"computation-gap-{group.name}",
        f"Computation gap A^soft - A^hard (points) on {dataset_name(group.dataset)}, L={depth}",
        ["Method", *map(tau_name, group.taus)],
        rows,
        where="The paper says that it is identical across all methods.",
        notes=["At the end, mean over seeds ± standard deviation.", FAILURE_RULE],
    )


def _spread(cell: Cell, name: str, digits: int = 1) -> str:
    values = cell.finals(name)
    found = Measured.of(values)
    deviation = f" ± {found.error * len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{found.value:.{digits}f}{deviation}{cell.mark}"
