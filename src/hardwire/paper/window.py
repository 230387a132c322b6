"""The gap at the iteration where the paper's ranges begin, beside these ranges.

The paper prints the range of the gap over the last 80% of training: of 50,000 iterations, from 10,000 on. A run that
got there stands at the first point of that window, whatever it would do next, so a fifth of the paper's length can be
compared with it. Surprising: this can only refute. A gap outside of the range differs; one inside may still leave it.
"""

from collections.abc import Iterator, Sequence

from hardwire.paper import printed
from hardwire.paper.groups import CHANCE_MARGIN, Cell, Group, window_start
from hardwire.paper.judging import AGREE, DIFFER, SLACK, Measured, judged, printed_numbers, slack_of_runs, table
from hardwire.paper.names import dataset_name, method_name
from hardwire.selection import SIX
from hardwire.study.reporting.table import Entry, Table

_COLUMNS = ["Runs", "Method", "τ", "Iteration", "A^hard there (%)", "Gap there", "The paper's range from there on"]
RULE = (
    f"agree: our gap A^M - A^hard is inside the paper's range, or no farther outside than {SLACK:g} point or two "
    "standard errors; differ: it is not; nothing is said of a network at chance (‡), whose gap means nothing. The "
    "paper's ranges are of the last 80% of training. CAGE uses no τ: its range is the widest that the paper prints at "
    "this depth."
)


def window(groups: Sequence[Group]) -> Table | None:
    """A row for each cell of the paper's width, depth, batch and learning rate that got to where its window begins."""
    rows = [_row(group, *found) for group in groups for found in _cells(group)]
    if not rows:
        return None
    verdicts = [row[-1].verdict for row in rows if isinstance(row[-1], Entry)]
    count = f"{verdicts.count(AGREE)} of {len(rows)} agree, {verdicts.count(DIFFER)} differ."
    return table("window", "The gap where the paper's ranges begin", _COLUMNS, rows, notes=[count, RULE])


def _cells(group: Group) -> Iterator[tuple[str, float, int, Cell]]:
    start = window_start(group.dataset)
    if start is None or not group.like_paper:
        return
    for (method, depth, tau), cell in sorted(group.cells.items(), key=lambda item: _order(*item[0])):
        if (group.dataset, method, depth, tau) in printed.trajectories() and cell.at("total", start):
            yield method, tau, start, cell


def _order(method: str, depth: int, tau: float) -> tuple[int, int, float]:
    return depth, list(SIX).index(method), tau


def _row(group: Group, method: str, tau: float, first: int, cell: Cell) -> list[Entry | str | int]:
    depth = cell.runs[0].depth
    gap, deployed = (Measured.of(cell.at(name, first)) for name in ("total", "deploy"))
    chance = deployed.value < cell.chance + CHANCE_MARGIN
    low, high = _range(group.dataset, method, depth, tau)
    theirs = low if low == high else f"{low} to {high}"
    verdict = [] if chance else [AGREE if _inside(gap, low, high) else DIFFER]
    return [
        f"{dataset_name(group.dataset)}, {depth} x {group.scale.width:,}, n={len(cell.runs)}",
        method_name(method),
        "" if SIX[method][1] else f"{tau:g}",
        f"{first:,}",
        f"{deployed.value:.1f}{'‡' if chance else ''}",
        f"{round(gap.value, 1) + 0.0:+.1f}",  # a zero has no other sign
        judged(theirs, "", verdict),
    ]


def _range(dataset: str, method: str, depth: int, tau: float) -> tuple[str, str]:
    """(low, high) as the paper prints them."""
    taus = printed.TAUS if SIX[method][1] else (tau,)
    found = [printed.trajectories()[dataset, method, depth, one] for one in taus]
    return min((cell.low for cell in found), key=float), max((cell.high for cell in found), key=float)


def _inside(gap: Measured, low: str, high: str) -> bool:
    ((least, slack_below),), ((most, slack_above),) = printed_numbers(low), printed_numbers(high)
    below, above = slack_of_runs(least, slack_below, gap.error), slack_of_runs(most, slack_above, gap.error)
    return least - below <= gap.value <= most + above
