"""What claims are judged by: the runs of a store, sorted, and the question of which of them a claim may be judged by.

On each dataset a claim is judged by the runs nearest to the paper's scale among those that can test the most of it;
the order is fixed by what was run, never by the results. Surprising: so two claims on one page may rest on runs of
different widths; each says on which.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from hardwire_paper import printed
from hardwire_paper.claims.base import (
    FAILS,
    HOLDS,
    TRAINING,
    UNTESTED,
    WEAKER,
    Claim,
    Finding,
    capped,
    named,
    not_tested,
    worst,
)
from hardwire_paper.groups import RunGroup, group_runs
from hardwire_paper.names import dataset_name, method_name
from hardwire_paper.runs import NetworkRun, SeedRuns
from hardwire_paper.systems.verdicts import SystemVerdict

Check = Callable[[RunGroup], Finding | None]  # None: these runs say nothing about it
Judges = dict[str, Callable[["Evidence"], Finding]]  # by the key of a claim
MNIST, BINARY, CIFAR = "mnist", "mnist-binary", "cifar10-binary"
SYSTEMS_GROUP = "systems"  # the name under which findings list the runs of systems
_SHARE_OF_WIDTH, _SHARE_OF_LENGTH, _LEAST_DEPTH = 1 / 8, 1 / 10, 4


def can_test_training(run: NetworkRun) -> bool:
    """Whether a run is near enough to the paper's scale to test a claim about training, by the first of RULES."""
    theirs = printed.SCALES.get(run.config.text("dataset"))
    return (
        theirs is not None
        and run.config.whole("width") >= _SHARE_OF_WIDTH * theirs.width
        and run.depth >= _LEAST_DEPTH
        and run.history.final.iteration >= _SHARE_OF_LENGTH * theirs.iterations
    )


@dataclass(frozen=True)
class Evidence:
    """What there is to judge claims by.

    Attributes:
        runs: Finished networks.
        systems: Rows of the systems' table.
        pixels: How often each raw value occurs, by dataset.
    """

    runs: list[NetworkRun]
    systems: list[SystemVerdict]
    pixels: dict[str, dict[float, int]]

    @cached_property
    def groups(self) -> list[RunGroup]:
        """Every dataset, scale and depth, the nearest to the paper's first; without networks that it does not have."""
        layers = [group.at(depth) for group in group_runs(self.runs, overlapping=True) for depth in group.depths]
        return sorted((group for group in layers if not group.scale.beyond_paper), key=_nearness, reverse=True)

    @cached_property
    def by_dataset(self) -> dict[str, list[RunGroup]]:
        """The groups on each dataset, in the same order."""
        datasets: dict[str, list[RunGroup]] = {}
        for group in self.groups:
            datasets.setdefault(group.dataset, []).append(group)
        return datasets

    @cached_property
    def networks(self) -> Finding:
        """An empty finding with the scales of all networks, in short, for claims that every run tests."""
        widths = sorted({run.config.whole("width") for run in self.runs})
        depths = sorted({run.depth for run in self.runs})
        if not widths:
            return Finding(UNTESTED)
        names = ", ".join(dict.fromkeys(dataset_name(run.config.text("dataset")) for run in self.runs))
        words = f"{names}: {_span(depths)} layers of {_span(widths)}, {len(self.runs)} runs"
        layers = (group.at(depth) for group in group_runs(self.runs) for depth in group.depths)
        return Finding(UNTESTED, "", (words,), frozenset(group.name for group in layers))

    def at_our_scale(self, finding: Finding) -> Finding:
        """Returns the finding with the scales of all networks."""
        return replace(finding, scales=self.networks.scales, groups=self.networks.groups)

    def on(self, dataset: str) -> list[RunGroup]:
        """Returns the groups on a dataset, the nearest to the paper's scale first."""
        return self.by_dataset.get(dataset, [])

    def nearest(self, dataset: str, check: Check) -> Finding | None:
        """Returns what the first group says that can test a claim, or else the first that can say anything.

        Groups that can test all parts of it come before those that can test some. If one seed is all that keeps it from
        holding, or refutes it at another depth than the paper's, the next group with several seeds decides with it.
        """
        checked = [(group, finding) for group in self.on(dataset) if (finding := check(group)) is not None]
        findings = [(group, about(group, finding)) for group, finding in checked]
        findings.sort(key=lambda pair: pair[1].missing)
        tested = [(group, finding) for group, finding in findings if finding.verdict != UNTESTED]
        if not tested:
            return findings[0][1] if findings else None
        (group, first), *others = tested
        several = [(other, finding) for other, finding in others if other.seeds > 1]
        if first.few and several:
            more = several[0][1]
            both = worst(_sized(*one) for one in (tested[0], several[0]))
            return replace(both, verdict=HOLDS if more.verdict == HOLDS else WEAKER, few=more.few)
        if first.verdict == FAILS and group.seeds < 2 and group.main_depth != printed.MAIN_DEPTH:
            deep = [(other, finding) for other, finding in several if other.main_depth == printed.MAIN_DEPTH]
            if deep and deep[0][1].verdict != FAILS:
                return replace(worst(_sized(*one) for one in (tested[0], deep[0])), verdict=WEAKER)
        return first


