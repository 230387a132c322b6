"""The paper's tables of results, from finished runs: selection gap, robustness, cross-dataset, trajectories, settings.

Everything is in percentage points, as in the paper. Accuracy means deployed accuracy (A^hard): at tau 0.05 the paper's
Gumbel-ST has 51.0 with a gap of -40, which leaves chance for the method's own pass.
"""

import statistics

from hardwire.study import paper
from hardwire.study.analysis.groups import FAILURE_RULE, Cell, Group
from hardwire.study.analysis.table import SCALE_RULE, Entry, Table, judge_runs, table

_NAMES = {"mnist": "MNIST", "mnist-binary": "MNIST-Binary", "cifar10-binary": "CIFAR-10-Binary"}


def method_name(method: str) -> str:
    """As the paper writes it: Soft-Mix, Gumbel-ST+CAGE."""
    special = {"st": "ST", "cage": "CAGE"}
    words = ["-".join(special.get(part, part.title()) for part in word.split("-")) for word in method.split("+")]
    return "+".join(special.get(word.lower(), word) for word in words)


def dataset_name(dataset: str) -> str:
    return _NAMES.get(dataset, dataset)


def tau_name(tau: float) -> str:
    return f"τ={tau:g}"


def error_of(values: list[float]) -> float:
    """The standard error of a mean; 0 for a single value."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def scales(group: Group) -> dict:
    return {"ours": group.size, "theirs": group.paper_scale}


def selection_gap(group: Group) -> Table:
    """Final / peak selection gap by method and tau."""
    depth = group.main_depth
    rows = [
        [method_name(method), *(_gap_entry(group, method, depth, tau) for tau in group.taus)]
        for method in group.methods
    ]
    return table(
        f"selection-gap-{group.name}",
        f"Selection gap (points) on {dataset_name(group.dataset)}, L={depth}: final / peak",
        ["Method", *map(tau_name, group.taus)],
        rows,
        where='table "Selection gap (%) on MNIST-Binary (L=6)"',
        notes=[
            "Mean over seeds; the peak is each seed's largest gap over the last 80% of training, left out for "
            "failures.",
            FAILURE_RULE,
            SCALE_RULE,
        ],
        **scales(group),
    )


def _gap_entry(group: Group, method: str, depth: int, tau: float) -> Entry:
    cell = group.get(method, depth, tau)
    if cell is None:
        return Entry("")
    theirs = ""
    if group.dataset == "mnist-binary" and tau in paper.TAUS:
        theirs = paper.SELECTION_GAP[method][paper.TAUS.index(tau)]
    final, peaks = cell.finals("selection"), cell.peaks("selection")
    text = f"{_tidy(statistics.fmean(final))}{cell.mark}"
    if cell.mark != "†":
        text += f" / {_tidy(statistics.fmean(peaks))}"
    comparable = group.comparable and depth == paper.MAIN_DEPTH
    verdict = judge_runs(statistics.fmean(final), error_of(final), theirs, comparable) if theirs else ""
    return Entry(text, theirs, verdict)


def factorial(group: Group) -> Table:
    """The 2 x 2 of the paper's first figure: forward type against noise, at the highest tau."""
    depth, tau = group.main_depth, group.taus[-1]

    def peak(method: str) -> Entry:
        cell = group.get(method, depth, tau)
        if cell is None:
            return Entry("")
        theirs = paper.FACTORIAL[method] if group.dataset == "mnist-binary" and tau == 2.0 else ""
        peaks = cell.peaks("selection")
        comparable = group.comparable and depth == paper.MAIN_DEPTH
        verdict = judge_runs(statistics.fmean(peaks), error_of(peaks), theirs, comparable) if theirs else ""
        return Entry(f"{_tidy(statistics.fmean(peaks))}{cell.mark}", theirs, verdict)

    rows = [
        ["Mixture (Soft-Mix, Soft-Gumbel)", peak("soft-mix"), peak("soft-gumbel")],
        ["Hard (Hard-ST, Gumbel-ST)", peak("hard-st"), peak("gumbel-st")],
    ]
    return table(
        f"factorial-{group.name}",
        f"Peak selection gap (points) on {dataset_name(group.dataset)}, L={depth}, {tau_name(tau)}",
        ["Forward pass", "No Gumbel", "Gumbel"],
        rows,
        where="figure 1, bottom right",
        notes=[FAILURE_RULE],
        **scales(group),
    )


def robustness(groups: list[Group]) -> Table:
    """Worst accuracy / range over tau, a column for each group."""
    rows = [
        [method_name(method), *(_robustness_entry(group, method) for group in groups)]
        for method in paper.ROBUSTNESS
        if any(method in group.methods for group in groups)
    ]
    return table(
        "robustness",
        "Temperature robustness: worst accuracy / range over τ (points)",
        ["Method", *(f"{dataset_name(group.dataset)} L={group.main_depth}" for group in groups)],
        rows,
        where='table "Temperature robustness"',
        notes=["Deployed accuracy, mean over seeds, at each τ; then the lowest, and highest minus lowest.", SCALE_RULE],
        **_joint_scales(groups),
    )


def accuracy_range(group: Group, method: str) -> tuple[float, float] | None:
    """(worst, range) of the mean deployed accuracy over tau."""
    accuracies = [cell.final("deploy") for cell in group.over_taus(method, group.main_depth).values()]
    return (min(accuracies), max(accuracies) - min(accuracies)) if accuracies else None


def _robustness_entry(group: Group, method: str) -> Entry:
    found = accuracy_range(group, method)
    if found is None:
        return Entry("")
    theirs = paper.ROBUSTNESS[method].get(group.dataset, "")
    verdict = judge_runs(found[0], 0.0, theirs, group.comparable and group.main_depth == 6) if theirs else ""
    return Entry(f"{found[0]:.1f} / {found[1]:.1f}", theirs, verdict)


