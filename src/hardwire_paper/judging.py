"""The rules by which a figure of ours agrees with the paper's: every number that the paper prints gets its own verdict,
and a cell's verdict is the worst of them.

Surprising: the rule for arithmetic looks at how the paper prints a number. 16.7 claims a tenth of a percent, ~2 less.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from hardwire.study.reporting.table import BAD, GOOD, OPEN, TableCell
from hardwire.study.reporting.table import table as plain_table

AGREE, NOT_COMPARABLE, DIFFER = "agree", "not comparable", "differ"  # from best to worst
_WORST_LAST = ("", AGREE, NOT_COMPARABLE, DIFFER)
_TONES = {"": OPEN, AGREE: GOOD, NOT_COMPARABLE: OPEN, DIFFER: BAD}
SLACK = 1.0  # points
PRACTICAL = 5.0  # points: the paper's threshold of practical significance
PRINTED_RULE = (
    "agree: our figure is within half a unit of the last digit that the paper prints (one unit where the paper "
    "writes ~); differ: it is not. Where a cell has several numbers, each is judged, and the worst verdict stands"
)
SCALE_RULE = (
    "verdicts on runs are given only where width, iterations, batch size, learning rate and depth are the paper's; "
    f"there, agree means that every number of the cell is within {SLACK:g} point or two standard errors of our seeds "
    "(a quarter of the number at most), whichever is larger, and differ that one is not; elsewhere: not comparable"
)

table = partial(plain_table, reference="paper")


@dataclass(frozen=True)
class SampleMean:
    """A figure of ours: the mean over seeds, and its standard error."""

    value: float
    error: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> "SampleMean":
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
        return cls(statistics.fmean(values), error)


def judged(text: str, theirs: str, verdicts: Sequence[str]) -> TableCell:
    """A cell with the paper's beside it, from the verdict on each of its numbers; where they differ, all are told."""
    verdict = worst(verdicts)
    return TableCell(text, theirs, verdict, _TONES[verdict], ", ".join(verdicts) if len(set(verdicts)) > 1 else "")


def worst(verdicts: Sequence[str]) -> str:
    return max(verdicts, key=_WORST_LAST.index, default="")


def printed_numbers(text: str) -> list[tuple[float, float]]:
    """The numbers of a cell as the paper prints it: the value of each, and how far an agreeing figure may be off."""
    numbers = []
    for about, digits in re.findall(r"(~?)([+-]?\d*\.?\d+)", text.replace(",", "").replace("−", "-")):
        unit = 10.0 ** -len(digits.partition(".")[2])
        numbers.append((float(digits), unit if about else unit / 2))
    return numbers


def slack_of_runs(value: float, slack: float, error: float) -> float:
    """How far runs may be off a stated value: a point, or two standard errors, which excuse a quarter of it at most."""
    return max(SLACK, slack, min(2 * error, abs(value) / 4))


def judge_printed(ours: Sequence[float], theirs: str) -> list[str]:
    """For each number agree or differ, by PRINTED_RULE; the numbers of ours stand in the order of the paper's."""
    pairs = zip(ours, printed_numbers(theirs), strict=True)
    return [AGREE if abs(value - stated) <= slack * (1 + 1e-9) else DIFFER for value, (stated, slack) in pairs]


def judge_runs(ours: Sequence[SampleMean], theirs: str, comparable: bool) -> list[str]:
    """For each number agree, differ or not comparable, by SCALE_RULE, in points; nothing where the paper has none."""
    pairs = zip(ours, printed_numbers(theirs), strict=True) if printed_numbers(theirs) else ()
    if not comparable:
        return [NOT_COMPARABLE for _ in pairs]
    return [
        AGREE if abs(our.value - value) <= slack_of_runs(value, slack, our.error) else DIFFER
        for our, (value, slack) in pairs
    ]
