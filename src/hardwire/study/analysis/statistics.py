"""The paper's statistical tests: paired t over seeds, Cohen's d, statistical and practical significance.

Statistical: p < 0.05. Practical: a mean difference above 5 points. Cohen's d is the difference of means over
sqrt((s1^2 + s2^2) / 2): with it the paper's t = -6.30 and d = 5.15 for a constant against three seeds belong together
(their ratio is sqrt(3/2)). Surprising: where every pair differs by the same amount there is no t; the table says so.
"""

import math
import statistics
from dataclasses import dataclass

from hardwire.study import paper
from hardwire.study.analysis.groups import Cell, Group
from hardwire.study.analysis.table import SCALE_RULE, Entry, Table, table
from hardwire.study.analysis.tables import dataset_name, method_name, scales, tau_name

PRACTICAL = 5.0  # points


@dataclass(frozen=True)
class Comparison:
    """A paired test of n pairs. t, p and d are NaN where n or the spread does not allow them."""

    n: int
    difference: float
    t: float
    p: float
    d: float

    @property
    def stars(self) -> str:
        if math.isnan(self.p):
            return "–"
        return next((stars for bound, stars in ((0.001, "***"), (0.01, "**"), (0.05, "*")) if self.p < bound), "ns")

    @property
    def practical(self) -> bool:
        return abs(self.difference) > PRACTICAL


def compare(first: list[float], second: list[float]) -> Comparison:
    """The paired t-test and Cohen's d of first against second, which are paired by seed."""
    from scipy import stats

    differences = [a - b for a, b in zip(first, second, strict=True)]
    n, mean = len(differences), statistics.fmean(differences)
    if n < 2:
        return Comparison(n, mean, math.nan, math.nan, math.nan)
    t = p = math.nan
    if max(differences) > min(differences):
        result = stats.ttest_rel(first, second)
        t, p = float(result.statistic), float(result.pvalue)
    pooled = math.sqrt((statistics.variance(first) + statistics.variance(second)) / 2)
    return Comparison(n, mean, t, p, abs(mean) / pooled if pooled else math.nan)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper's. sides: (method, "low" or "high" tau); quantity: accuracy or peak gap."""

    key: str
    text: str
    quantity: str
    first: tuple[str, str]
    second: tuple[str, str]


CLAIMS = (
    Claim("gumbel-fails", "Gumbel-ST fails at low τ", "accuracy", ("gumbel-st", "low"), ("gumbel-st", "high")),
    Claim("hard-robust", "Hard-ST is τ-robust", "accuracy", ("hard-st", "low"), ("hard-st", "high")),
    Claim("cage-fixes", "CAGE fixes Gumbel-ST", "accuracy", ("gumbel-st", "low"), ("gumbel-st+cage", "low")),
    Claim("hard-zero-gap", "Hard-ST has zero selection gap", "gap", ("hard-st", "high"), ("soft-gumbel", "high")),
    Claim("forward-decides", "Forward type determines gap", "gap", ("soft-gumbel", "high"), ("gumbel-st", "high")),
)


def examine(group: Group, claim: Claim) -> Comparison | None:
    """None where the runs for it are not there."""
    cells = [_cell(group, *side) for side in (claim.first, claim.second)]
    if None in cells:
        return None
    seeds = set.intersection(*({run.config.seed for run in cell.runs} for cell in cells))
    if not seeds:
        return None
    paired = [Cell(tuple(run for run in cell.runs if run.config.seed in seeds)) for cell in cells]
    return compare(*(_values(cell, claim.quantity) for cell in paired))


def significance(group: Group) -> Table:
    """The paper's table of key claims, on one group."""
    rows = []
    for claim in CLAIMS:
        result = examine(group, claim)
        theirs = paper.STATISTICS[claim.key] if group.dataset == "mnist-binary" else ("",) * 5
        rows.append([claim.text, _sides(group, claim), *_cells(result, theirs)])
    return table(
        f"significance-{group.name}",
        f"Statistical significance of key claims on {dataset_name(group.dataset)}, L={group.main_depth}",
        ["Claim", "Comparison", "n", "Difference", "t", "p", "d", "Stat.", "Prac."],
        rows,
        where='table "Statistical significance of key claims"',
        notes=[
            "Paired t-tests over seeds; d is Cohen's d with the pooled standard deviation sqrt((s1² + s2²)/2). "
            "*** p < 0.001, ** p < 0.01, * p < 0.05, ns: not significant, –: too few seeds, or no spread. "
            f"Practical: a mean difference of more than {PRACTICAL:g} points.",
            "Accuracy is final deployed accuracy; gap is each seed's peak selection gap over the last 80% of training. "
            "In the paper, t = 6.30 against a constant and t = 3.05 against a gap of about 1 point cannot both come "
            "from the same three peaks of Soft-Gumbel; its last row must use another quantity.",
            "n is the number of seeds in the store; with CAGE a pair shares its seed number but not its wiring.",
            SCALE_RULE,
        ],
        **scales(group),
    )


def significance_by_dataset(groups: list[Group]) -> Table:
    """The paper's cross-dataset verification: stars only."""
    rows = []
    for claim in CLAIMS[:3]:
        entries = []
        for group in groups:
            result = examine(group, claim)
            theirs = paper.STATISTICS_BY_DATASET[claim.key].get(group.dataset, "")
            entries.append(Entry("" if result is None else f"{result.stars}{_aside(result)}", theirs))
        rows.append([claim.text, *entries])
    return table(
        "significance-by-dataset",
        "Cross-dataset verification of key claims",
        ["Claim", *(f"{dataset_name(group.dataset)} L={group.main_depth}" for group in groups)],
        rows,
        where='table "Cross-dataset verification of key claims"',
        ours="; ".join(f"{dataset_name(group.dataset)}: {group.size}" for group in groups),
        theirs="; ".join(f"{dataset_name(group.dataset)}: {group.paper_scale}" for group in groups),
        notes=["(practical): the mean difference is also above 5 points."],
    )


def _aside(result: Comparison) -> str:
    return " (practical)" if result.practical else ""


def _cell(group: Group, method: str, side: str) -> Cell | None:
    return group.get(method, group.main_depth, _tau(group, side))


def _tau(group: Group, side: str) -> float:
    return group.taus[0] if side == "low" else group.taus[-1]


def _values(cell: Cell, quantity: str) -> list[float]:
    return cell.finals("deploy") if quantity == "accuracy" else cell.peaks("selection")


def _sides(group: Group, claim: Claim) -> str:
    (one, low), (other, high) = claim.first, claim.second
    names = [f"{method_name(method)} {tau_name(_tau(group, side))}" for method, side in ((one, low), (other, high))]
    return f"{names[0]} vs {names[1]} ({claim.quantity})"


def _cells(result: Comparison | None, theirs: tuple[str, ...]) -> list:
    t, p, d, stars, practical = theirs
    if result is None:
        return ["0", "", Entry("no runs", t), Entry("", p), Entry("", d), Entry("", stars), Entry("", practical)]
    return [
        Entry(str(result.n), str(paper.SEEDS) if t else ""),
        f"{result.difference:+.2f}",
        Entry(_number(result.t, ".2f"), t),
        Entry("<.001" if result.p < 0.001 else _number(result.p, ".3f"), p),
        Entry(_number(result.d, ".2f"), d),
        Entry(result.stars, stars),
        Entry("yes" if result.practical else "no", practical),
    ]


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
