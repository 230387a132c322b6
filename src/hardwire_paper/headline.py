"""The headline: six methods on MNIST-Binary at the paper's width, and which of them to use, from the runs there are.

Surprising: the advice is computed. It appears when all six methods have run, and says nothing before.
"""

import statistics

from hardwire.selection import METHOD_VARIANTS
from hardwire.study.reporting.content import Section
from hardwire.study.reporting.table import Cells
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import PRACTICAL, SLACK, table
from hardwire_paper.names import method_name, tau_name
from hardwire_paper.runs import FAILURE_RULE, SeedRuns

DATASET = "mnist-binary"
_COLUMNS = ["Method", "τ", "Deployed, worst τ (%)", "Deployed, best τ (%)", "Gap at the end", "Largest gap, last 80%"]
_PAPER = "The paper, worst τ (%)"
RULE = (
    f"How the methods above are chosen: those within {SLACK:g} point of the best accuracy at its worst τ are "
    "candidates. The first line names a candidate with no gap, and without a τ if there is one. The second does the "
    "same for methods with a τ if the first has none, and for those without otherwise. The last warns of methods that "
    f"stay more than {PRACTICAL:g} points below the best even at their best τ; if there are none, of the one with the "
    "worst accuracy."
)


def headline(groups: list[RunGroup]) -> Section | None:
    """The section on the group of one depth at the paper's width that has the most cells; None if there is none.

    Runs at the paper's own scale come first once they have enough complete rows, and then show no others.
    """
    width = printed.SCALES[DATASET].width
    wide = [group for group in groups if group.dataset == DATASET and group.scale.width == width]
    known = [group for group in wide if not group.scale.beyond_paper]
    if not known:
        return None
    group = max(known, key=lambda group: (len(group.cells), group.main_depth * group.scale.iterations))
    at_scale = [group for group in known if group.comparable_at(group.main_depth)]
    if at_scale and len(_complete(at_scale[0])) >= _ENOUGH:
        group = at_scale[0]
    methods_shown = _complete(group) if group in at_scale else group.methods
    methods = table(
        "headline",
        f"The methods at {width:,} gates a layer, {group.main_depth} layers",
        [*_COLUMNS, _PAPER],
        [_row(group, method) for method in methods_shown],
        notes=[
            f"MNIST-Binary, {group.main_depth} layers, {group.length}. Deployed: A^hard on the test set. The gap is "
            "the selection gap in points, at the τ where it is largest by size: at the end, and over the last 80% of "
            "training; below 0, the network deploys better than it trains. CAGE uses no τ: its runs differ by random "
            "stream. The paper's: "
            f"6 layers, {printed.SCALES[DATASET]}.",
            f"{FAILURE_RULE}.",
            RULE,
        ],
    )
    return Section("headline", "At the paper's width", [methods], text=_advice(group))


_ENOUGH = 3  # complete rows


def _complete(group: RunGroup) -> list[str]:
    """The methods that ran at all of the paper's temperatures, or with CAGE, which has none."""
    taus = {method: set(group.over_taus(method, group.main_depth)) for method in group.methods}
    return [method for method, own in taus.items() if METHOD_VARIANTS[method][1] or own >= set(printed.TAUS)]


def _deployed(cell: SeedRuns) -> float:
    return statistics.fmean(cell.finals("deploy"))


def _worst_and_best(group: RunGroup, method: str) -> tuple[float, float]:
    values = [_deployed(cell) for cell in group.over_taus(method, group.main_depth).values()]
    return min(values), max(values)


def _largest(values: dict[float, float]) -> tuple[float, float]:
    """The tau where a gap is largest by size, and the gap."""
    return max(values.items(), key=lambda pair: abs(pair[1]))


def _gap(group: RunGroup, method: str) -> tuple[float, float]:
    """At the end."""
    cells = group.over_taus(method, group.main_depth)
    return _largest({tau: cell.final("selection") for tau, cell in cells.items()})


