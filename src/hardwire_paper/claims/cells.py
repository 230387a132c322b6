"""The paper's tables as claims: how many of their cells our runs agree with, every number of a cell counting.

And its tests: a star says that two sides differ, so the claim that all findings are significant is about stars alone.
"""

from collections.abc import Callable
from dataclasses import replace

from hardwire.study.reporting.table import Cells, Table
from hardwire_paper import printed, statistics, tables
from hardwire_paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding, capped
from hardwire_paper.claims.evidence import BINARY, CIFAR, MNIST, Evidence, Judges, about, at_scale, everywhere
from hardwire_paper.groups import RunGroup, group_runs
from hardwire_paper.judging import AGREE, DIFFER, SCALE_RULE, table
from hardwire_paper.names import dataset_name


def _agreement(table: Table, cells: int, columns: slice = slice(1, None)) -> Finding:
    """Of all cells that the paper's table has, run or not: holds if all agree, weaker if half of them do."""
    verdicts = [cell.verdict for row in table.rows for cell in row[columns]]
    right, wrong = verdicts.count(AGREE), verdicts.count(DIFFER)
    verdict = HOLDS if right == cells else WEAKER if right >= cells / 2 else FAILS if wrong > cells / 2 else UNTESTED
    figure = f"{right} of {cells} cells agree, {wrong} differ, {cells - right - wrong} not judged"
    return Finding(verdict, figure, cells=(right, wrong))


def _of_depth(dataset: str, make: Callable[[RunGroup], Table], cells: int) -> Callable[[Evidence], Finding]:
    """A table of one dataset at one depth."""
    return lambda evidence: evidence.nearest(dataset, lambda group: _agreement(make(group), cells)) or Finding(UNTESTED)


def _of_depths(dataset: str) -> Callable[[Evidence], Finding]:
    """The trajectory tables have all depths: of the groups on this dataset the one at the paper's scale, or any."""

    def judge(evidence: Evidence) -> Finding:
        groups = [group for group in group_runs(evidence.runs) if group.dataset == dataset]
        if not groups:
            return Finding(UNTESTED)
        group = max(groups, key=lambda group: group.comparable)
        finding = about(group, _agreement(tables.trajectories(group), 90, slice(2, None)))
        layers = frozenset(group.at(depth).name for depth in group.depths)
        return replace(finding, scales=(f"{dataset_name(dataset)}, {group.size}",), groups=layers)

    return judge


def _of_datasets(make: Callable[[list[RunGroup]], Table], cells: int) -> Callable[[Evidence], Finding]:
    """A table with columns for all datasets, each from the runs nearest to the paper's."""

    def judge(evidence: Evidence) -> Finding:
        groups = [evidence.on(dataset)[0] for dataset in printed.DATASETS if evidence.on(dataset)]
        if not groups:
            return Finding(UNTESTED)
        scales, names = tuple(group.words for group in groups), frozenset(group.name for group in groups)
        finding = replace(_agreement(make(groups), cells), scales=scales, groups=names)
        return capped(finding, min(group.seeds for group in groups))

    return judge


def _all_significant(group: RunGroup) -> Finding | None:
    """p < 0.05 in all five of the paper's tests."""
    results = {c.text: statistics.examine(group, c) for c in statistics.CONTRASTS}
    tested = {text: result for text, result in results.items() if result is not None and result.p == result.p}
    if len(tested) < len(results):
        return Finding(UNTESTED, f"{len(tested)} of {len(results)} tests possible")
    wrong = [text for text, result in tested.items() if result.p >= 0.05]
    return Finding(FAILS if wrong else HOLDS, ", ".join(f"{text} p = {r.p:.3f}" for text, r in tested.items()))


