"""The gap at the iteration where the paper's ranges begin, compared with these ranges.

The paper prints the range of the gap over the last 80% of training: of 50,000 iterations, from 10,000 on. A run that
got that far is at the first point of the range, whatever it does next, so a fifth of the paper's length can be
compared with it. Surprising: this can only refute. A gap outside of the range differs; one inside may still leave it.
"""

from collections.abc import Iterator, Sequence

from hardwire.selection import METHOD_VARIANTS
from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import AGREE, DIFFER, SLACK, SampleMean, judged, printed_numbers, slack_of_runs, table
from hardwire_paper.names import dataset_name, method_name
from hardwire_paper.runs import CHANCE_MARGIN, PAPER_READING, SeedRuns, paper_range_start

_COLUMNS = [
    "Runs",
    "Method",
    "Gradient",
    "τ",
    "Iteration",
    "A^hard there (%)",
    "Gap there",
    "The paper's range from there on",
]
RULE = (
    f"agree: our gap A^M - A^hard is inside the paper's range, or no farther outside than {SLACK:g} point or two "
    "standard errors; differ: it is not. A network at chance (‡) is not judged, because its gap means nothing. The "
    "paper's ranges are of the last 80% of training. CAGE uses no τ: its range is the widest that the paper prints at "
    "this depth. Gradient: the straight-through estimator of the hard methods."
)


def paper_ranges(groups: Sequence[RunGroup]) -> Table | None:
    """Returns a row for each cell at the paper's width, depth and settings that got to where its ranges begin."""
    rows = {
        (group.dataset, depth, method, tau, _gradient(cell)): _row(group, method, tau, start, cell)
        for group in groups
        for method, depth, tau, start, cell in _cells(group)
    }
    if not rows:
        return None
    verdicts = [row[-1].verdict for row in rows.values() if isinstance(row[-1], TableCell)]
    count = f"{verdicts.count(AGREE)} of {len(rows)} agree, {verdicts.count(DIFFER)} differ."
    title = "The gap where the paper's ranges begin"
    return table("paper-ranges", title, _COLUMNS, list(rows.values()), notes=[count, RULE])


def _cells(group: RunGroup) -> Iterator[tuple[str, int, float, int, SeedRuns]]:
    start = paper_range_start(group.dataset)
    if start is None or not group.like_paper:
        return
    for (method, depth, tau), cell in sorted(group.cells.items(), key=lambda item: _order(*item[0])):
        if (group.dataset, method, depth, tau) in printed.trajectories() and cell.at("total", start):
            yield method, depth, tau, start, cell


def _order(method: str, depth: int, tau: float) -> tuple[int, int, float]:
    return depth, list(METHOD_VARIANTS).index(method), tau


def _gradient(cell: SeedRuns) -> str:
    """The straight-through estimator of a hard method."""
    run = cell.runs[0]
    method = METHOD_VARIANTS[run.method][0]
    return str(run.config["straight_through"] or PAPER_READING[method]) if method in PAPER_READING else ""


def _row(group: RunGroup, method: str, tau: float, start: int, cell: SeedRuns) -> Cells:
    depth = cell.runs[0].depth
    gap, deployed = (SampleMean.of(cell.at(name, start)) for name in ("total", "deploy"))
    chance = deployed.value < cell.chance + CHANCE_MARGIN
    low, high = printed_range(group.dataset, method, depth, tau)
    theirs = low if low == high else f"{low} to {high}"
    verdict = [] if chance else [AGREE if inside(gap, low, high) else DIFFER]
    return [
        f"{dataset_name(group.dataset)}, {depth} x {group.scale.width:,}, n={len(cell.runs)}",
        method_name(method),
        _gradient(cell),
        "" if METHOD_VARIANTS[method][1] else f"{tau:g}",
        f"{start:,}",
        f"{deployed.value:.1f}{'‡' if chance else ''}",
        f"{round(gap.value, 1) + 0.0:+.1f}",  # no -0.0
        judged(theirs, "", verdict),
    ]


def printed_range(dataset: str, method: str, depth: int, tau: float) -> tuple[str, str]:
    """Returns (low, high) as the paper prints them; with CAGE, which has no tau, the widest of the depth."""
    taus = printed.TAUS if METHOD_VARIANTS[method][1] else (tau,)
    cells = [printed.trajectories()[dataset, method, depth, one] for one in taus]
    return min((cell.low for cell in cells), key=float), max((cell.high for cell in cells), key=float)


def inside(gap: SampleMean, low: str, high: str) -> bool:
    """Whether a gap is inside a printed range, or no farther outside than RULE allows."""
    ((least, slack_below),), ((most, slack_above),) = printed_numbers(low), printed_numbers(high)
    below, above = slack_of_runs(least, slack_below, gap.error), slack_of_runs(most, slack_above, gap.error)
    return least - below <= gap.value <= most + above
