"""What a claim of the paper is, and the few tests by which one is judged.

A test tests the claim: that Hard-ST is robust is refuted by a difference, however significant, and a zero by anything
but zero. Surprising: most numbers of the paper cannot be judged by most stores. They depend on the scale, and at
another scale the verdict is that they were not tested; a general statement is judged wherever there are runs that can
test it.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hardwire.study.reporting.table import BAD, GOOD, OPEN, WEAK
from hardwire_paper.judging import SLACK, SampleMean, printed_numbers, slack_of_runs

HOLDS, WEAKER, FAILS, UNTESTED = "holds", "holds weaker", "does not hold", "not tested at this scale"
NOT_YET = "not tested yet"  # what the last of them is called while a study is not finished
VERDICTS = (FAILS, WEAKER, HOLDS, UNTESTED)  # as a reader wants to see them
PLURALS = {FAILS: "do not hold", WEAKER: "hold weaker", HOLDS: "hold", UNTESTED: UNTESTED}
TONES = {HOLDS: GOOD, WEAKER: WEAK, FAILS: BAD, UNTESTED: OPEN}
_WORST_LAST = (UNTESTED, HOLDS, WEAKER, FAILS)
MANY = 4  # parts of a claim, above which not all are shown

ARITHMETIC, ANY_RUN, TRAINING, SYSTEMS = "arithmetic", "any run", "training", "systems"  # what a claim is judged by

RULES = (
    "A claim about exact quantities (a zero, a bound, an identity) is tested by every run. A claim about training is "
    "tested by runs on the paper's datasets with at least an eighth of its width, four layers and a tenth of its "
    "iterations. Smaller runs say nothing about it, and it is not tested.",
    "A claim is judged by the worst of what it is about: of all seeds, temperatures, layers and datasets that it "
    "names. If a part of that was not tested, it holds weaker at best.",
    "On each dataset it is judged by the runs nearest to the paper's scale that can test it, or the most of it; a "
    "claim about several methods is judged method by method. Runs of Gumbel-ST in the paper's reading come before "
    "those in another one. One seed can refute a claim, and lets it hold weaker at best; if only that is missing, it "
    "holds if the nearest runs with several seeds say so.",
    "If one seed refutes it at another depth than the paper's six layers, and several seeds at six layers do not, it "
    "holds weaker.",
    "Late in training means from where the paper's ranges begin: iteration 10,000, or 12,000 on CIFAR-10-Binary. A run "
    "that ends before is judged by its end.",
    "Exact (a zero, a bound, an identity): holds only if no evaluation of any run breaks it.",
    "A above B: holds if the mean difference over seeds exceeds the margin that the claim states (0 if none) and every "
    "seed agrees; holds weaker if the mean has the right sign; does not hold otherwise.",
    "At most X: holds if the mean plus two standard errors is below X; holds weaker if the mean is; otherwise does "
    "not hold.",
    f"A number: holds within {SLACK:g} point, two standard errors (at most a quarter of it) or half a unit of its last "
    "printed digit; holds weaker with the right sign and at least half the size; otherwise does not hold. Numbers that "
    "depend on the scale are judged only at the paper's width, depth, iterations, batch and learning rate.",
    "About a value, read off one of the paper's figures or derived by it roughly: holds within a tenth of it, holds "
    "weaker within a quarter, otherwise does not hold. So are CAGE's temperatures and confidences and GroupSum's "
    "statistics judged. A gradient has vanished below a tenth of what it is at another temperature.",
    "Converges: by accuracy, and for Soft-Gumbel, of which the paper says that its gap is slow to close, by the gap. A "
    "gap that is 0 by construction says nothing about how fast a method learns.",
    "A table: holds if all of its cells agree, holds weaker if half of them do, does not hold if half of them differ.",
    "not tested at this scale: there are no such runs, or too few for a table, or only at another scale, or nothing "
    "was learned (less than 5 points above chance). Our figure is shown if there is one.",
)


@dataclass(frozen=True)
class Finding:
    """What our runs say about a claim.

    Attributes:
        verdict: One of VERDICTS.
        figure: Our numbers, with spread and n.
        scales: The scales of the runs behind it, in words.
        groups: The names of the groups of runs behind it.
        few: Whether it holds weaker only because there is one seed.
        missing: How many parts of the claim these runs do not test.
        cells: Of a claim about a table, how many of its cells agree and how many differ.
    """

    verdict: str
    figure: str = ""
    scales: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()
    few: bool = False
    missing: int = 0
    cells: tuple[int, int] = (0, 0)

    @property
    def scale(self) -> str:
        """The scales in one line."""
        return "; ".join(self.scales)


@dataclass(frozen=True)
class Claim:
    """A line of claims.csv.

    Attributes:
        key: Its id, by which everything else refers to it.
        basis: What it is judged by: "arithmetic", "any run", "training" or "systems".
        where: The place in the paper.
        words: What it says, in short.
        stated: Its number, if it has one.
        refuted: What would refute it.
        scale: The paper's own scale.
    """

    key: str
    basis: str
    where: str
    words: str
    stated: str
    refuted: str
    scale: str


def worst(findings: Iterable[Finding]) -> Finding:
    """Returns one finding for several: the worst verdict, and all figures. With parts not tested it cannot hold.

    Of many parts only those that decide are shown, and how many hold.
    """
    parts = list(findings)
    verdicts = {part.verdict for part in parts} or {UNTESTED}
    verdict = WEAKER if verdicts == {HOLDS, UNTESTED} else max(verdicts, key=_WORST_LAST.index)
    deciding = [part for part in parts if part.verdict == verdict] or parts
    shown = parts if len(parts) <= MANY else deciding
    figures = "; ".join(dict.fromkeys(part.figure for part in shown if part.figure))
    if len(shown) < len(parts):
        count = Counter(part.verdict for part in parts)
        weaker = f", {count[WEAKER]} hold weaker" if count[WEAKER] and verdict != WEAKER else ""
        figures += f"; {count[HOLDS]} of {len(parts)} parts hold{weaker}"
    few = verdict == WEAKER and all(part.few or part.verdict == HOLDS for part in parts)
    scales = tuple(dict.fromkeys(scale for part in parts for scale in part.scales))
    groups = frozenset().union(*(part.groups for part in parts))
    missing = sum(part.missing or part.verdict == UNTESTED for part in parts)
    return Finding(verdict, figures, scales, groups, few, missing)


def capped(finding: Finding, seeds: int) -> Finding:
    """Returns the finding; with one seed it holds weaker at best."""
    return replace(finding, verdict=WEAKER, few=True) if finding.verdict == HOLDS and seeds < 2 else finding


def named(name: str, finding: Finding) -> Finding:
    """Returns the finding with its subject in front of the figure."""
    return replace(finding, figure=f"{name}: {finding.figure}") if finding.figure else finding


def not_tested(name: str) -> Finding:
    """Returns the finding for a part of a claim that these runs cannot test."""
    return Finding(UNTESTED, f"{name} not tested")


def still_learning(finding: Finding) -> Finding:
    """Returns the figure of runs that are not at their end, for a claim about the end."""
    return Finding(UNTESTED, f"{finding.figure}, still learning")


def spread(values: Sequence[float], unit: str = "") -> str:
    """Returns mean ± deviation (n=3), in points unless a unit is given."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):+.1f}{deviation}{unit} (n={len(values)})"