def _stars(dataset: str, rows: int) -> Callable[[Evidence], Finding]:
    """Of the paper's tests on a dataset: whether each is significant, and above its practical threshold, as there."""

    def check(group: RunGroup) -> Finding | None:
        listed, right = [], 0
        for contrast in statistics.CONTRASTS[:rows]:
            result = statistics.examine(group, contrast)
            if result is None or result.n < 2:
                return None
            stars, practical = printed.STATISTICS[contrast.key][3:]
            stars = printed.STATISTICS_BY_DATASET.get(contrast.key, {}).get(dataset, stars)
            right += (result.p < 0.05) == (stars != "ns") and result.practical == (practical == "yes")
            listed.append(f"{contrast.text}: {result.difference:+.1f}, p = {result.p:.3f}, n={result.n}")
        return Finding(HOLDS if right == rows else WEAKER if right >= rows / 2 else FAILS, "; ".join(listed))

    return at_scale(dataset, check)


_TABLE_4 = {"MNIST": (MNIST, BINARY), "CIFAR-10": (CIFAR,)}  # its columns
_ALWAYS = 2  # of its settings: 16 gates per node, and Adam


def _configuration(evidence: Evidence) -> Finding:
    """How many settings of Table 4 the runs here have, those of one grid together: nothing that runs could refute."""
    right = 0
    names: list[str] = []
    for words, datasets in _TABLE_4.items():
        groups = [group for group in group_runs(evidence.runs) if group.dataset in datasets]
        if groups:
            most = max(map(_settings_met, groups))
            right, names = right + most, [*names, f"{words} {most} of 8"]
    if not names:
        return Finding(UNTESTED)
    finding = Finding(HOLDS if right == 16 else WEAKER, f"settings met by one grid: {', '.join(names)}")
    return evidence.at_our_scale(finding)


def _settings_met(group: RunGroup) -> int:
    theirs, scale = printed.SCALES[group.dataset], group.scale
    names = ("width", "batch_size", "learning_rate", "iterations")
    same = [getattr(scale, name) == getattr(theirs, name) for name in names]
    return _ALWAYS + int(sum(same)) + sum([set(group.depths) >= set(printed.DEPTHS), group.seeds >= printed.SEEDS])


def cell_counts(evidence: Evidence) -> Table:
    """How many cells of the paper's tables of results our runs judge, and how many of these agree, table by table."""
    counts: dict[str, tuple[int, ...]] = {
        words: (cells, *JUDGES[key](evidence).cells) for key, (words, cells) in _COUNTED.items()
    }
    counts["all"] = tuple(map(sum, zip(*counts.values(), strict=True)))
    rows: list[Cells] = [[words, cells, right + wrong, right, wrong] for words, (cells, right, wrong) in counts.items()]
    columns = ["The paper's table", "Cells", "Judged", "Agree", "Differ"]
    notes = ["A cell agrees if every number in it does.", f"{SCALE_RULE}."]
    return table("paper-cells", "Cells of the paper's tables", columns, rows, notes=notes)


_COUNTED = {
    "table-1": ("Table 1, selection gap on MNIST-Binary", 30),
    "table-2": ("Table 2, temperature robustness", 18),
    "table-5": ("Table 5, across datasets", 36),
    "table-6": ("Table 6, gap trajectory on MNIST", 90),
    "table-7": ("Table 7, gap trajectory on MNIST-Binary", 90),
    "table-8": ("Table 8, gap trajectory on CIFAR-10-Binary", 90),
}
JUDGES: Judges = {
    "table-4": _configuration,
    "table-1": _of_depth(BINARY, tables.selection_gap, 30),
    "table-2": _of_datasets(tables.robustness, 18),
    "table-5": _of_datasets(tables.cross_dataset, 36),
    **{f"table-{number}": _of_depths(dataset) for number, dataset in zip((6, 7, 8), printed.DATASETS, strict=True)},
    "table-9": _stars(BINARY, 5),
    **{f"table-10-{dataset}": _stars(dataset, 3) for dataset in printed.DATASETS},
    "all-significant": everywhere(_all_significant),
}