def cross_dataset(groups: list[Group]) -> Table:
    """Peak gap and accuracy range, two columns for each group."""
    columns, rows = ["Method"], []
    for group in groups:
        name = f"{dataset_name(group.dataset)} L={group.main_depth}"
        columns += [f"{name}: peak gap", f"{name}: accuracy range"]
    for method in paper.CROSS_DATASET:
        if any(method in group.methods for group in groups):
            rows.append([method_name(method), *(cell for group in groups for cell in _summary(group, method))])
    return table(
        "cross-dataset",
        "Cross-dataset summary (points)",
        columns,
        rows,
        where='table "Cross-dataset summary (L=6)"',
        notes=[
            "Peak gap: the largest size of A^M - A^hard over all τ and the last 80% of training, mean over seeds. On "
            "continuous inputs it includes the computation gap.",
            FAILURE_RULE,
            SCALE_RULE,
        ],
        **_joint_scales(groups),
    )


def _summary(group: Group, method: str) -> list[Entry]:
    cells = group.over_taus(method, group.main_depth)
    if not cells:
        return [Entry(""), Entry("")]
    worst = max(cells.values(), key=_largest_gap)
    comparable = group.comparable and group.main_depth == paper.MAIN_DEPTH
    peak, theirs = _largest_gap(worst), paper.CROSS_DATASET[method].get(group.dataset, "")
    spread = accuracy_range(group, method)[1]
    their_spread = paper.ROBUSTNESS[method].get(group.dataset, "").rpartition("/ ")[2]
    return [
        Entry(f"{_tidy(peak)}{worst.mark}", theirs, judge_runs(peak, 0.0, theirs, comparable) if theirs else ""),
        Entry(f"{spread:.1f}", their_spread, judge_runs(spread, 0.0, their_spread, comparable) if their_spread else ""),
    ]


def _largest_gap(cell: Cell) -> float:
    return max(abs(extreme) for extreme in cell.range("total"))


def trajectories(group: Group) -> Table:
    """final [min, max] of the gap by method, depth and tau."""
    rows = [
        [method_name(method), depth, *(_trajectory_entry(group, method, depth, tau) for tau in group.taus)]
        for method in group.methods
        for depth in group.depths
    ]
    return table(
        f"gap-trajectory-{group.name}",
        f"Gap trajectory on {dataset_name(group.dataset)} (points): final [min, max]",
        ["Method", "L", *map(tau_name, group.taus)],
        rows,
        where=f'table "Gap trajectory on {dataset_name(group.dataset)}"' if group.dataset in paper.DATASETS else "",
        notes=[
            "The gap is A^M - A^hard (on binary inputs: the selection gap); min and max over the last 80% of training, "
            "each averaged over seeds. No range where it is identically zero.",
            FAILURE_RULE,
            SCALE_RULE,
        ],
        **scales(group),
    )


def _trajectory_entry(group: Group, method: str, depth: int, tau: float) -> Entry:
    cell = group.get(method, depth, tau)
    if cell is None:
        return Entry("")
    finals, (low, high) = cell.finals("total"), cell.range("total")
    text = f"{statistics.fmean(finals):+.1f}{cell.mark}"
    if low or high:
        text += f" [{low:+.1f}, {high:+.1f}]"
    theirs = paper.trajectories().get((group.dataset, method, depth, tau))
    if theirs is None:
        return Entry(text)
    flat = theirs.final == theirs.low == theirs.high
    printed = theirs.final if flat else f"{theirs.final} [{theirs.low}, {theirs.high}]"
    return Entry(text, printed, judge_runs(statistics.fmean(finals), error_of(finals), theirs.final, group.comparable))


def settings(groups: list[Group]) -> Table:
    """What was run, beside the paper's training configuration."""
    rows = []
    for group in groups:
        theirs = paper.SCALES.get(group.dataset)
        scale = group.scale
        seeds = {len(cell.runs) for cell in group.cells.values()}
        values = {
            "width": f"{scale.width:,}",
            "iterations": f"{scale.iterations:,}",
            "learning_rate": f"{scale.learning_rate:g}",
            "batch_size": f"{scale.batch_size}",
            "evaluate_every": f"{scale.evaluate_every}",
        }
        rows.append(
            [
                dataset_name(group.dataset),
                Entry(_listed(group.depths), _listed(paper.DEPTHS) if theirs else ""),
                *(Entry(text, f"{getattr(theirs, name):,}" if theirs else "") for name, text in values.items()),
                Entry(_listed(group.taus), _listed(paper.TAUS) if theirs else ""),
                Entry(" to ".join(map(str, sorted({min(seeds), max(seeds)}))), str(paper.SEEDS) if theirs else ""),
                sum(len(cell.runs) for cell in group.cells.values()),
            ]
        )
    return table(
        "settings",
        "Training configuration",
        [
            "Dataset",
            "Layers",
            "Neurons a layer",
            "Iterations",
            "Learning rate",
            "Batch",
            "Evaluated every",
            "τ",
            "Seeds",
            "Runs",
        ],
        rows,
        where='table "Training configuration"',
    )


def _listed(values) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _joint_scales(groups: list[Group]) -> dict:
    join = {"ours": "; ".join(f"{dataset_name(group.dataset)}: {group.size}" for group in groups)}
    return join | {"theirs": "; ".join(f"{dataset_name(group.dataset)}: {group.paper_scale}" for group in groups)}


def _tidy(value: float) -> str:
    """0 for exactly zero, one decimal otherwise, as the paper does."""
    return "0" if value == 0 else f"{value:.1f}"
