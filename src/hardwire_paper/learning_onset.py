"""When networks that train under noise start to learn: by width, depth, start of the logits and kind of noise.

The paper says neither how its logits start (N(0, 1) fits the confidence that it begins at) nor whether a batch shares
its noise. Surprising: such a network may be at chance for thousands of iterations and learn after all, so accuracy at
the end does not tell a slow one from one that is stuck; the evaluation at which it leaves chance does.
"""

import statistics
from collections.abc import Sequence

from hardwire.selection import METHOD_VARIANTS, METHODS
from hardwire.study.reporting.table import Cells, Table
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import table
from hardwire_paper.names import method_name
from hardwire_paper.runs import CHANCE_MARGIN, SeedRuns

LOOKS = (500, 1_500, 5_000, 10_000, 25_000)  # iterations; runs of different lengths are compared at the same ones
RULE = (
    f"Leaves chance: the first evaluation from which on accuracy stays over {CHANCE_MARGIN:g} points above chance, "
    "mean over seeds; if only some seeds do, how many; no: none does."
)


def learning_onset(groups: Sequence[RunGroup]) -> Table | None:
    """Returns a row for each cell of the noisy hard methods, one group of one depth after the other."""
    noisy = [name for name, (method, _) in METHOD_VARIANTS.items() if METHODS[method].hard and METHODS[method].noisy]
    cells = [
        (group, method, tau, cell)
        for group in groups
        for method in noisy
        for tau, cell in group.over_taus(method, group.main_depth).items()
    ]
    if not cells:
        return None
    looks = [look for look in LOOKS if any(look in cell.iterations() for *_, cell in cells)]
    rows: list[Cells] = []
    for group, method, tau, cell in cells:
        left = [leaves_chance(cell, quantity) for quantity in ("method", "deploy")]
        course = [_deployed(cell, look) for look in looks]
        rows.append(
            [group.words, method_name(method), "" if METHOD_VARIANTS[method][1] else f"{tau:g}", *left, *course]
        )
    return table(
        "learning-onset",
        "When training under noise starts to learn",
        ["Runs", "Method", "τ", "A^M leaves chance", "A^hard leaves chance", *(f"A^hard at {n:,} (%)" for n in looks)],
        rows,
        notes=[RULE, "Unless said otherwise, logits start at N(0, 1), and a batch shares its noise."],
    )


def leaves_chance(cell: SeedRuns, quantity: str) -> str:
    """Returns the iteration by RULE: 1,500, or 2,000 (2 of 3), or no."""
    starts = [_left(run.history.column(quantity), cell.iterations(), cell.chance) for run in cell.runs]
    known = [iteration for iteration in starts if iteration is not None]
    if not known:
        return "no"
    some = f" ({len(known)} of {len(starts)})" if len(known) < len(starts) else ""
    return f"{statistics.fmean(known):,.0f}{some}"


def _left(accuracies: Sequence[float], iterations: Sequence[int], chance: float) -> int | None:
    left = None
    for accuracy, iteration in zip(reversed(accuracies), reversed(iterations), strict=False):
        if 100 * accuracy <= chance + CHANCE_MARGIN:
            break
        left = iteration
    return left


def _deployed(cell: SeedRuns, iteration: int) -> str:
    """The mean over seeds at this evaluation; nothing if there is none."""
    values = cell.at("deploy", iteration)
    return f"{statistics.fmean(values):.1f}" if values else ""
