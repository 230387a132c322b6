"""When networks that train under noise start to learn: by width, depth, start of the logits and kind of noise.

The paper says neither how its logits start (N(0, 1) fits the confidence that it begins at) nor whether a batch shares
its noise. Surprising: such a network may be at chance for thousands of iterations and learn after all, so accuracy at
the end does not tell one that is slow from one that is stuck; the evaluation at which it leaves chance does.
"""

import statistics
from collections.abc import Sequence

from hardwire.paper.groups import CHANCE_MARGIN, Cell, Group
from hardwire.paper.judging import table
from hardwire.paper.names import method_name
from hardwire.selection import METHODS, SIX
from hardwire.study.reporting.table import Entry, Table

LOOKS = (500, 1_500, 5_000, 10_000, 25_000)  # iterations; runs of different lengths are compared at the same ones
RULE = (
    f"Leaves chance: the first evaluation from which on accuracy stays over {CHANCE_MARGIN:g} points above chance, "
    "mean over seeds; with some seeds that do not, their number; no: none does."
)


def starting(groups: Sequence[Group]) -> Table | None:
    """A row for each cell of the noisy hard methods, groups of one depth after each other."""
    noisy = [name for name, (method, _) in SIX.items() if METHODS[method].hard and METHODS[method].noisy]
    found = [
        (group, method, tau, cell)
        for group in groups
        for method in noisy
        for tau, cell in group.over_taus(method, group.main_depth).items()
    ]
    if not found:
        return None
    looks = [look for look in LOOKS if any(look in cell.iterations() for *_, cell in found)]
    rows: list[list[Entry | str | int]] = []
    for group, method, tau, cell in found:
        left = [leaves_chance(cell, quantity) for quantity in ("method", "deploy")]
        course = [_deployed(cell, look) for look in looks]
        rows.append([group.words, method_name(method), "" if SIX[method][1] else f"{tau:g}", *left, *course])
    return table(
        "starting",
        "When training under noise starts",
        ["Runs", "Method", "τ", "A^M leaves chance", "A^hard leaves chance", *(f"A^hard at {n:,} (%)" for n in looks)],
        rows,
        notes=[RULE, "Without other words: logits start at N(0, 1), and a batch shares its noise."],
    )


def leaves_chance(cell: Cell, quantity: str) -> str:
    """By RULE: 1,500, or 2,000 (2 of 3), or no."""
    found = [_left(run.history.column(quantity), cell.iterations(), cell.chance) for run in cell.runs]
    known = [iteration for iteration in found if iteration is not None]
    if not known:
        return "no"
    some = f" ({len(known)} of {len(found)})" if len(known) < len(found) else ""
    return f"{statistics.fmean(known):,.0f}{some}"


def _left(accuracies: Sequence[float], iterations: Sequence[int], chance: float) -> int | None:
    left = None
    for accuracy, iteration in zip(reversed(accuracies), reversed(iterations), strict=False):
        if 100 * accuracy <= chance + CHANCE_MARGIN:
            break
        left = iteration
    return left


def _deployed(cell: Cell, iteration: int) -> str:
    """The mean over seeds at this evaluation; nothing where there is none."""
    found = cell.at("deploy", iteration)
    return f"{statistics.fmean(found):.1f}" if found else ""
