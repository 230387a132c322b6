"""Finished runs, sorted into the cells of the paper's tables: dataset and scale, then method, depth and tau.

A group is what may stand in one table: runs of one dataset that differ only in method, depth, tau and seed.
"""

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hardwire.paper import printed
from hardwire.paper.names import dataset_name
from hardwire.selection import SIX
from hardwire.study.config import Config
from hardwire.study.store import Result
from hardwire.training.history import History, Record

FAILURE_GAP = -5.0  # points; the paper's threshold of practical significance
CHANCE_MARGIN = 5.0  # points
FAILURE_RULE = (
    f"† training failure: mean final gap below {FAILURE_GAP:g} points, so deployment outperforms training; "
    f"‡ at chance: mean final deployed accuracy less than {CHANCE_MARGIN:g} points above chance"
)
LAST = 0.8  # share of training over which ranges and late peaks are taken
PEAK_RULE = (
    "The late peak is each seed's largest gap over the last 80% of training, the peak its largest over all of it; both "
    'averaged over seeds. The paper says "maximum during training", and its figures are late peaks.'
)


@dataclass(frozen=True, order=True)
class Scale:
    """What the paper holds fixed within a dataset. special: what it does not know, such as learned wires.

    beyond_paper: whether the networks themselves are others, and not only how long they train.
    """

    width: int
    iterations: int
    learning_rate: float
    batch_size: int
    evaluate_every: int
    special: tuple[str, ...] = ()

    def __str__(self) -> str:
        known = (f"batch {self.batch_size}", f"learning rate {self.learning_rate:g}")
        return ", ".join([f"width {self.width:,}", *self._iterations, *known, *self.special])

    @property
    def length(self) -> str:
        """How long, and what is special: 5,000 iterations, start residual; or 90 minutes."""
        return ", ".join([*self._iterations, *self.special])

    @property
    def _iterations(self) -> list[str]:
        return [f"{self.iterations:,} iterations"] if self.iterations else []  # a fixed time is special

    @property
    def beyond_paper(self) -> bool:
        return any(text.startswith(_OTHER_NETWORKS) for text in self.special)


@dataclass(frozen=True)
class NetworkRun:
    """A finished run of the kind `network`. cpu_seconds: None where it was not done in one go."""

    config: Config
    history: History
    measurements: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float | None = None

    @classmethod
    def of(cls, result: Result) -> "NetworkRun":
        history = History(Record(**record) for record in result.records)
        return cls(result.config, history, result.measurements, result.cpu_seconds)

    @property
    def method(self) -> str:
        return self.config.text("method")

    @property
    def tau(self) -> float:
        return self.config.number("tau")

    @property
    def depth(self) -> int:
        return self.config.whole("depth")

    @property
    def seed(self) -> int:
        return self.config.whole("seed")

    @property
    def scale(self) -> Scale:
        numbers = {name: self.config[name] or 0 for name in _SCALE}
        other = {name: self.config[name] for name in _SPECIAL if self.config[name] not in (None, 0, _USUAL.get(name))}
        minutes = [f"{self.config.number('minutes'):g} minutes"] if other.pop("minutes", None) else []
        special = (*(f"{name} {value}" for name, value in other.items()), *minutes)
        return Scale(**numbers, special=special)  # type: ignore[arg-type]


_SCALE = ("width", "iterations", "learning_rate", "batch_size", "evaluate_every")
_OTHER_NETWORKS = ("wiring", "candidates", "start", "noise", "input_gradient")
_SPECIAL = (*_OTHER_NETWORKS, "minutes", "validation")
_USUAL = {
    "wiring": "random",
    "start": "normal",
    "noise": "pass",
    "input_gradient": "chosen",
}  # the paper's, or taken to be


