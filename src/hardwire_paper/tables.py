"""The paper's tables of results, from finished runs: selection gap, robustness, cross-dataset, trajectories, settings.

Everything is in percentage points, as in the paper. Accuracy means deployed accuracy (A^hard): at tau 0.05 the paper's
Gumbel-ST has 51.0 with a gap of -40, which leaves chance for the method's own pass. Surprising: there are two peaks.
The paper says "maximum during training", and its tables have the maximum over the last 80%; both are shown and named.
"""

from collections.abc import Iterable, Sequence

from hardwire.selection import METHOD_VARIANTS
from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import SampleMean, judge_runs, judged, table
from hardwire_paper.names import dataset_name, method_name, tau_name
from hardwire_paper.runs import FAILURE_RULE, PEAK_RULE, SeedRuns


def selection_gap(group: RunGroup) -> Table:
    """Final / late peak / peak selection gap by method and tau."""
    depth = group.main_depth
    return table(
        f"selection-gap-{group.name}",
        f"Selection gap (points) on {dataset_name(group.dataset)}, L={depth}: final / late peak / peak",
        ["Method", *map(tau_name, group.taus)],
        [
            [method_name(method), *(_gap_entry(group, method, depth, tau) for tau in group.taus)]
            for method in group.methods
        ],
        where='The paper\'s table "Selection gap (%) on MNIST-Binary (L=6)": final / peak.',
        notes=[f"Mean over seeds; peaks are left out for failures. {PEAK_RULE}", FAILURE_RULE],
    )


def _gap_entry(group: RunGroup, method: str, depth: int, tau: float) -> TableCell:
    cell = group.get(method, depth, tau)
    if cell is None:
        return TableCell("")
    theirs = ""
    if group.dataset == "mnist-binary" and tau in printed.TAUS:
        theirs = printed.SELECTION_GAP[method][printed.TAUS.index(tau)]
    final, late, peak = (SampleMean.of(values) for values in _gap_numbers(cell))
    text = f"{_tidy(final.value)}{cell.mark}"
    if cell.mark != "†":
        text += f" / {_tidy(late.value)} / {_tidy(peak.value)}"
    ours = [final, late] if "/" in theirs else [final]
    return judged(text, theirs, judge_runs(ours, theirs, group.comparable_at(depth)))


def _gap_numbers(cell: SeedRuns) -> tuple[list[float], list[float], list[float]]:
    return cell.finals("selection"), cell.late_peaks("selection"), cell.peaks("selection")


def factorial(group: RunGroup) -> Table:
    """The 2 x 2 of the paper's first figure: forward type against noise, at the highest tau."""
    depth, tau = group.main_depth, group.taus[-1]

    def peak(method: str) -> TableCell:
        cell = group.get(method, depth, tau)
        if cell is None:
            return TableCell("")
        theirs = printed.FACTORIAL[method] if group.dataset == "mnist-binary" and tau == 2.0 else ""
        late, whole = SampleMean.of(cell.late_peaks("selection")), SampleMean.of(cell.peaks("selection"))
        text = f"{_tidy(late.value)}{cell.mark} / {_tidy(whole.value)}"
        return judged(text, theirs, judge_runs([late], theirs, group.comparable_at(depth)))

    return table(
        f"factorial-{group.name}",
        f"Selection gap (points) on {dataset_name(group.dataset)}, L={depth}, {tau_name(tau)}: late peak / peak",
        ["Forward pass", "No Gumbel", "Gumbel"],
        [
            ["Mixture (Soft-Mix, Soft-Gumbel)", peak("soft-mix"), peak("soft-gumbel")],
            ["Hard (Hard-ST, Gumbel-ST)", peak("hard-st"), peak("gumbel-st")],
        ],
        where="The paper's figure 1, bottom right: peak, at τ=2, L=6.",
        notes=[PEAK_RULE, FAILURE_RULE],
    )


def robustness(groups: Sequence[RunGroup]) -> Table:
    """Worst accuracy / range over tau, a row for each group."""
    methods = _methods(groups)
    return table(
        "robustness",
        "Temperature robustness: worst accuracy / range over τ (points)",
        ["Runs", *map(method_name, methods)],
        [[group.words, *(_robustness_entry(group, method) for method in methods)] for group in groups],
        where='The paper\'s table "Temperature robustness".',
        notes=[
            "Deployed accuracy, mean over seeds, at each τ; then the lowest, and highest minus lowest. Errors are "
            "those of the τ behind each number.",
        ],
    )


def _methods(groups: Sequence[RunGroup]) -> list[str]:
    return [method for method in METHOD_VARIANTS if any(method in group.methods for group in groups)]


def accuracy_range(group: RunGroup, method: str) -> tuple[SampleMean, SampleMean] | None:
    """(worst, range) of the mean deployed accuracy over tau."""
    cells = group.over_taus(method, group.main_depth).values()
    means = sorted((SampleMean.of(cell.finals("deploy")) for cell in cells), key=lambda mean: mean.value)
    if not means:
        return None
    low, high = means[0], means[-1]
    return low, SampleMean(high.value - low.value, (low.error**2 + high.error**2) ** 0.5)


