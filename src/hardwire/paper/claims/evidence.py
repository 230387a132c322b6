"""What claims are judged by: the runs of a store, sorted, and the question of which of them a claim may be judged by.

Of each dataset a claim is judged by the runs nearest to the paper's scale among those that can test the most of it; the
order is fixed by what was run, never by what came out. Surprising: so two claims on one page may rest on runs of
different widths; each says on which.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from hardwire.paper import printed
from hardwire.paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Claim, Finding, capped, named, not_tested, worst
from hardwire.paper.groups import Cell, Group, NetworkRun, group_runs
from hardwire.paper.names import dataset_name, method_name
from hardwire.paper.systems.verdicts import Verdict

Check = Callable[[Group], Finding | None]  # None: these runs say nothing about it
Judges = dict[str, Callable[["Evidence"], Finding]]  # by the key of a claim
MNIST, BINARY, CIFAR = "mnist", "mnist-binary", "cifar10-binary"


@dataclass(frozen=True)
class Evidence:
    """runs: finished networks; systems: rows of the systems' table; pixels: raw values of datasets by how often."""

    runs: list[NetworkRun]
    systems: list[Verdict]
    pixels: dict[str, dict[float, int]]

    @cached_property
    def groups(self) -> list[Group]:
        """Every dataset, scale and depth, the nearest to the paper's first; networks that it does not know are not."""
        found = [group.at(depth) for group in group_runs(self.runs) for depth in group.depths]
        return sorted((group for group in found if not group.scale.beyond_paper), key=_nearness, reverse=True)

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(group.dataset for group in self.groups))

    @cached_property
    def networks(self) -> str:
        """The scales of all networks, in short."""
        widths = sorted({run.config.whole("width") for run in self.runs})
        depths = sorted({run.depth for run in self.runs})
        if not widths:
            return ""
        names = ", ".join(dict.fromkeys(dataset_name(run.config.text("dataset")) for run in self.runs))
        return f"{names}; {_span(depths)} layers of {_span(widths)}; {len(self.runs)} runs"

    def naming(self, claim: Claim) -> "Evidence":
        """Without the runs on those of the paper's datasets that the claim does not speak of; it may speak of all."""
        parts = re.split(", | and ", claim.scale)
        own = {dataset for dataset in printed.DATASETS if dataset_name(dataset) in parts}
        other = set(printed.DATASETS) - own if own else set()
        return replace(self, runs=[run for run in self.runs if run.config.text("dataset") not in other])

    def on(self, dataset: str) -> list[Group]:
        return [group for group in self.groups if group.dataset == dataset]

    def nearest(self, dataset: str, check: Check) -> Finding | None:
        """What the first group says that can test it, or else the first that can say anything.

        Groups that can test all parts of it come before those that can test some. Where one seed is all that keeps it
        from holding, or refutes it at another depth than the paper's, the next group with several seeds is heard too.
        """
        groups = [(group, finding) for group in self.on(dataset) if (finding := check(group)) is not None]
        found = [(group, about(group, finding)) for group, finding in groups]
        found.sort(key=lambda one: one[1].missing)
        tested = [(group, finding) for group, finding in found if finding.verdict != UNTESTED]
        if not tested:
            return found[0][1] if found else None
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


def _span(values: list[int]) -> str:
    return " to ".join(f"{value:,}" for value in dict.fromkeys((values[0], values[-1])))


def _nearness(group: Group) -> tuple[bool, int]:
    """Runs of a fixed time have as many iterations as they came to."""
    reached = min(run.history.final.iteration for cell in group.cells.values() for run in cell.runs)
    iterations = group.scale.iterations or reached
    return group.comparable_at(group.main_depth), group.scale.width * group.main_depth * iterations


def about(group: Group, finding: Finding) -> Finding:
    """The finding with the scale of its runs; where they have one seed only, it holds weaker at best."""
    return replace(capped(finding, group.seeds), scale=group.words)


def _sized(group: Group, finding: Finding) -> Finding:
    """The finding with the size of its networks behind the figure, where those of another size are heard too."""
    return replace(finding, figure=f"{finding.figure} at {group.main_depth} x {group.scale.width:,}")


def everywhere(check: Check) -> Callable[[Evidence], Finding]:
    """A judge of what holds in general: the worst over the datasets there are."""

    def judge(evidence: Evidence) -> Finding:
        found = {dataset: evidence.nearest(dataset, check) for dataset in evidence.datasets}
        tested = {dataset: one for dataset, one in found.items() if one is not None and one.verdict != UNTESTED}
        if len(tested) > 1:
            return worst(named(dataset_name(dataset), finding) for dataset, finding in tested.items())
        return worst(tested.values() or (one for one in found.values() if one is not None))

    return judge


def at_scale(dataset: str, check: Check) -> Callable[[Evidence], Finding]:
    """A judge of numbers that depend on the scale: at another one the figure is shown and nothing is said."""

    def at_one(group: Group) -> Finding | None:
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
    methods: Iterable[str], check: Callable[[Group, str], Finding | None], words: str = "{}"
) -> Callable[[Evidence], Finding]:
    """A judge of what is said of several methods: the worst of them, each by its own nearest runs.

    words: what to call a method in the figure.
    """

    def judge_of(method: str) -> Callable[[Evidence], Finding]:
        return everywhere(lambda group: check(group, method))

    def judge(evidence: Evidence) -> Finding:
        found = {words.format(method_name(method)): judge_of(method)(evidence) for method in methods}
        parts = [not_tested(name) if one.verdict == UNTESTED else named(name, one) for name, one in found.items()]
        return worst(parts) if any(one.verdict != UNTESTED for one in parts) else Finding(UNTESTED)

    return judge


def learned(*cells: Cell | None) -> bool:
    """Whether all these cells are there, and none is at chance."""
    return all(cell is not None and cell.mark != "‡" for cell in cells)


def any_learned(cells: Iterable[Cell]) -> bool:
    """Whether some cell is not at chance: then those that are say something too."""
    return any(learned(cell) for cell in cells)


def paired(one: Cell, other: Cell, values: Callable[[Cell], list[float]]) -> list[float]:
    """one - other, seed by seed, over the seeds that both have."""
    seeds = {run.seed for run in one.runs} & {run.seed for run in other.runs}
    first, second = (Cell(tuple(run for run in cell.runs if run.seed in seeds)) for cell in (one, other))
    return [a - b for a, b in zip(values(first), values(second), strict=True)]


def measured(runs: Iterable[NetworkRun], quantity: str) -> list[float]:
    """What was measured once in each run, where it was."""
    return [run.measurements[quantity] for run in runs if quantity in run.measurements]


def is_binary(dataset: str) -> bool:
    """Whether its inputs are bits, by name."""
    from hardwire.data.catalog import ENTRIES, Images

    entry = ENTRIES.get(dataset)
    return isinstance(entry, Images) and entry.binary
