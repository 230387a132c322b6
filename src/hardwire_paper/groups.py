"""Finished runs sorted into the cells of the paper's tables: dataset and scale, then method, depth and tau.

A group is what may stand in one table: runs on one dataset that differ only in method, depth, tau and seed.
Surprising: a run may be in two groups. Where Gumbel-ST was run in two readings of the paper, each has a group of its
own, and the other methods, which do not depend on it, stand in both.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hardwire.selection import METHOD_VARIANTS
from hardwire_paper import printed
from hardwire_paper.names import dataset_name
from hardwire_paper.runs import OTHER_READING, NetworkRun, Scale, SeedRuns, reading_words

_SLUG_LENGTH = 60


@dataclass(frozen=True)
class RunGroup:
    """The runs of one dataset at one scale. cells: by (method, depth, tau)."""

    dataset: str
    scale: Scale
    cells: dict[tuple[str, int, float], SeedRuns]

    @property
    def name(self) -> str:
        """For file names."""
        scale = self.scale
        dataset = re.sub(r"[^\w.-]+", "-", Path(self.dataset).stem)[:_SLUG_LENGTH]
        name = f"{dataset}-{scale.width}x{scale.iterations}-lr{scale.learning_rate:g}-b{scale.batch_size}"
        other = (*scale.special, *filter(None, [scale.reading]))
        special = "".join(f"-{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')[:_SLUG_LENGTH]}" for text in other)
        return f"{name}-e{scale.evaluate_every}{special}-L{'-'.join(map(str, self.depths))}"

    def at(self, depth: int) -> "RunGroup":
        """Returns its runs of one depth."""
        return RunGroup(self.dataset, self.scale, {key: cell for key, cell in self.cells.items() if key[1] == depth})

    @cached_property
    def methods(self) -> list[str]:
        """Its methods, in the paper's order."""
        return [method for method in METHOD_VARIANTS if any(key[0] == method for key in self.cells)]

    @cached_property
    def depths(self) -> list[int]:
        """Its numbers of layers."""
        return sorted({depth for _, depth, _ in self.cells})

    @cached_property
    def taus(self) -> list[float]:
        """Its temperatures."""
        return sorted({tau for _, _, tau in self.cells})

    @property
    def runs(self) -> list[NetworkRun]:
        """All its runs."""
        return [run for cell in self.cells.values() for run in cell.runs]

    @property
    def main_depth(self) -> int:
        """The depth of the main tables: the paper's 6, or the deepest there is."""
        return printed.MAIN_DEPTH if printed.MAIN_DEPTH in self.depths else self.depths[-1]

    @property
    def main_tau(self) -> float:
        """The tau of the paper's figures, 1.0, or the nearest on a log scale where the fewest methods fail.

        Only methods that ran at every tau count: one that ran at a single tau and failed says nothing about the others.
        """
        cells = [self.over_taus(method, self.main_depth) for method in self.methods]
        failing = Counter(tau for one in cells if len(one) == len(self.taus) for tau, cell in one.items() if cell.mark)
        return min(self.taus, key=lambda tau: (failing[tau], abs(math.log(tau))))

    def get(self, method: str, depth: int, tau: float) -> SeedRuns | None:
        """Returns a cell, or None if it was not run."""
        return self.cells.get((method, depth, tau))

    def side(self, method: str, tau: float) -> SeedRuns | None:
        """Returns the cell of the main depth at tau; with CAGE, which does not use tau, any that there is."""
        cells = self.over_taus(method, self.main_depth)
        return cells.get(tau) or (next(iter(cells.values()), None) if METHOD_VARIANTS[method][1] else None)

    def over_taus(self, method: str, depth: int) -> dict[float, SeedRuns]:
        """Returns the cells of a method at a depth, by tau."""
        return {tau: cell for tau in self.taus if (cell := self.get(method, depth, tau))}

    @cached_property
    def seeds(self) -> int:
        """How many different seeds its runs have."""
        return len({run.seed for run in self.runs})

    @property
    def size(self) -> str:
        """The scale of these runs in words, with the number of seeds."""
        return f"{self.scale}, {self._count} {'seed' if self._count == '1' else 'seeds'}"

    @property
    def length(self) -> str:
        """The length of training and the number of seeds: 3,000 iterations, n=3."""
        return f"{self.scale.length}, n={self._count}"

    @property
    def words(self) -> str:
        """What it is, for a row or a title: MNIST-Binary, 6 x 8,000, 3,000 iterations, n=3."""
        return f"{dataset_name(self.dataset)}, {self.main_depth} x {self.scale.width:,}, {self.length}"

    @cached_property
    def _count(self) -> str:
        """Seeds of a cell: 3, or 1 to 3."""
        counts = {len(cell.runs) for cell in self.cells.values()}
        return " to ".join(map(str, sorted({min(counts), max(counts)})))

    @property
    def paper_scale(self) -> str:
        """The scale of the paper's runs in words."""
        theirs = printed.SCALES.get(self.dataset)
        if theirs:
            return str(theirs)
        return f"{printed.SCALES['mnist-binary']} (MNIST-Binary; the paper does not have {self.dataset})"

    @property
    def like_paper(self) -> bool:
        """Whether these are networks of the paper's width, trained with its settings, for whatever time."""
        theirs = printed.SCALES.get(self.dataset)
        names = ("width", "learning_rate", "batch_size")
        same = theirs is not None and all(getattr(self.scale, name) == getattr(theirs, name) for name in names)
        return same and not self.scale.special

    @property
    def comparable(self) -> bool:
        """Whether the paper's figures are for runs like these."""
        same_length = self.like_paper and self.scale.iterations == printed.SCALES[self.dataset].iterations
        return same_length and not self.scale.reading

    def comparable_at(self, depth: int) -> bool:
        """The same for tables that the paper has at six layers only."""
        return self.comparable and depth == printed.MAIN_DEPTH

    def comparable_over_taus(self, method: str) -> bool:
        """The same for figures over the paper's temperatures; CAGE has none, so two of its streams will do."""
        taus = set(self.over_taus(method, self.main_depth))
        enough = len(taus) >= 2 if METHOD_VARIANTS[method][1] else taus >= set(printed.TAUS)
        return enough and self.comparable_at(self.main_depth)