def _robustness_entry(group: RunGroup, method: str) -> TableCell:
    worst_and_range = accuracy_range(group, method)
    if worst_and_range is None:
        return TableCell("")
    theirs = printed.ROBUSTNESS[method].get(group.dataset, "")
    text = f"{worst_and_range[0].value:.1f} / {worst_and_range[1].value:.1f}"
    return judged(text, theirs, judge_runs(worst_and_range, theirs, group.comparable_over_taus(method)))


def cross_dataset(groups: Sequence[RunGroup]) -> Table:
    """Peak gap and accuracy range, two rows for each group."""
    methods = _methods(groups)
    rows: list[Cells] = []
    for group in groups:
        summaries = [_summary(group, method) for method in methods]
        rows.append([group.words, "late peak gap", *(peak for peak, _ in summaries)])
        rows.append([group.words, "accuracy range", *(spread for _, spread in summaries)])
    return table(
        "cross-dataset",
        "Cross-dataset summary (points)",
        ["Runs", "", *map(method_name, methods)],
        rows,
        where='The paper\'s table "Cross-dataset summary (L=6)".',
        notes=[
            "Late peak gap: the largest size of A^M - A^hard over all τ and the last 80% of training, mean over seeds. "
            "On continuous inputs it includes the computation gap.",
            FAILURE_RULE,
        ],
    )


def _summary(group: RunGroup, method: str) -> tuple[TableCell, TableCell]:
    """(late peak gap, accuracy range)"""
    cells = group.over_taus(method, group.main_depth)
    spread = accuracy_range(group, method)
    if spread is None:
        return TableCell(""), TableCell("")
    worst = max(cells.values(), key=lambda cell: SampleMean.of(cell.largest("total")).value)
    comparable = group.comparable_over_taus(method)
    peak, theirs = SampleMean.of(worst.largest("total")), printed.CROSS_DATASET[method].get(group.dataset, "")
    their_spread = printed.ROBUSTNESS[method].get(group.dataset, "").rpartition("/ ")[2]
    return (
        judged(f"{_tidy(peak.value)}{worst.mark}", theirs, judge_runs([peak], theirs, comparable)),
        judged(f"{spread[1].value:.1f}", their_spread, judge_runs([spread[1]], their_spread, comparable)),
    )


def trajectories(group: RunGroup) -> Table:
    """final [min, max] of the gap by method, depth and tau."""
    known = group.dataset in printed.DATASETS
    return table(
        f"gap-trajectory-{group.name}",
        f"Gap trajectory on {dataset_name(group.dataset)} (points): final [min, max]",
        ["Method", "L", *map(tau_name, group.taus)],
        [
            [method_name(method), depth, *(_trajectory_entry(group, method, depth, tau) for tau in group.taus)]
            for method in group.methods
            for depth in group.depths
        ],
        where=f'The paper\'s table "Gap trajectory on {dataset_name(group.dataset)}".' if known else "",
        notes=[
            "The gap is A^M - A^hard (on binary inputs: the selection gap); min and max over the last 80% of training, "
            "each averaged over seeds. No range where it is identically zero.",
            FAILURE_RULE,
        ],
    )


def _trajectory_entry(group: RunGroup, method: str, depth: int, tau: float) -> TableCell:
    cell = group.get(method, depth, tau)
    if cell is None:
        return TableCell("")
    ranges = cell.ranges("total")
    final, low, high = (
        SampleMean.of(v) for v in (cell.finals("total"), [r[0] for r in ranges], [r[1] for r in ranges])
    )
    text = f"{final.value:+.1f}{cell.mark}"
    if low.value or high.value:
        text += f" [{low.value:+.1f}, {high.value:+.1f}]"
    theirs = printed.trajectories().get((group.dataset, method, depth, tau))
    if theirs is None:
        return TableCell(text)
    # a flat cell is printed as one number, and claims all three
    verdict = judge_runs([final, low, high], f"{theirs.final} {theirs.low} {theirs.high}", group.comparable)
    return judged(text, str(theirs), verdict)


def settings(groups: Iterable[RunGroup]) -> Table:
    """What was run, beside the paper's training configuration."""
    rows: list[Cells] = []
    for group in groups:
        theirs = printed.SCALES.get(group.dataset)
        scale = group.scale
        seeds = {len(cell.runs) for cell in group.cells.values()}
        numbers = ("width", "iterations", "learning_rate", "batch_size", "evaluate_every")
        rows.append(
            [
                dataset_name(group.dataset),
                TableCell(_listed(group.depths), _listed(printed.DEPTHS) if theirs else ""),
                *(TableCell(f"{getattr(scale, n):,}", f"{getattr(theirs, n):,}" if theirs else "") for n in numbers),
                TableCell(_listed(group.taus), _listed(printed.TAUS) if theirs else ""),
                TableCell(
                    " to ".join(map(str, sorted({min(seeds), max(seeds)}))), str(printed.SEEDS) if theirs else ""
                ),
                ", ".join(scale.special),
                sum(len(cell.runs) for cell in group.cells.values()),
            ]
        )
    columns = ["Dataset", "Layers", "Neurons a layer", "Iterations", "Learning rate", "Batch", "Evaluated every", "τ"]
    return table(
        "settings",
        "Training configuration",
        [*columns, "Seeds", "Beyond the paper", "Runs"],
        rows,
        where='The paper\'s table "Training configuration".',
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _tidy(value: float) -> str:
    """0 for exactly zero, one decimal otherwise, as the paper does."""
    return "0" if value == 0 else f"{value:.1f}"
