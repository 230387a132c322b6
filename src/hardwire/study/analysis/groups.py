"""Finished runs, sorted into the cells of the paper's tables: dataset and scale, then method, depth and tau.

A group is what may stand in one table: runs of one dataset that differ only in method, depth, tau and seed. Surprising:
a peak is each seed's own extreme over the last 80% of training, averaged over seeds. The paper's t-tests are on such
peaks, and its trajectory tables leave out the first fifth.
"""

import re
import statistics
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hardwire.study import paper
from hardwire.study.description import METHODS
from hardwire.study.store import Run

FAILURE_GAP = -5.0  # points; the paper's threshold of practical significance
CHANCE_MARGIN = 5.0  # points
FAILURE_RULE = (
    f"† training failure: mean final gap below {FAILURE_GAP:g} points, so deployment outperforms training; "
    f"‡ at chance: mean final deployed accuracy less than {CHANCE_MARGIN:g} points above chance"
)
LAST = 0.8  # share of training over which ranges and peaks are taken


@dataclass(frozen=True, order=True)
class Scale:
    """What the paper holds fixed within a dataset."""

    width: int
    iterations: int
    learning_rate: float
    batch_size: int
    evaluate_every: int

    def __str__(self) -> str:
        return (
            f"width {self.width:,}, {self.iterations:,} iterations, batch {self.batch_size}, "
            f"learning rate {self.learning_rate:g}"
        )


@dataclass(frozen=True)
class Cell:
    """The runs of one method, depth and tau, one for each seed, in the order of seeds."""

    runs: tuple[Run, ...]

    def finals(self, name: str) -> list[float]:
        """The last value of each seed, in points."""
        return [100 * getattr(run.history.final, name) for run in self.runs]

    def final(self, name: str) -> float:
        return statistics.fmean(self.finals(name))

    def peaks(self, name: str) -> list[float]:
        """The largest value of each seed over the last 80% of training, in points."""
        return [100 * run.history.range(name, LAST)[1] for run in self.runs]

    def range(self, name: str) -> tuple[float, float]:
        """(min, max) over the last 80% of training, each averaged over seeds, in points."""
        ranges = [run.history.range(name, LAST) for run in self.runs]
        low, high = (statistics.fmean(100 * extreme[side] for extreme in ranges) for side in (0, 1))
        return low, high

    def iterations(self) -> list[int]:
        return self.runs[0].history.column("iteration")

    def curve(self, name: str) -> list[float]:
        """The mean over seeds at each evaluation, as stored."""
        return [statistics.fmean(values) for values in zip(*(r.history.column(name) for r in self.runs), strict=True)]

    @property
    def chance(self) -> float:
        return 100 / self.runs[0].measurements.get("groupsum.classes", 10)

    @property
    def mark(self) -> str:
        """†, ‡ or nothing, by FAILURE_RULE."""
        if self.final("total") < FAILURE_GAP:
            return "†"
        return "‡" if self.final("deploy") < self.chance + CHANCE_MARGIN else ""


@dataclass(frozen=True)
class Group:
    """The runs of one dataset at one scale."""

    dataset: str
    scale: Scale
    cells: dict[tuple[str, int, float], Cell]  # (method, depth, tau)

    @property
    def name(self) -> str:
        """For file names."""
        scale = self.scale
        dataset = re.sub(r"[^\w.-]+", "-", Path(self.dataset).stem)
        name = f"{dataset}-{scale.width}x{scale.iterations}-lr{scale.learning_rate:g}-b{scale.batch_size}"
        return f"{name}-e{scale.evaluate_every}-L{'-'.join(map(str, self.depths))}"

    def at(self, depth: int) -> "Group":
        """Its runs of one depth."""
        return Group(self.dataset, self.scale, {key: cell for key, cell in self.cells.items() if key[1] == depth})

    @cached_property
    def methods(self) -> list[str]:
        return [method for method in METHODS if any(key[0] == method for key in self.cells)]

    @cached_property
    def depths(self) -> list[int]:
        return sorted({depth for _, depth, _ in self.cells})

    @cached_property
    def taus(self) -> list[float]:
        return sorted({tau for _, _, tau in self.cells})

    @property
    def main_depth(self) -> int:
        """The depth of the main tables: the paper's 6, or the deepest there is."""
        return paper.MAIN_DEPTH if paper.MAIN_DEPTH in self.depths else self.depths[-1]

    @property
    def main_tau(self) -> float:
        """The tau of the paper's figures, 1.0, or the nearest there is."""
        return min(self.taus, key=lambda tau: abs(tau - 1.0))

    def get(self, method: str, depth: int, tau: float) -> Cell | None:
        return self.cells.get((method, depth, tau))

    def over_taus(self, method: str, depth: int) -> dict[float, Cell]:
        return {tau: cell for tau in self.taus if (cell := self.get(method, depth, tau))}

    @property
    def size(self) -> str:
        """The scale of these runs in words, with the number of seeds."""
        seeds = sorted({len(cell.runs) for cell in self.cells.values()})
        count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        return f"{self.scale}, {count} {'seed' if count == '1' else 'seeds'}"

    @property
    def paper_scale(self) -> str:
        theirs = paper.SCALES.get(self.dataset)
        return str(theirs) if theirs else f"{paper.SCALES['mnist-binary']} (MNIST-Binary; {self.dataset} is not in it)"

    @property
    def comparable(self) -> bool:
        """Whether the paper's figures are for runs like these."""
        theirs = paper.SCALES.get(self.dataset)
        return theirs is not None and all(
            getattr(self.scale, name) == getattr(theirs, name)
            for name in ("width", "iterations", "learning_rate", "batch_size")
        )


def group_runs(runs: list[Run]) -> list[Group]:
    """Finished runs by dataset and scale, the paper's datasets first."""
    gathered: dict = defaultdict(lambda: defaultdict(list))
    for run in runs:
        c = run.config
        scale = Scale(c.width, c.iterations, c.learning_rate, c.batch_size, c.evaluate_every)
        gathered[c.dataset, scale][c.method, c.depth, c.tau].append(run)
    groups = [
        Group(dataset, scale, {key: Cell(tuple(sorted(runs, key=_seed))) for key, runs in cells.items()})
        for (dataset, scale), cells in gathered.items()
    ]
    places = {dataset: place for place, dataset in enumerate(paper.DATASETS)}
    return sorted(groups, key=lambda group: (places.get(group.dataset, 99), group.dataset, group.scale))


def _seed(run: Run) -> int:
    return run.config.seed
