"""Iterations to convergence, by two definitions, because the paper does not state its own.

By the gap: the first evaluation from which on the selection gap stays within 1 point of zero. By accuracy: the first
from which on the deployed accuracy stays within 1 point of its final value. Surprising: by the gap Hard-ST converges at
the first evaluation, whatever it has learned; the paper's ~500 iterations "at any tau" is its first evaluation too.
"""

import statistics
from collections.abc import Callable

from hardwire.study import paper
from hardwire.study.analysis.groups import Cell, Group
from hardwire.study.analysis.table import Entry, Table, table
from hardwire.study.analysis.tables import dataset_name, method_name, scales, tau_name
from hardwire.training.history import History

POINT = 0.01 + 1e-9  # a point, with room for the rounding of fractions
DEFINITIONS = {
    "gap": "the first evaluation from which on the selection gap stays within 1 point of zero",
    "accuracy": "the first evaluation from which on the deployed accuracy stays within 1 point of its final value",
}


def by_gap(history: History) -> int | None:
    """The iteration, or None where the gap is not within 1 point even at the end."""
    return _settled(history, [abs(value) <= POINT for value in history.column("selection")])


def by_accuracy(history: History) -> int:
    final = history.final.deploy
    return _settled(history, [abs(value - final) <= POINT for value in history.column("deploy")])


_RULES: dict[str, Callable[[History], int | None]] = {"gap": by_gap, "accuracy": by_accuracy}


def converged(cell: Cell, definition: str) -> float | None:
    """The mean over seeds, or None where a seed did not converge."""
    found = [_RULES[definition](run.history) for run in cell.runs]
    return None if None in found else statistics.fmean(found)


def convergence(group: Group, definition: str) -> Table:
    """Iterations to convergence by method and tau."""
    depth = group.main_depth
    rows = []
    for method in group.methods:
        entries = []
        for tau in group.taus:
            cell = group.get(method, depth, tau)
            entries.append(_entry(cell, definition))
        stated = paper.CONVERGENCE.get(method, "") if group.dataset == "mnist-binary" else ""
        rows.append([method_name(method), *entries, Entry(stated)])
    return table(
        f"convergence-{definition}-{group.name}",
        f"Iterations to convergence on {dataset_name(group.dataset)}, L={depth}, by {definition}",
        ["Method", *map(tau_name, group.taus), "The paper, over τ"],
        rows,
        where='figure 2c and section "Convergence Speed"',
        notes=[
            f"Convergence by {definition}: {DEFINITIONS[definition]}; mean over seeds. Evaluated every "
            f"{group.scale.evaluate_every} iterations, so nothing smaller is seen. never: not at the end of training.",
            "† and ‡ (see the selection gap table): what such runs converge to is not a solution.",
        ],
        **scales(group),
    )


def _entry(cell: Cell | None, definition: str) -> Entry:
    if cell is None:
        return Entry("")
    found = converged(cell, definition)
    return Entry(("never" if found is None else f"{found:,.0f}") + cell.mark)


def _settled(history: History, within: list[bool]) -> int | None:
    start = len(within)
    while start and within[start - 1]:
        start -= 1
    return history.records[start].iteration if start < len(within) else None
