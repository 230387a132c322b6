"""Every numbered proposition, table, figure and sentence with a number, as a claim with what would refute it.

`claims.csv` has the paper's words, the modules here the judges; the table of them comes first in a report.
Surprising: a claim that is made twice, as a principle and as a number, is here twice; a small study can test the
principle and must be silent about the number.
"""

import csv
import functools
from collections import Counter
from importlib import resources

from hardwire.paper.claims import accuracy, arithmetic, cells, commitment, course, gaps, propositions, systems
from hardwire.paper.claims.base import PLURALS, RULES, TONES, VERDICTS, Claim, Finding
from hardwire.paper.claims.evidence import Evidence, Judges
from hardwire.paper.judging import table
from hardwire.study.reporting.table import Entry, Table

__all__ = ["JUDGES", "RULES", "Claim", "Evidence", "Finding", "claim_table", "claims", "judge_all", "summary"]

JUDGES: Judges = {
    **gaps.JUDGES,
    **accuracy.JUDGES,
    **course.JUDGES,
    **commitment.JUDGES,
    **cells.JUDGES,
    **propositions.JUDGES,
    **arithmetic.JUDGES,
    **systems.JUDGES,
}


@functools.cache
def claims() -> list[Claim]:
    text = resources.files("hardwire.paper.claims").joinpath("claims.csv").read_text()
    return [Claim(**row) for row in csv.DictReader(text.splitlines())]


def judge_all(evidence: Evidence) -> list[tuple[Claim, Finding]]:
    """Every claim with what this evidence says of it: what does not hold first, what was not tested last."""
    judged = [(claim, JUDGES[claim.key](evidence)) for claim in claims()]
    return sorted(judged, key=lambda pair: VERDICTS.index(pair[1].verdict))


def claim_table(judged: list[tuple[Claim, Finding]]) -> Table:
    rows: list[list[Entry | str | int]] = [
        [
            Entry(claim.words, claim.stated),
            Entry(finding.verdict, verdict=finding.verdict, tone=TONES[finding.verdict]),
            finding.figure,
            claim.refuted,
            Entry(finding.scale or "–", claim.scale),
            claim.where,
        ]
        for claim, finding in judged
    ]
    columns = ["Claim", "Verdict", "Ours", "Refuted by", "Scale", "Where"]
    return table("claims", "Claims", columns, rows, notes=list(RULES))


def summary(judged: list[tuple[Claim, Finding]]) -> list[tuple[str, str]]:
    """How many claims have each verdict, each with its tone."""
    found = Counter(finding.verdict for _, finding in judged)
    return [(f"{found[verdict]} {PLURALS[verdict]}", TONES[verdict]) for verdict in VERDICTS]
