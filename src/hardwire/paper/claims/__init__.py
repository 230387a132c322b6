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
from hardwire.paper.claims.base import NOT_YET, PLURALS, RULES, TONES, UNTESTED, VERDICTS, Claim, Finding
from hardwire.paper.claims.evidence import Evidence, Judges
from hardwire.paper.judging import table
from hardwire.study.reporting.studies import Study
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
    judged = [(claim, JUDGES[claim.key](evidence.naming(claim))) for claim in claims()]
    return sorted(judged, key=lambda pair: VERDICTS.index(pair[1].verdict))


def claim_table(judged: list[tuple[Claim, Finding]], evidence: Evidence, studies: list[Study]) -> Table:
    """studies: those behind the evidence. Where there are several, each claim says by which it was judged."""
    waiting = any(not study.finished for study in studies)
    rows: list[list[Entry | str | int]] = []
    for claim, finding in judged:
        verdict = NOT_YET if waiting and finding.verdict == UNTESTED else finding.verdict
        row: list[Entry | str | int] = [
            Entry(claim.words, claim.stated),
            Entry(verdict, verdict=verdict, tone=TONES[finding.verdict]),
            finding.figure,
            claim.refuted,
            Entry(finding.scale or "–", claim.scale),
            claim.where,
        ]
        behind = [study for study in studies if _is_behind(study, claim, finding, evidence)]
        rows.append([*row, ", ".join(map(_progress, behind)) or "–"] if len(studies) > 1 else row)
    columns = ["Claim", "Verdict", "Ours", "Refuted by", "Scale", "Where", *(["Study"] if len(studies) > 1 else [])]
    return table("claims", "Claims", columns, rows, notes=list(RULES))


def _is_behind(study: Study, claim: Claim, finding: Finding, evidence: Evidence) -> bool:
    """Whether a claim was judged by runs of this study: a finding says at which scale its runs were made."""
    own = {run.config.identity for run in study.runs}
    if claim.key in systems.JUDGES:
        return bool(finding.figure) and any(run.config.kind == "systems" for run in study.runs)
    if finding.scale == evidence.networks:
        return bool(finding.figure) and any(run.config.identity in own for run in evidence.runs)
    groups = [group for group in evidence.groups if group.words in finding.scale.split("; ")]
    return any(run.config.identity in own for group in groups for cell in group.cells.values() for run in cell.runs)


def _progress(study: Study) -> str:
    return study.short if study.finished else f"{study.short} ({study.progress} so far)"


def summary(judged: list[tuple[Claim, Finding]], studies: list[Study]) -> list[tuple[str, str]]:
    """How many claims have each verdict, each with its tone."""
    found = Counter(finding.verdict for _, finding in judged)
    waiting = any(not study.finished for study in studies)
    words = PLURALS | ({UNTESTED: NOT_YET} if waiting else {})
    return [(f"{found[verdict]} {words[verdict]}", TONES[verdict]) for verdict in VERDICTS]