class EvidenceFor:
    """The evidence that each claim may be judged by; claims with the same limits share it."""

    def __init__(self, evidence: Evidence):
        self.evidence = evidence
        self.known: dict[tuple[bool, frozenset[str]], Evidence] = {}

    def claim(self, claim: Claim) -> Evidence:
        """Returns the evidence without runs that cannot test this claim.

        These are runs on those of the paper's datasets that it does not name, if it names some, and for a claim about
        training runs that are far below the paper's scale.
        """
        parts = re.split(", | and ", claim.scale)
        own = {dataset for dataset in printed.DATASETS if dataset_name(dataset) in parts}
        others = frozenset(set(printed.DATASETS) - own if own else ())
        key = claim.basis == TRAINING, others
        if key not in self.known:
            runs = [run for run in self.evidence.runs if run.config.text("dataset") not in others]
            runs = list(filter(can_test_training, runs)) if key[0] else runs
            self.known[key] = replace(self.evidence, runs=runs)
        return self.known[key]


def _span(values: list[int]) -> str:
    return " to ".join(f"{value:,}" for value in dict.fromkeys((values[0], values[-1])))


def _nearness(group: RunGroup) -> tuple[bool, bool, int]:
    """The paper's reading first, then the size; runs of a fixed time have as many iterations as they reached."""
    reached = min(run.history.final.iteration for run in group.runs)
    iterations = group.scale.iterations or reached
    size = group.scale.width * group.main_depth * iterations
    return group.comparable_at(group.main_depth), not group.scale.reading, size


def about(group: RunGroup, finding: Finding) -> Finding:
    """Returns the finding with the scale of its runs; with one seed it holds weaker at best."""
    return replace(capped(finding, group.seeds), scales=(group.words,), groups=frozenset([group.name]))


def _sized(group: RunGroup, finding: Finding) -> Finding:
    """The finding with the size of its networks behind the figure, if those of another size decide with it."""
    return replace(finding, figure=f"{finding.figure} at {group.main_depth} x {group.scale.width:,}")


def everywhere(check: Check) -> Callable[[Evidence], Finding]:
    """Makes a judge of what holds in general: the worst over the datasets there are."""

    def judge(evidence: Evidence) -> Finding:
        findings = {dataset: evidence.nearest(dataset, check) for dataset in evidence.by_dataset}
        tested = {dataset: one for dataset, one in findings.items() if one is not None and one.verdict != UNTESTED}
        if len(tested) > 1:
            return worst(named(dataset_name(dataset), finding) for dataset, finding in tested.items())
        return worst(tested.values() or (one for one in findings.values() if one is not None))

    return judge


def at_scale(dataset: str, check: Check) -> Callable[[Evidence], Finding]:
    """Makes a judge of numbers that depend on the scale: at another one the figure is shown without a verdict."""

    def at_one(group: RunGroup) -> Finding | None:
        finding = check(group)
        if finding is None or group.comparable_at(group.main_depth):
            return finding
        return replace(finding, verdict=UNTESTED)

    return lambda evidence: evidence.nearest(dataset, at_one) or Finding(UNTESTED)


def at_scales(checks: dict[str, Check]) -> Callable[[Evidence], Finding]:
    """The same on several datasets: the worst of them."""
    judges = {dataset_name(dataset): at_scale(dataset, check) for dataset, check in checks.items()}
    return lambda evidence: worst(named(dataset, judge(evidence)) for dataset, judge in judges.items())


def each_method(
    methods: Iterable[str], check: Callable[[RunGroup, str], Finding | None], words: str = "{}"
) -> Callable[[Evidence], Finding]:
    """Makes a judge of what is said about several methods: the worst of them, each by its own nearest runs.

    Args:
        methods: Their names.
        check: Judges one of them by a group.
        words: What to call a method in the figure.
    """

    def judge_of(method: str) -> Callable[[Evidence], Finding]:
        return everywhere(lambda group: check(group, method))

    def judge(evidence: Evidence) -> Finding:
        findings = {words.format(method_name(method)): judge_of(method)(evidence) for method in methods}
        parts = [not_tested(name) if one.verdict == UNTESTED else named(name, one) for name, one in findings.items()]
        return worst(parts) if any(one.verdict != UNTESTED for one in parts) else Finding(UNTESTED)

    return judge


def learned(*cells: SeedRuns | None) -> bool:
    """Whether all these cells exist and none is at chance."""
    return all(cell is not None and cell.mark != "‡" for cell in cells)


def any_learned(cells: Iterable[SeedRuns]) -> bool:
    """Whether some cell is not at chance: then those that are say something too."""
    return any(learned(cell) for cell in cells)


def paired(one: SeedRuns, other: SeedRuns, values: Callable[[SeedRuns], list[float]]) -> list[float]:
    """Returns one - other, seed by seed, over the seeds that both have."""
    seeds = {run.seed for run in one.runs} & {run.seed for run in other.runs}
    first, second = (SeedRuns(tuple(run for run in cell.runs if run.seed in seeds)) for cell in (one, other))
    return [a - b for a, b in zip(values(first), values(second), strict=True)]


def measured(runs: Iterable[NetworkRun], quantity: str) -> list[float]:
    """Returns what was measured once in each run, where it was."""
    return [run.measurements[quantity] for run in runs if quantity in run.measurements]


def is_binary(dataset: str) -> bool:
    """Whether its inputs are bits, by name."""
    from hardwire.data.catalog import ENTRIES, Images

    entry = ENTRIES.get(dataset)
    return isinstance(entry, Images) and entry.binary
