"""Every numbered proposition, table, figure and sentence with a number, as a claim with what would refute it.

`claims.csv` has the paper's words, the modules here the judges; both are joined by the claim's id. Surprising: a
claim that is made twice, as a principle and as a number, is here twice; a small study can test the principle and must
be silent about the number.
"""

import csv
import functools
from collections import Counter
from importlib import resources

from hardwire.study.reporting.studies import Study
from hardwire.study.reporting.table import Cells, Table, TableCell
from hardwire_paper.claims import accuracy, arithmetic, cells, commitment, course, gaps, nodes, propositions, systems
from hardwire_paper.claims.base import ARITHMETIC, NOT_YET, PLURALS, RULES, TONES, UNTESTED, VERDICTS, Claim, Finding
from hardwire_paper.claims.cells import cell_counts
from hardwire_paper.claims.evidence import SYSTEMS_GROUP, Evidence, EvidenceFor, Judges
from hardwire_paper.groups import group_runs
from hardwire_paper.judging import table
from hardwire_paper.runs import NetworkRun

__all__ = [
    "JUDGES",
    "RULES",
    "Claim",
    "Evidence",
    "Finding",
    "cell_counts",
    "claim_tables",
    "claims",
    "judge_all",
    "summary",
]

JUDGES: Judges = {
    **gaps.JUDGES,
    **accuracy.JUDGES,
    **course.JUDGES,
    **commitment.JUDGES,
    **cells.JUDGES,
    **propositions.JUDGES,
    **nodes.JUDGES,
    **arithmetic.JUDGES,
    **systems.JUDGES,
}
Judged = list[tuple[Claim, Finding]]


@functools.cache
def claims() -> list[Claim]:
    """Returns the claims, in the order of claims.csv."""
    text = resources.files("hardwire_paper.claims").joinpath("claims.csv").read_text()
    return [Claim(**row) for row in csv.DictReader(text.splitlines())]


def judge_all(evidence: Evidence) -> Judged:
    """Returns every claim with what this evidence says: what does not hold first, what was not tested last."""
    own = EvidenceFor(evidence)
    judged = [(claim, JUDGES[claim.key](own.claim(claim))) for claim in claims()]
    return sorted(judged, key=lambda pair: VERDICTS.index(pair[1].verdict))


def claim_tables(judged: Judged, runs: list[NetworkRun], studies: list[Study]) -> list[Table]:
    """Returns the claims in three tables: tested by runs, tested by arithmetic, and not tested.

    Args:
        judged: From `judge_all`.
        runs: The networks behind it.
        studies: The studies behind it. If there are several, each claim names those by which it was judged.
    """
    tested = [pair for pair in judged if pair[1].verdict != UNTESTED]
    by_runs = [pair for pair in tested if pair[0].basis != ARITHMETIC]
    by_arithmetic = [pair for pair in tested if pair[0].basis == ARITHMETIC]
    rest = [pair for pair in judged if pair[1].verdict == UNTESTED]
    behind = _groups_of_studies(runs, studies)
    parts = (
        ("claims", "Claims tested by these runs", by_runs, False),
        ("claims-arithmetic", "Claims that need no run: arithmetic and single nodes", by_arithmetic, True),
        ("claims-not-tested", "Claims that these runs cannot test", rest, True),
    )
    tables = [_table(slug, title, part, studies, behind, folded) for slug, title, part, folded in parts if part]
    return [table for table in tables if table.rows]


def _table(
    slug: str, title: str, judged: Judged, studies: list[Study], behind: dict[str, set[str]], folded: bool
) -> Table:
    waiting = any(not study.finished for study in studies)
    rows: list[Cells] = []
    for claim, finding in judged:
        verdict = NOT_YET if waiting and finding.verdict == UNTESTED else finding.verdict
        row: Cells = [
            TableCell(claim.words, claim.stated),
            TableCell(verdict, verdict=verdict, tone=TONES[finding.verdict]),
            finding.figure,
            claim.refuted,
            TableCell(finding.scale or "–", claim.scale),
            claim.where,
        ]
        named = [_progress(study) for study in studies if finding.figure and behind[study.name] & finding.groups]
        rows.append([*row, ", ".join(named) or "–"] if len(studies) > 1 else row)
    columns = ["Claim", "Verdict", "Ours", "Refuted by", "Scale", "Where", *(["Study"] if len(studies) > 1 else [])]
    ids = [claim.key for claim, _ in judged]
    notes = list(RULES) if slug == "claims" else []
    return table(slug, title, columns, rows, notes=notes, ids=ids, folded=folded)


def _groups_of_studies(runs: list[NetworkRun], studies: list[Study]) -> dict[str, set[str]]:
    """The names of the groups that the runs of each study are in."""
    groups: dict[str, set[str]] = {}
    for group in group_runs(runs, overlapping=True):
        for layer in (group.at(depth) for depth in group.depths):
            for run in layer.runs:
                groups.setdefault(run.config.identity, set()).add(layer.name)
    return {
        study.name: {
            name
            for run in study.runs
            for name in ([SYSTEMS_GROUP] if run.config.kind == "systems" else groups.get(run.config.identity, ()))
        }
        for study in studies
    }


def _progress(study: Study) -> str:
    return study.short if study.finished else f"{study.short} ({study.progress} so far)"


def summary(judged: Judged, studies: list[Study]) -> list[tuple[str, str]]:
    """Returns how many claims have each verdict, each with its tone; those that need no run are left out."""
    counts = Counter(finding.verdict for claim, finding in judged if claim.basis != ARITHMETIC)
    waiting = any(not study.finished for study in studies)
    words = PLURALS | ({UNTESTED: NOT_YET} if waiting else {})
    return [(f"{counts[verdict]} {words[verdict]}", TONES[verdict]) for verdict in VERDICTS if counts[verdict]]