def group_runs(runs: Iterable[NetworkRun], overlapping: bool = False) -> list[RunGroup]:
    """Sorts finished runs by dataset and scale, the paper's datasets first.

    Args:
        runs: The runs.
        overlapping: Also return groups that are a part of another one: the methods that do not depend on how
            Gumbel-ST is read, beside a group of all methods.
    """
    gathered: dict[tuple[str, Scale], list[NetworkRun]] = defaultdict(list)
    for run in runs:
        gathered[run.config.text("dataset"), run.scale].append(run)
    groups = []
    for (dataset, scale), own in gathered.items():
        usual = gathered.get((dataset, replace(scale, reading="")), []) if scale.reading == _OTHER else []
        groups.append(_group(dataset, scale, [*own, *(run for run in usual if not _is_gumbel_st(run))]))
        parts = gathered.get((dataset, replace(scale, reading=_OTHER)), []) if not scale.reading else []
        if parts and not overlapping and not any(map(_is_gumbel_st, own)):
            groups.pop()
    places = {dataset: place for place, dataset in enumerate(printed.DATASETS)}
    return sorted(groups, key=lambda group: (places.get(group.dataset, 99), group.dataset, group.scale))


_OTHER = reading_words("gumbel-st", OTHER_READING)


def _is_gumbel_st(run: NetworkRun) -> bool:
    return METHOD_VARIANTS[run.method][0] == "gumbel-st"


def _group(dataset: str, scale: Scale, runs: list[NetworkRun]) -> RunGroup:
    cells: dict[tuple[str, int, float], list[NetworkRun]] = defaultdict(list)
    for run in runs:
        cells[run.method, run.depth, run.tau].append(run)
    by_seed = {key: SeedRuns(tuple(sorted(cell, key=lambda run: run.seed))) for key, cell in cells.items()}
    return RunGroup(dataset, scale, by_seed)
