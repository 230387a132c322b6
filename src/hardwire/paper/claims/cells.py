"""The paper's tables as claims: how many of their cells our runs agree with, every number of a cell counting.

And its tests: a star says that two sides differ, so the claim that all findings are significant is about stars alone.
"""

from collections.abc import Callable

from hardwire.paper import printed, statistics, tables
from hardwire.paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding
from hardwire.paper.claims.evidence import BINARY, Evidence, Judges, scale_of
from hardwire.paper.groups import Group, group_runs
from hardwire.paper.judging import AGREE, NOT_COMPARABLE
from hardwire.study.reporting.table import Table


def _agreement(found: Table, columns: slice = slice(1, None)) -> Finding:
    """Of the cells that the paper has a figure for: holds if all agree, weaker if half of them do."""
    verdicts = [entry.verdict for row in found.rows for entry in row[columns] if entry.verdict]
    judged = [verdict for verdict in verdicts if verdict != NOT_COMPARABLE]
    if not judged:
        return Finding(UNTESTED, f"0 of {len(verdicts)} cells at the paper's scale" if verdicts else "")
    right = judged.count(AGREE)
    verdict = HOLDS if right == len(judged) else WEAKER if right >= len(judged) / 2 else FAILS
    missing = f", {len(verdicts) - len(judged)} at another scale" if len(judged) < len(verdicts) else ""
    return Finding(verdict, f"{right} of {len(judged)} cells agree{missing}")


def _of_group(dataset: str, make: Callable[[Group], Table]) -> Callable[[Evidence], Finding]:
    def judge(evidence: Evidence) -> Finding:
        group = evidence.group(dataset)
        if group is None:
            return Finding(UNTESTED)
        finding = _agreement(make(group))
        return Finding(finding.verdict, finding.figure, scale_of(group))

    return judge


def _of_depths(dataset: str) -> Callable[[Evidence], Finding]:
    """The trajectory tables have all depths: of the groups on this dataset the one at the paper's scale, or any."""

    def judge(evidence: Evidence) -> Finding:
        groups = [group for group in group_runs(evidence.runs) if group.dataset == dataset]
        if not groups:
            return Finding(UNTESTED)
        group = max(groups, key=lambda group: group.comparable)
        finding = _agreement(tables.trajectories(group), slice(2, None))
        return Finding(finding.verdict, finding.figure, group.size)

    return judge


def _of_groups(make: Callable[[list[Group]], Table]) -> Callable[[Evidence], Finding]:
    def judge(evidence: Evidence) -> Finding:
        groups = [group for group in evidence.groups if group.dataset in printed.DATASETS]
        if not groups:
            return Finding(UNTESTED)
        finding = _agreement(make(groups))
        return Finding(finding.verdict, finding.figure, "; ".join(map(scale_of, groups)))

    return judge


def _all_significant(evidence: Evidence) -> Finding:
    """p < 0.05 in all five of the paper's tests, on the runs that come nearest to the paper's."""
    group = evidence.group(BINARY) or next(iter(evidence.groups), None)
    if group is None:
        return Finding(UNTESTED)
    results = {c.text: statistics.examine(group, c) for c in statistics.CONTRASTS}
    tested = {text: result for text, result in results.items() if result is not None and result.p == result.p}
    if len(tested) < len(results):
        return Finding(UNTESTED, f"{len(tested)} of {len(results)} tests possible", scale_of(group))
    wrong = [text for text, result in tested.items() if result.p >= 0.05]
    listed = ", ".join(f"{text} p = {result.p:.3f}" for text, result in tested.items())
    return Finding(FAILS if wrong else HOLDS, listed, scale_of(group))


def _stars(dataset: str, rows: int) -> Callable[[Evidence], Finding]:
    """Of the paper's tests on a dataset: whether each is significant, and above its practical threshold, as there."""

    def judge(evidence: Evidence) -> Finding:
        group = evidence.group(dataset)
        results = [statistics.examine(group, contrast) for contrast in statistics.CONTRASTS[:rows]] if group else []
        if group is None or None in results:
            return Finding(UNTESTED)
        found, right = [], 0
        for contrast, result in zip(statistics.CONTRASTS, results, strict=False):
            assert result is not None
            stars, practical = printed.STATISTICS[contrast.key][3:]
            stars = printed.STATISTICS_BY_DATASET.get(contrast.key, {}).get(dataset, stars)
            same = (result.p < 0.05) == (stars != "ns") and result.practical == (practical == "yes")
            right += same
            found.append(f"{contrast.text}: {result.difference:+.1f}, p = {result.p:.3f}, n={result.n}")
        verdict = HOLDS if right == rows else WEAKER if right >= rows / 2 else FAILS
        verdict = verdict if group.comparable_at(group.main_depth) else UNTESTED
        return Finding(verdict, "; ".join(found), scale_of(group))

    return judge


JUDGES: Judges = {
    "table-1": _of_group(BINARY, tables.selection_gap),
    "table-2": _of_groups(tables.robustness),
    "table-5": _of_groups(tables.cross_dataset),
    **{f"table-{number}": _of_depths(dataset) for number, dataset in zip((6, 7, 8), printed.DATASETS, strict=True)},
    "table-9": _stars(BINARY, 5),
    **{f"table-10-{dataset}": _stars(dataset, 3) for dataset in printed.DATASETS},
    "all-significant": _all_significant,
}
