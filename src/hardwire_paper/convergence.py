"""Iterations to convergence, by two definitions, because the paper does not state its own.

By the gap: the first evaluation from which on the selection gap stays within 1 point of zero. By accuracy: the first
from which on the deployed accuracy stays within 1 point of the level it ends at, if it has stopped rising. Surprising:
by the gap Hard-ST converges at the first evaluation, whatever it has learned; the paper's ~500 iterations "at any tau"
is its first evaluation too.
"""

import statistics
from collections.abc import Callable, Sequence

from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire.training.history import History
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import table
from hardwire_paper.names import dataset_name, method_name, tau_name
from hardwire_paper.runs import SeedRuns

POINT = 0.01 + 1e-9  # a point, with room for the rounding of fractions
RISING = 0.005 + 1e-9  # half a point
FEWEST = 5  # evaluations: fewer say nothing
DEFINITIONS = {
    "gap": "the first evaluation from which on the selection gap stays within 1 point of zero; no: it does not, or "
    "only the last evaluation is that near",
    "accuracy": "the first evaluation from which on the deployed accuracy stays within 1 point of its level at the end "
    "(the mean over the last tenth of training); no: that level is over half a point above the tenth before it, so "
    f"accuracy is still rising, or only the last evaluation is that near, or there are fewer than {FEWEST}",
}


def by_gap(history: History) -> int | None:
    """The iteration, or None where the gap does not stay within 1 point; the last evaluation is never the answer."""
    return _settled(history, [abs(value) <= POINT for value in history.column("selection")])


def by_accuracy(history: History) -> int | None:
    """The iteration, or None where accuracy is still rising; the last evaluation is never the answer."""
    accuracies = history.column("deploy")
    if len(accuracies) < FEWEST or rising(history, "deploy"):
        return None
    level, _ = _last_tenths(accuracies)
    return _settled(history, [abs(value - level) <= POINT for value in accuracies])


def rising(history: History, accuracy: str) -> bool:
    """Whether it ends over half a point above where it was a tenth of training before."""
    level, before = _last_tenths(history.column(accuracy))
    return level - before > RISING


def _last_tenths(values: Sequence[float]) -> tuple[float, float]:
    """The means over the last tenth, and over the one before it."""
    tenth = max(1, len(values) // 10)
    return statistics.fmean(values[-tenth:]), statistics.fmean(values[-2 * tenth : -tenth] or values[-tenth:])


_RULES: dict[str, Callable[[History], int | None]] = {"gap": by_gap, "accuracy": by_accuracy}


def converged(cell: SeedRuns, definition: str) -> float | None:
    """The mean over seeds, or None where a seed did not converge."""
    times = [_RULES[definition](run.history) for run in cell.runs]
    return statistics.fmean(time for time in times if time is not None) if None not in times else None


def convergence(group: RunGroup, definition: str) -> Table:
    """Iterations to convergence by method and tau."""
    depth = group.main_depth
    rows: list[Cells] = []
    for method in group.methods:
        entries = [_entry(group.get(method, depth, tau), definition) for tau in group.taus]
        stated = printed.CONVERGENCE.get(method, "") if group.dataset == "mnist-binary" else ""
        rows.append([method_name(method), *entries, stated])
    return table(
        f"convergence-{definition}-{group.name}",
        f"Iterations to convergence on {dataset_name(group.dataset)}, L={depth}, by {definition}",
        ["Method", *map(tau_name, group.taus), "The paper, over τ"],
        rows,
        where='The paper\'s figure 2c and section "Convergence Speed".',
        notes=[
            f"Convergence by {definition}: {DEFINITIONS[definition]}. Mean over seeds; no where one seed has not "
            f"converged. Evaluated every {group.scale.evaluate_every} iterations, so nothing smaller is seen.",
            "† and ‡ (see the selection gap table): what such runs converge to is not a solution.",
        ],
    )


def _entry(cell: SeedRuns | None, definition: str) -> TableCell:
    if cell is None:
        return TableCell("")
    time = converged(cell, definition)
    return TableCell(("no" if time is None else f"{time:,.0f}") + cell.mark)


def _settled(history: History, within: list[bool]) -> int | None:
    start = len(within)
    while start and within[start - 1]:
        start -= 1
    return history.records[start].iteration if start < len(within) - 1 else None