def _row(group: RunGroup, method: str) -> Cells:
    cells = group.over_taus(method, group.main_depth)
    late = _largest({tau: cell.late_extreme("selection") for tau, cell in cells.items()})
    low, high = _worst_and_best(group, method)
    marks = "".join(sorted({cell.mark for cell in cells.values()}))
    adaptive = METHOD_VARIANTS[method][1]
    taus = "none" if adaptive else ", ".join(f"{tau:g}" for tau in cells)
    theirs = printed.ROBUSTNESS[method][DATASET].partition(" / ")[0]
    return [
        method_name(method),
        taus,
        f"{low:.1f}{marks}",
        f"{high:.1f}",
        _signed(*_gap(group, method), adaptive),
        _signed(*late, adaptive),
        theirs,
    ]


def _signed(tau: float, points: float, adaptive: bool) -> str:
    """With the tau that it belongs to."""
    return "0" if points == 0 else f"{points:+.1f}" if adaptive else f"{points:+.1f} ({tau_name(tau)})"


def _advice(group: RunGroup) -> list[str]:
    """Three lines: what to use by RULE, what to use instead, and what to leave alone or needs care."""
    fixed = [method for method in METHOD_VARIANTS if not METHOD_VARIANTS[method][1]]
    if set(group.methods) != set(METHOD_VARIANTS) or any(len(group.over_taus(m, group.main_depth)) < 2 for m in fixed):
        return []
    worst = {method: _worst_and_best(group, method)[0] for method in METHOD_VARIANTS}
    first = _best(group, worst)
    others = {method: low for method, low in worst.items() if METHOD_VARIANTS[method][1] != METHOD_VARIANTS[first][1]}
    other = _best(group, others)
    kind = "to choose a τ yourself" if METHOD_VARIANTS[first][1] else "without choosing τ"
    return [
        f"`{first}` when in doubt: {_summary(group, first)}.",
        f"`{other}` {kind}: {_summary(group, other)}{_as_good(group, others, other)}.",
        _warning(group, {method: low for method, low in worst.items() if method not in (first, other)}),
    ]


def _as_good(group: RunGroup, others: dict[str, float], chosen: str) -> str:
    """What else of its kind is within a point of the chosen one at the worst τ."""
    rivals = [method for method, low in others.items() if method != chosen and low >= others[chosen] - SLACK]
    return "".join(f"; `{method}` is as good: {_summary(group, method)}" for method in rivals)


def _warning(group: RunGroup, worst: dict[str, float]) -> str:
    """What not to use, of methods with their accuracies at the worst τ."""
    best = {method: _worst_and_best(group, method)[1] for method in METHOD_VARIANTS}
    behind = [method for method in worst if best[method] < max(best.values()) - PRACTICAL]
    if behind:
        names = ", ".join(f"`{method}`" for method in behind)
        low, high = min(worst[method] for method in behind), max(best[method] for method in behind)
        return f"Not {names}, at this length of training: {low:.1f} to {high:.1f}% deployed."
    last = min(worst, key=worst.__getitem__)
    cells = group.over_taus(last, group.main_depth)
    tau = min(cells, key=lambda tau: _deployed(cells[tau]))
    return f"`{last}` with care: it deployed at {worst[last]:.1f}% at {tau_name(tau)}, the worst of the rest."


def _best(group: RunGroup, worst: dict[str, float]) -> str:
    """By RULE, of methods with their accuracies at the worst τ."""
    good = [method for method, low in worst.items() if low >= max(worst.values()) - SLACK]
    return max(good, key=lambda method: (_gap(group, method)[1] == 0, METHOD_VARIANTS[method][1], worst[method]))


def _summary(group: RunGroup, method: str) -> str:
    low, high = _worst_and_best(group, method)
    over = f"in {len(group.over_taus(method, group.main_depth))} runs" if METHOD_VARIANTS[method][1] else "over τ"
    _, gap = _gap(group, method)
    deployed = " to ".join(dict.fromkeys((f"{low:.1f}", f"{high:.1f}")))
    return f"{deployed}% deployed {over}, a gap of {'0' if gap == 0 else f'{gap:+.1f} points'} at the end"
