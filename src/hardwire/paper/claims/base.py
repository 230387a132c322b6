"""What a claim of the paper is, and the few tests by which one is judged.

A test tests the claim: that Hard-ST is robust is refuted by a difference, however significant, and a zero by anything
but zero. Surprising: most numbers of the paper cannot be judged by most stores. They depend on the scale, and at
another scale the verdict is that they were not tested; what a claim says in general is judged wherever there are runs.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hardwire.paper.judging import SLACK, Measured, printed_numbers, slack_of_runs
from hardwire.study.reporting.table import BAD, GOOD, OPEN, WEAK

HOLDS, WEAKER, FAILS, UNTESTED = "holds", "holds weaker", "does not hold", "not tested at this scale"
NOT_YET = "not tested yet"  # what the last of them is called while a study is not finished
VERDICTS = (FAILS, WEAKER, HOLDS, UNTESTED)  # as a reader wants to see them
PLURALS = {FAILS: "do not hold", WEAKER: "hold weaker", HOLDS: "hold", UNTESTED: UNTESTED}
TONES = {HOLDS: GOOD, WEAKER: WEAK, FAILS: BAD, UNTESTED: OPEN}
_WORST_LAST = (UNTESTED, HOLDS, WEAKER, FAILS)
MANY = 4  # parts of a claim, above which not all are shown

RULES = (
    "A claim is judged by the worst of what it speaks about: of all seeds, temperatures, layers and datasets it names "
    "(and datasets that the paper does not know). Where a part of that was not tested, it holds weaker at best.",
    "On each dataset it is judged by the runs nearest to the paper's scale that can test it, or the most of it; what "
    "is said of several methods, method by method. One seed can refute it, and lets it hold weaker at best; where only "
    "that is missing, it holds if the nearest runs with several seeds say so.",
    "What one seed refutes at another depth than the paper's six layers, and several seeds at six layers do not, holds "
    "weaker.",
    "Late in training is from where the paper's ranges begin: iteration 10,000, 12,000 on CIFAR-10-Binary. A run that "
    "ends before is judged by its end.",
    "Exact (a zero, a bound, an identity): holds only if no evaluation of any run breaks it.",
    "A above B: holds if the mean difference over seeds exceeds the margin that the claim states (0 if none) and every "
    "seed agrees; holds weaker if the mean has the right sign; does not hold otherwise.",
    "At most X: holds if the mean and two standard errors are below X; holds weaker if the mean is; else does not.",
    f"A number: holds within {SLACK:g} point, two standard errors (a quarter of it at most) or half a unit of its last "
    "printed digit; holds weaker with the right sign and at least half the size; else does not hold. Numbers that "
    "depend on the scale are judged only at the paper's width, depth, iterations, batch and learning rate.",
    "A table: holds if all of its cells agree, weaker if half of them do, does not hold if half of them differ.",
    "not tested at this scale: there are no such runs, or too few of a table's, another scale, or nothing was learned "
    "(less than 5 points above chance). Our figure stands beside it where there is one.",
)


@dataclass(frozen=True)
class Finding:
    """What our runs say. figure: ours, with spread and n; scale: of the runs behind it.

    few: it holds weaker only because there is one seed; missing: parts of the claim that these runs do not test.
    """

    verdict: str
    figure: str = ""
    scale: str = ""
    few: bool = False
    missing: int = 0


@dataclass(frozen=True)
class Claim:
    """A line of claims.csv. where: the place in the paper; words: what it says, in short; stated: its number, if any.

    refuted: by what; scale: the paper's own.
    """

    key: str
    where: str
    words: str
    stated: str
    refuted: str
    scale: str


def worst(findings: Iterable[Finding]) -> Finding:
    """One finding for several: the worst verdict, and all figures. With parts that were not tested it cannot hold.

    Of many parts only those are shown that decide, and how many hold.
    """
    found = list(findings)
    verdicts = {one.verdict for one in found} or {UNTESTED}
    verdict = WEAKER if verdicts == {HOLDS, UNTESTED} else max(verdicts, key=_WORST_LAST.index)
    deciding = [one for one in found if one.verdict == verdict] or found
    shown = found if len(found) <= MANY else deciding
    figures = "; ".join(dict.fromkeys(one.figure for one in shown if one.figure))
    if len(shown) < len(found):
        count = Counter(one.verdict for one in found)
        weaker = f", {count[WEAKER]} hold weaker" if count[WEAKER] and verdict != WEAKER else ""
        figures += f"; {count[HOLDS]} of {len(found)} parts hold{weaker}"
    few = verdict == WEAKER and all(one.few or one.verdict == HOLDS for one in found)
    scales = dict.fromkeys(scale for one in found if one.scale for scale in one.scale.split("; "))
    missing = sum(one.missing or one.verdict == UNTESTED for one in found)
    return Finding(verdict, figures, "; ".join(scales), few, missing)


def capped(finding: Finding, seeds: int) -> Finding:
    """One seed lets nothing hold but weaker."""
    return replace(finding, verdict=WEAKER, few=True) if finding.verdict == HOLDS and seeds < 2 else finding


def named(name: str, finding: Finding) -> Finding:
    """The finding with its subject in front of the figure."""
    return replace(finding, figure=f"{name}: {finding.figure}") if finding.figure else finding


def not_tested(name: str) -> Finding:
    """A part of a claim that these runs cannot test."""
    return Finding(UNTESTED, f"{name} not tested")


def still_learning(finding: Finding) -> Finding:
    """The figure of runs that are not at their end, where the claim speaks of that."""
    return Finding(UNTESTED, f"{finding.figure}, still learning")


def spread(values: Sequence[float], unit: str = "") -> str:
    """mean ± deviation (n=3), in points unless a unit is given."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):+.1f}{deviation}{unit} (n={len(values)})"


def exact(broken: int, of: int, figure: str) -> Finding:
    """Of so many cases none may break it."""
    return Finding(UNTESTED if not of else FAILS if broken else HOLDS, figure)


def above(differences: Sequence[float], margin: float = 0.0) -> Finding:
    """A above B, from the difference of each seed."""
    if not differences:
        return Finding(UNTESTED)
    mean, least = statistics.fmean(differences), min(differences)
    verdict = HOLDS if mean > margin and least > 0 else WEAKER if mean > 0 else FAILS
    return capped(Finding(verdict, spread(differences)), len(differences))


def at_most(values: Sequence[float], limit: float) -> Finding:
    """The mean is at most `limit`."""
    found = Measured.of(values)
    verdict = HOLDS if found.value + 2 * found.error <= limit else WEAKER if found.value <= limit else FAILS
    return capped(Finding(verdict, spread(values)), len(values))


def number(values: Sequence[float], stated: str) -> Finding:
    """The one number that the paper states."""
    ((value, slack),) = printed_numbers(stated)
    found = Measured.of(values)
    if abs(found.value - value) <= slack_of_runs(value, slack, found.error):
        verdict = HOLDS
    else:
        verdict = WEAKER if found.value * value > 0 and abs(found.value) >= abs(value) / 2 else FAILS
    return capped(Finding(verdict, spread(values)), len(values))
