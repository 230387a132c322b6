"""Every numbered proposition, table, figure and sentence with a number, as a claim with what would refute it.

The table of them comes first in a report. Surprising: a claim that is made twice, as a principle and as a number, is
here twice; a small study can test the principle and must be silent about the number.
"""

from collections import Counter

from hardwire.paper.claims.accuracy import ACCURACY
from hardwire.paper.claims.arithmetic import ARITHMETIC
from hardwire.paper.claims.base import PLURALS, RULES, TONES, VERDICTS, Claim, Finding
from hardwire.paper.claims.cells import CELLS
from hardwire.paper.claims.course import COURSE
from hardwire.paper.claims.evidence import Evidence
from hardwire.paper.claims.gaps import GAPS
from hardwire.paper.claims.propositions import PROPOSITIONS
from hardwire.paper.claims.systems import SYSTEMS
from hardwire.paper.judging import table
from hardwire.study.reporting.table import Entry, Table

__all__ = ["CLAIMS", "RULES", "Claim", "Evidence", "Finding", "claim_table", "judge_all", "summary"]

CLAIMS: list[Claim] = [*GAPS, *ACCURACY, *COURSE, *CELLS, *PROPOSITIONS, *ARITHMETIC, *SYSTEMS]


def judge_all(evidence: Evidence) -> list[tuple[Claim, Finding]]:
    """Every claim with what this evidence says of it: what does not hold first, what was not tested last."""
    judged = [(claim, claim.judge(evidence)) for claim in CLAIMS]
    return sorted(judged, key=lambda pair: VERDICTS.index(pair[1].verdict))


def claim_table(judged: list[tuple[Claim, Finding]]) -> Table:
    rows: list[list[Entry | str | int]] = [
        [
            claim.where,
            Entry(claim.words, claim.stated),
            Entry(finding.verdict, verdict=finding.verdict, tone=TONES[finding.verdict]),
            finding.figure,
            claim.refuted,
            Entry(finding.scale or "–", claim.scale),
        ]
        for claim, finding in judged
    ]
    columns = ["Where", "Claim", "Verdict", "Ours", "Refuted by", "Scale"]
    return table("claims", "Claims", columns, rows, notes=list(RULES))


def summary(judged: list[tuple[Claim, Finding]]) -> str:
    """How many claims have each verdict, in a sentence."""
    found = Counter(finding.verdict for _, finding in judged)
    return f"{len(judged)} claims: " + ", ".join(f"{found[verdict]} {PLURALS[verdict]}" for verdict in VERDICTS)
