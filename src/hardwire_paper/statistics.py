"""The paper's statistical tests: paired t over seeds, Cohen's d, statistical and practical significance.

Statistical: p < 0.05. Practical: a mean difference above 5 points. Cohen's d is the difference of means over
sqrt((s1^2 + s2^2) / 2): with it the paper's t = -6.30 and d = 5.15 for a constant against three seeds belong together
(their ratio is sqrt(3/2)). Surprising: where every pair differs by the same amount there is no t; the table says so.
"""

import math
import statistics
from dataclasses import dataclass

from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper import printed
from hardwire_paper.groups import RunGroup
from hardwire_paper.judging import PRACTICAL, table
from hardwire_paper.names import dataset_name, method_name, tau_name
from hardwire_paper.runs import SeedRuns


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
class Contrast:
    """A comparison of the paper's table. sides: (method, "low" or "high" tau); quantity: accuracy or peak gap."""

    key: str
    text: str
    quantity: str
    first: tuple[str, str]
    second: tuple[str, str]

    @property
    def paper_taus(self) -> str:
        """The temperatures of the paper's own comparison."""
        sides = dict.fromkeys(tau_name(0.05 if side == "low" else 2.0) for _, side in (self.first, self.second))
        return " vs ".join(sides)


CONTRASTS = (
    Contrast("gumbel-fails", "Gumbel-ST fails at low τ", "accuracy", ("gumbel-st", "low"), ("gumbel-st", "high")),
    Contrast("hard-robust", "Hard-ST is τ-robust", "accuracy", ("hard-st", "low"), ("hard-st", "high")),
    Contrast("cage-fixes", "CAGE fixes Gumbel-ST", "accuracy", ("gumbel-st", "low"), ("gumbel-st+cage", "low")),
    Contrast("hard-zero-gap", "Hard-ST has zero selection gap", "gap", ("hard-st", "high"), ("soft-gumbel", "high")),
    Contrast("forward-decides", "Forward type determines gap", "gap", ("soft-gumbel", "high"), ("gumbel-st", "high")),
)


def examine(group: RunGroup, contrast: Contrast) -> Comparison | None:
    """None where the runs for it are not there."""
    one, other = (group.side(method, tau_of(group, side)) for method, side in (contrast.first, contrast.second))
    if one is None or other is None:
        return None
    seeds = {run.seed for run in one.runs} & {run.seed for run in other.runs}
    if not seeds:
        return None
    first, second = (SeedRuns(tuple(run for run in cell.runs if run.seed in seeds)) for cell in (one, other))
    return compare(_values(first, contrast.quantity), _values(second, contrast.quantity))


def significance(group: RunGroup) -> Table:
    """The paper's table of key claims, on one group."""
    rows: list[Cells] = []
    for contrast in CONTRASTS:
        theirs = printed.STATISTICS[contrast.key] if group.dataset == "mnist-binary" else ("",) * 5
        beside = f"{contrast.paper_taus}, L=6" if theirs[0] else ""
        rows.append(
            [contrast.text, TableCell(_sides(group, contrast), beside), *_cells(examine(group, contrast), theirs)]
        )
    return table(
        f"significance-{group.name}",
        f"Statistical tests behind the key claims on {dataset_name(group.dataset)}, L={group.main_depth}",
        ["Claim", "Comparison", "n", "Difference", "t", "p", "d", "p < 0.05", "Above 5 points"],
        rows,
        where='The paper\'s table "Statistical significance of key claims", made at L=6 with n=3.',
        notes=[
            "Paired t-tests over seeds; d is Cohen's d with the pooled standard deviation sqrt((s1² + s2²)/2). "
            "*** p < 0.001, ** p < 0.01, * p < 0.05, ns: not significant, –: too few seeds, or no spread. These say "
            "whether two sides differ, not whether a claim holds: that is the claim table's.",
            "Accuracy is final deployed accuracy; gap is each seed's late peak of the selection gap. n: the number of "
            "seeds in the store; with CAGE a pair shares its seed number but not its wiring.",
        ],
    )


def significance_by_dataset(groups: list[RunGroup]) -> Table:
    """The paper's cross-dataset verification: stars only, a row for each group."""
    contrasts = CONTRASTS[:3]
    return table(
        "significance-by-dataset",
        "The same tests across datasets",
        ["Runs", *(contrast.text for contrast in contrasts)],
        [[group.words, *(_stars(group, contrast) for contrast in contrasts)] for group in groups],
        where='The paper\'s table "Cross-dataset verification of key claims", made at L=6 with n=3.',
    )


def _stars(group: RunGroup, contrast: Contrast) -> TableCell:
    result, theirs = examine(group, contrast), printed.STATISTICS_BY_DATASET[contrast.key].get(group.dataset, "")
    aside = " (above 5 points)" if result and result.practical else ""
    return TableCell("" if result is None else f"{result.stars}{aside}, n={result.n}", theirs)


def tau_of(group: RunGroup, side: str) -> float:
    return group.taus[0] if side == "low" else group.taus[-1]


def _values(cell: SeedRuns, quantity: str) -> list[float]:
    return cell.finals("deploy") if quantity == "accuracy" else cell.late_peaks("selection")


def _sides(group: RunGroup, contrast: Contrast) -> str:
    names = [f"{method_name(m)} {tau_name(tau_of(group, side))}" for m, side in (contrast.first, contrast.second)]
    return f"{names[0]} vs {names[1]} ({contrast.quantity})"


def _cells(result: Comparison | None, theirs: tuple[str, ...]) -> Cells:
    t, p, d, stars, practical = theirs
    if result is None:
        return [
            "0",
            "",
            TableCell("no runs", t),
            TableCell("", p),
            TableCell("", d),
            TableCell("", stars),
            TableCell("", practical),
        ]
    return [
        TableCell(str(result.n), str(printed.SEEDS) if t else ""),
        f"{result.difference:+.2f}",
        TableCell(_number(result.t, ".2f"), t),
        TableCell("<.001" if result.p < 0.001 else _number(result.p, ".3f"), p),
        TableCell(_number(result.d, ".2f"), d),
        TableCell(result.stars, stars),
        TableCell("yes" if result.practical else "no", practical),
    ]


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