@dataclass(frozen=True)
class Cell:
    """The runs of one method, depth and tau, one for each seed, in the order of seeds."""

    runs: tuple[NetworkRun, ...]

    def finals(self, name: str) -> list[float]:
        """The last value of each seed, in points."""
        return [100 * getattr(run.history.final, name) for run in self.runs]

    def final(self, name: str) -> float:
        return statistics.fmean(self.finals(name))

    def has(self, name: str) -> bool:
        """Whether every run measured this."""
        return all(hasattr(run.history.final, name) for run in self.runs)

    def peaks(self, name: str) -> list[float]:
        """The largest value of each seed in all of training, in points."""
        return [100 * run.history.peak(name) for run in self.runs]

    def late_peaks(self, name: str) -> list[float]:
        """The largest value of each seed over the last 80% of training, in points."""
        return [high for _, high in self.ranges(name)]

    def ranges(self, name: str) -> list[tuple[float, float]]:
        """(min, max) of each seed over the last 80% of training, in points."""
        found = [run.history.range(name, LAST) for run in self.runs]
        return [(100 * low, 100 * high) for low, high in found]

    def largest(self, name: str) -> list[float]:
        """The largest size of each seed over the last 80% of training, in points."""
        return [max(abs(low), abs(high)) for low, high in self.ranges(name)]

    def window(self, name: str) -> list[tuple[float, float]]:
        """(min, max) of each seed from where the paper's ranges begin, in points; of a run that ends before, its end.

        On a dataset that the paper does not know: over the last 80% of training.
        """
        return [(100 * low, 100 * high) for low, high in (_window(run, name) for run in self.runs)]

    def iterations(self) -> list[int]:
        """Of the evaluations that every run has: runs of a fixed time differ in their number."""
        return [record.iteration for record in min((run.history for run in self.runs), key=len)]

    def curve(self, name: str) -> list[float]:
        """The mean over seeds at each of `iterations`, as stored."""
        columns = (run.history.column(name) for run in self.runs)
        return [statistics.fmean(values) for values in zip(*columns, strict=False)]

    def at(self, name: str, iteration: int) -> list[float]:
        """The value of each seed at this evaluation, in points; nothing where some run did not have it."""
        records = [record for run in self.runs for record in run.history if record.iteration == iteration]
        return [100 * getattr(record, name) for record in records] if len(records) == len(self.runs) else []

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
        special = "".join(f"-{re.sub(r'[^a-z0-9]+', '-', text.lower())}" for text in scale.special)
        return f"{name}-e{scale.evaluate_every}{special}-L{'-'.join(map(str, self.depths))}"

    def at(self, depth: int) -> "Group":
        """Its runs of one depth."""
        return Group(self.dataset, self.scale, {key: cell for key, cell in self.cells.items() if key[1] == depth})

    @cached_property
    def methods(self) -> list[str]:
        return [method for method in SIX if any(key[0] == method for key in self.cells)]

    @cached_property
    def depths(self) -> list[int]:
        return sorted({depth for _, depth, _ in self.cells})

    @cached_property
    def taus(self) -> list[float]:
        return sorted({tau for _, _, tau in self.cells})

    @property
    def main_depth(self) -> int:
        """The depth of the main tables: the paper's 6, or the deepest there is."""
        return printed.MAIN_DEPTH if printed.MAIN_DEPTH in self.depths else self.depths[-1]

    @property
    def main_tau(self) -> float:
        """The tau of the paper's figures, 1.0, or the nearest on a log scale; where the fewest methods fail.

        Methods count that ran at every tau: one that ran at a single one and failed says nothing about the others.
        """
        cells = [self.over_taus(method, self.main_depth) for method in self.methods]
        failing = Counter(tau for one in cells if len(one) == len(self.taus) for tau, cell in one.items() if cell.mark)
        return min(self.taus, key=lambda tau: (failing[tau], abs(math.log(tau))))

    def get(self, method: str, depth: int, tau: float) -> Cell | None:
        return self.cells.get((method, depth, tau))

    def side(self, method: str, tau: float) -> Cell | None:
        """The cell of the main depth at tau; with CAGE, which does not use tau, any that there is."""
        cells = self.over_taus(method, self.main_depth)
        return cells.get(tau) or (next(iter(cells.values()), None) if SIX[method][1] else None)

    def over_taus(self, method: str, depth: int) -> dict[float, Cell]:
        return {tau: cell for tau in self.taus if (cell := self.get(method, depth, tau))}

    @cached_property
    def seeds(self) -> int:
        """How many different ones its runs have."""
        return len({run.seed for cell in self.cells.values() for run in cell.runs})

    @property
    def size(self) -> str:
        """The scale of these runs in words, with the number of seeds."""
        return f"{self.scale}, {self._count} {'seed' if self._count == '1' else 'seeds'}"

    @property
    def length(self) -> str:
        """Of training, and the number of seeds: 3,000 iterations, n=3."""
        return f"{self.scale.length}, n={self._count}"

    @property
    def words(self) -> str:
        """What it is, for a row or a title: MNIST-Binary, 6 x 8,000, 3,000 iterations, n=3."""
        return f"{dataset_name(self.dataset)}, {self.main_depth} x {self.scale.width:,}, {self.length}"

    @property
    def _count(self) -> str:
        """Seeds of a cell: 3, or 1 to 3."""
        found = {len(cell.runs) for cell in self.cells.values()}
        return " to ".join(map(str, sorted({min(found), max(found)})))

    @property
    def paper_scale(self) -> str:
        theirs = printed.SCALES.get(self.dataset)
        return (
            str(theirs) if theirs else f"{printed.SCALES['mnist-binary']} (MNIST-Binary; {self.dataset} is not in it)"
        )

    @property
    def like_paper(self) -> bool:
        """Whether these are the paper's networks, trained as there, for whatever time."""
        theirs = printed.SCALES.get(self.dataset)
        names = ("width", "learning_rate", "batch_size")
        same = theirs is not None and all(getattr(self.scale, name) == getattr(theirs, name) for name in names)
        return same and not self.scale.special

    @property
    def comparable(self) -> bool:
        """Whether the paper's figures are for runs like these."""
        return self.like_paper and self.scale.iterations == printed.SCALES[self.dataset].iterations

    def comparable_at(self, depth: int) -> bool:
        """The same for tables that the paper has at six layers only."""
        return self.comparable and depth == printed.MAIN_DEPTH

    def comparable_over_taus(self, method: str) -> bool:
        """The same for figures over the paper's temperatures; CAGE has none, so two of its streams will do."""
        found = set(self.over_taus(method, self.main_depth))
        enough = len(found) >= 2 if SIX[method][1] else found >= set(printed.TAUS)
        return enough and self.comparable_at(self.main_depth)


def window_start(dataset: str) -> int | None:
    """The iteration from which on the paper takes its ranges and peaks; None for a dataset that it does not know."""
    theirs = printed.SCALES.get(dataset)
    return None if theirs is None else round(theirs.iterations * (1 - LAST))


def _window(run: NetworkRun, name: str) -> tuple[float, float]:
    start = window_start(run.config.text("dataset"))
    if start is None:
        return run.history.range(name, LAST)
    late = [record for record in run.history if record.iteration > start] or [run.history.final]
    values = [getattr(record, name) for record in late]
    return min(values), max(values)


def group_runs(runs: Iterable[NetworkRun]) -> list[Group]:
    """Finished runs by dataset and scale, the paper's datasets first."""
    gathered: dict[tuple[str, Scale], Any] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        gathered[run.config.text("dataset"), run.scale][run.method, run.depth, run.tau].append(run)
    groups = [
        Group(dataset, scale, {key: Cell(tuple(sorted(runs, key=lambda run: run.seed))) for key, runs in cells.items()})
        for (dataset, scale), cells in gathered.items()
    ]
    places = {dataset: place for place, dataset in enumerate(printed.DATASETS)}
    return sorted(groups, key=lambda group: (places.get(group.dataset, 99), group.dataset, group.scale))
