"""What a claim of the paper is, and the few tests by which one is judged.

A test tests the claim: that Hard-ST is robust is refuted by a difference, however significant, and a zero by anything
but zero. Surprising: most numbers of the paper cannot be judged by most stores. They depend on the scale, and at
another scale the verdict is that they were not tested; what a claim says in general is judged wherever there are runs.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hardwire.paper.judging import SLACK, printed_numbers
from hardwire.study.reporting.table import BAD, GOOD, OPEN, WEAK

HOLDS, WEAKER, FAILS, UNTESTED = "holds", "holds weaker", "does not hold", "not tested at this scale"
VERDICTS = (FAILS, WEAKER, HOLDS, UNTESTED)  # as a reader wants to see them
PLURALS = {FAILS: "do not hold", WEAKER: "hold weaker", HOLDS: "hold", UNTESTED: UNTESTED}
TONES = {HOLDS: GOOD, WEAKER: WEAK, FAILS: BAD, UNTESTED: OPEN}
_WORST_LAST = (UNTESTED, HOLDS, WEAKER, FAILS)

RULES = (
    "A claim is judged by the worst of what it speaks about: of all seeds, temperatures, layers and datasets it names.",
    "Exact (a zero, a bound, an identity): holds only if no evaluation of any run breaks it.",
    "A above B: holds if the mean difference over seeds exceeds the margin that the claim states (0 if none) and every "
    "seed agrees; holds weaker if the mean has the right sign; does not hold otherwise. It takes two seeds.",
    "At most X: holds if the mean and two standard errors are below X; holds weaker if the mean is; else does not.",
    f"A number: holds within {SLACK:g} point, two standard errors or half a unit of its last printed digit; holds "
    "weaker with the right sign and at least half the size; else does not hold. Numbers that depend on the scale are "
    "judged only at the paper's width, depth, iterations, batch and learning rate.",
    "not tested at this scale: there are no such runs, too few seeds, another scale, or nothing was learned (less than "
    "5 points above chance). Our figure stands beside it where there is one.",
)


@dataclass(frozen=True)
class Finding:
    """What our runs say. figure: ours, with spread and n; scale: of the runs behind it."""

    verdict: str
    figure: str = ""
    scale: str = ""


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
    """One finding for several: the worst verdict, and all figures; what was not tested counts only if nothing was."""
    found = list(findings)
    if not found:
        return Finding(UNTESTED)
    verdict = max((one.verdict for one in found), key=_WORST_LAST.index)
    shown = [one for one in found if one.verdict != UNTESTED] or found
    figures = "; ".join(dict.fromkeys(one.figure for one in shown if one.figure))
    return Finding(verdict, figures, "; ".join(dict.fromkeys(one.scale for one in shown if one.scale)))


def named(name: str, finding: Finding) -> Finding:
    """The finding with its subject in front of the figure."""
    return replace(finding, figure=f"{name}: {finding.figure}") if finding.figure else finding


def spread(values: Sequence[float], unit: str = "") -> str:
    """mean ± deviation (n=3), in points unless a unit is given."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):+.1f}{deviation}{unit} (n={len(values)})"


def exact(broken: int, of: int, figure: str) -> Finding:
    """Of so many cases none may break it."""
    return Finding(UNTESTED if not of else FAILS if broken else HOLDS, figure)


def above(differences: Sequence[float], margin: float = 0.0) -> Finding:
    """A above B, from the difference of each seed."""
    if len(differences) < 2:
        return Finding(UNTESTED, spread(differences) if differences else "")
    mean, least = statistics.fmean(differences), min(differences)
    verdict = HOLDS if mean > margin and least > 0 else WEAKER if mean > 0 else FAILS
    return Finding(verdict, spread(differences))


def at_most(values: Sequence[float], limit: float) -> Finding:
    """The mean is at most `limit`."""
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    verdict = HOLDS if mean + 2 * error <= limit else WEAKER if mean <= limit else FAILS
    return Finding(verdict, spread(values))


def number(values: Sequence[float], stated: str) -> Finding:
    """The one number that the paper states."""
    ((value, slack),) = printed_numbers(stated)
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    if abs(mean - value) <= max(SLACK, 2 * error, slack):
        verdict = HOLDS
    else:
        verdict = WEAKER if mean * value > 0 and abs(mean) >= abs(value) / 2 else FAILS
    return Finding(verdict, spread(values))
