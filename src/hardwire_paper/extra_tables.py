"""Tables that the paper does not have: an overview, deployed accuracy, training rows and test rows, the same logits in
other passes, and the computation gap of each method.
"""

from hardwire.selection import METHOD_VARIANTS, METHODS
from hardwire.study.reporting.table import Cells, Table
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import SampleMean, table
from hardwire_paper.names import dataset_name, method_name, tau_name
from hardwire_paper.runs import FAILURE_RULE, SeedRuns


def overview(group: RunGroup) -> Table:
    """Returns a row for each method and tau: what it trains at, what it deploys at, and the gap."""
    rows: list[Cells] = []
    for method in group.methods:
        for tau, cell in group.over_taus(method, group.main_depth).items():
            gaps = (cell.final("selection"), cell.late_extreme("selection"))
            numbers = [_spread(cell, "method"), _spread(cell, "deploy"), *map(_signed, gaps)]
            rows.append([method_name(method), "" if METHOD_VARIANTS[method][1] else f"{tau:g}", *numbers])
    return table(
        "what-was-run",
        group.words,
        ["Method", "τ", "Trains at (%)", "Deploys at (%)", "Gap at the end", "Largest gap, last 80%"],
        rows,
        notes=[
            "Accuracy on the test set, mean over seeds ± standard deviation: of the pass that trains, and of the "
            "circuit. Gap: the selection gap in points. CAGE uses no τ: its rows are repeated runs.",
            FAILURE_RULE,
        ],
    )


def deployed_accuracy(group: RunGroup) -> Table:
    """Returns final deployed accuracy by method and tau, with its spread over seeds."""
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


def training_accuracy(group: RunGroup) -> Table | None:
    """Returns accuracy on training rows and on test rows, if it was measured."""
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


def other_forwards(group: RunGroup) -> Table | None:
    """Returns how far each of the four methods' passes is from the argmax network, on the same trained logits."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        for tau, cell in group.over_taus(method, depth).items():
            once = [run.measurements for run in cell.runs if _has_forwards(run.measurements)]
            if once:
                gaps = [[100 * (m[f"forward.{name}"] - m["forward.argmax"]) for m in once] for name in METHODS]
                rows.append(
                    [method_name(method), f"{tau:g}", *(f"{SampleMean.of(values).value:+.1f}" for values in gaps)]
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


def computation_gap(group: RunGroup) -> Table | None:
    """Returns the computation gap of each method, on continuous inputs."""
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


def _spread(cell: SeedRuns, name: str, digits: int = 1) -> str:
    values = cell.finals(name)
    mean = SampleMean.of(values)
    deviation = f" ± {mean.error * len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{mean.value:.{digits}f}{deviation}{cell.mark}"


def _signed(gap: float) -> str:
    return "0" if gap == 0 else f"{round(gap, 1) + 0.0:+.1f}"


def _has_forwards(measurements: dict[str, float]) -> bool:
    return all(f"forward.{name}" in measurements for name in ("argmax", *METHODS))
