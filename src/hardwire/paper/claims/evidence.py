"""What claims are judged by: the runs of a store, sorted, and the question of which of them a claim may be judged by.

A claim about a dataset of the paper's is judged by the runs on it that come nearest to the paper's scale; a general one
by the best runs on each dataset there is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from hardwire.paper.claims.base import UNTESTED, Finding, named, worst
from hardwire.paper.groups import Cell, Group, NetworkRun, group_runs
from hardwire.paper.names import dataset_name
from hardwire.paper.systems.verdicts import Verdict

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
        """Of each dataset the group that comes nearest to the paper's scale, at its main depth."""
        best: dict[str, Group] = {}
        for group in group_runs(self.runs):
            one = group.at(group.main_depth)
            if group.dataset not in best or _rank(one) > _rank(best[group.dataset]):
                best[group.dataset] = one
        return list(best.values())

    @cached_property
    def all_groups(self) -> list[Group]:
        """Every dataset, scale and depth."""
        return [group.at(depth) for group in group_runs(self.runs) for depth in group.depths]

    def group(self, dataset: str) -> Group | None:
        return next((group for group in self.groups if group.dataset == dataset), None)


def _rank(group: Group) -> tuple[bool, int]:
    scale = group.scale
    return group.comparable_at(group.main_depth), scale.width * group.main_depth * max(1, scale.iterations)


def everywhere(check: Callable[[Group], Finding | None]) -> Callable[[Evidence], Finding]:
    """A judge of what holds in general: the worst over the datasets there are."""

    def judge(evidence: Evidence) -> Finding:
        found = []
        for group in evidence.groups:
            finding = check(group)
            if finding is not None:
                shown = named(dataset_name(group.dataset), finding) if len(evidence.groups) > 1 else finding
                found.append(replace(shown, scale=scale_of(group)))
        return worst(found)

    return judge


def at_scale(dataset: str, check: Callable[[Group], Finding | None]) -> Callable[[Evidence], Finding]:
    """A judge of numbers that depend on the scale: at another one the figure is shown and nothing is said."""

    def judge(evidence: Evidence) -> Finding:
        group = evidence.group(dataset)
        finding = check(group) if group else None
        if group is None or finding is None:
            return Finding(UNTESTED)
        verdict = finding.verdict if group.comparable_at(group.main_depth) else UNTESTED
        return replace(finding, verdict=verdict, scale=scale_of(group))

    return judge


def scale_of(group: Group) -> str:
    return f"{dataset_name(group.dataset)}, {group.main_depth} x {group.scale.width:,}, {group.length}"


def learned(*cells: Cell | None) -> bool:
    """Whether all these cells are there, and none is at chance."""
    return all(cell is not None and cell.mark != "‡" for cell in cells)


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