def exact(broken: int, of: int, figure: str) -> Finding:
    """Judges what no case may break. broken: how many do, out of how many."""
    return Finding(UNTESTED if not of else FAILS if broken else HOLDS, figure)


def above(differences: Sequence[float], margin: float = 0.0) -> Finding:
    """Judges "A above B" from the difference of each seed."""
    if not differences:
        return Finding(UNTESTED)
    mean, least = statistics.fmean(differences), min(differences)
    verdict = HOLDS if mean > margin and least > 0 else WEAKER if mean > 0 else FAILS
    return capped(Finding(verdict, spread(differences)), len(differences))


def at_most(values: Sequence[float], limit: float) -> Finding:
    """Judges whether the mean is at most `limit`."""
    mean = SampleMean.of(values)
    verdict = HOLDS if mean.value + 2 * mean.error <= limit else WEAKER if mean.value <= limit else FAILS
    return capped(Finding(verdict, spread(values)), len(values))


def number(values: Sequence[float], stated: str) -> Finding:
    """Judges a single number that the paper states."""
    ((value, slack),) = printed_numbers(stated)
    mean = SampleMean.of(values)
    if abs(mean.value - value) <= slack_of_runs(value, slack, mean.error):
        verdict = HOLDS
    else:
        verdict = WEAKER if mean.value * value > 0 and abs(mean.value) >= abs(value) / 2 else FAILS
    return capped(Finding(verdict, spread(values)), len(values))
