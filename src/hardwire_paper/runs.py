"""Finished runs of networks as the paper's tables need them: a run with its scale, and the runs of several seeds.

All gaps and accuracies are in percentage points, as in the paper. Surprising: the scale of a run includes how its
method passes the gradient on, because the paper can be read in several ways about that.
"""

import statistics
from dataclasses import dataclass, field
from functools import cached_property

from hardwire.selection import METHOD_VARIANTS, STRAIGHT_THROUGH
from hardwire.study.config import Config
from hardwire.study.store import Result
from hardwire.training.history import History, Record
from hardwire_paper import printed
from hardwire_paper.names import method_name

FAILURE_GAP = -5.0  # points; the paper's threshold of practical significance
CHANCE_MARGIN = 5.0  # points
FAILURE_RULE = (
    f"† training failure: the mean final gap is below {FAILURE_GAP:g} points, so the network deploys better than it "
    f"trains; ‡ at chance: the mean final deployed accuracy is less than {CHANCE_MARGIN:g} points above chance"
)
LAST = 0.8  # share of training over which ranges and late peaks are taken
PEAK_RULE = (
    "The late peak is each seed's largest gap over the last 80% of training, the peak its largest over all of it; both "
    'are averaged over seeds. The paper says "maximum during training", and its figures are late peaks.'
)
PAPER_READING = {"gumbel-st": "output", "hard-st": "weights"}  # what the paper is taken to do, see docs/methods.md
OTHER_READING = "weights"  # of Gumbel-ST, as F.gumbel_softmax(hard=True) does it: judged where the paper's was not run


@dataclass(frozen=True, order=True)
class Scale:
    """What the paper keeps fixed within a dataset.

    Attributes:
        width, iterations, learning_rate, batch_size, evaluate_every: As in a configuration; iterations is 0 for runs
            that end by time.
        special: What the paper does not have, such as learned wires, in words.
        reading: The straight-through estimator, where it is not the one that the paper is taken to use, in words.
    """

    width: int
    iterations: int
    learning_rate: float
    batch_size: int
    evaluate_every: int
    special: tuple[str, ...] = ()
    reading: str = ""

    def __str__(self) -> str:
        known = (f"batch {self.batch_size}", f"learning rate {self.learning_rate:g}")
        return ", ".join([f"width {self.width:,}", *self._iterations, *known, *self._other])

    @property
    def length(self) -> str:
        """How long, and what is special: 5,000 iterations, start residual; or 90 minutes."""
        return ", ".join([*self._iterations, *self._other])

    @property
    def _iterations(self) -> list[str]:
        return [f"{self.iterations:,} iterations"] if self.iterations else []  # a fixed time is special

    @property
    def _other(self) -> list[str]:
        return [*self.special, *filter(None, [self.reading])]

    @property
    def of_tables(self) -> bool:
        """Whether the networks consist of look-up tables."""
        return any(text.startswith("arity ") for text in self.special)

    @property
    def beyond_paper(self) -> bool:
        """Whether the networks themselves differ from the paper's, and not only how long they train."""
        known_reading = self.reading in ("", reading_words("gumbel-st", OTHER_READING))
        return not known_reading or any(text.startswith(_OTHER_NETWORKS) for text in self.special)


def reading_words(method: str, name: str) -> str:
    """Returns a reading in words, such as Gumbel-ST "weights"; nothing if it is the paper's."""
    return "" if name == PAPER_READING[method] else f'{method_name(method)} "{name}"'


@dataclass(frozen=True)
class NetworkRun:
    """A finished run of the kind `network`. cpu_seconds: None if it was interrupted."""

    config: Config
    history: History
    measurements: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float | None = None

    @classmethod
    def of(cls, result: Result) -> "NetworkRun":
        """Returns the run of a stored result."""
        history = History(Record(**record) for record in result.records)
        return cls(result.config, history, result.measurements, result.cpu_seconds)

    @cached_property
    def method(self) -> str:
        """Its method with or without CAGE, such as gumbel-st+cage."""
        return self.config.text("method")

    @cached_property
    def tau(self) -> float:
        """The temperature it was given; with CAGE it only names a stream of randomness."""
        return self.config.number("tau")

    @cached_property
    def depth(self) -> int:
        """Its number of layers."""
        return self.config.whole("depth")

    @cached_property
    def seed(self) -> int:
        """Its seed."""
        return self.config.whole("seed")

    @property
    def surrogate(self) -> str:
        """The weights by which a hard method's logits learn: "clean" or "noisy"."""
        method = METHOD_VARIANTS[self.method][0]
        name = self.config["straight_through"] or PAPER_READING.get(method, OTHER_READING)
        return STRAIGHT_THROUGH[str(name)].surrogate

    @cached_property
    def scale(self) -> Scale:
        """The scale, with what is special about this run."""
        numbers = {name: self.config[name] or 0 for name in _SCALE}
        other = {name: self.config[name] for name in _SPECIAL if self.config[name] not in (None, 0, _USUAL.get(name))}
        minutes = [f"{self.config.number('minutes'):g} minutes"] if other.pop("minutes", None) else []
        special = (*(f"{name} {value}" for name, value in other.items()), *minutes)
        method, name = METHOD_VARIANTS[self.method][0], self.config["straight_through"]
        reading = reading_words(method, str(name)) if name is not None and method in PAPER_READING else ""
        return Scale(**numbers, special=special, reading=reading)  # type: ignore[arg-type]


_SCALE = ("width", "iterations", "learning_rate", "batch_size", "evaluate_every")
_OTHER_NETWORKS = ("arity", "wiring", "candidates", "start", "noise")
_SPECIAL = (*_OTHER_NETWORKS, "minutes", "validation")
_USUAL = {"wiring": "random", "start": "normal", "noise": "pass"}  # the paper's, or taken to be


@dataclass(frozen=True)
class SeedRuns:
    """The runs of one method, depth and tau: one for each seed, in the order of seeds."""

    runs: tuple[NetworkRun, ...]

    def finals(self, name: str) -> list[float]:
        """Returns the last value of each seed, in points."""
        return [100 * getattr(run.history.final, name) for run in self.runs]

    def final(self, name: str) -> float:
        """Returns the mean of `finals`."""
        return statistics.fmean(self.finals(name))

    def has(self, name: str) -> bool:
        """Whether every run measured this, at every evaluation."""
        return all(hasattr(record, name) for run in self.runs for record in run.history)

    def peaks(self, name: str) -> list[float]:
        """Returns the largest value of each seed in all of training, in points."""
        return [100 * run.history.peak(name) for run in self.runs]

    def late_peaks(self, name: str) -> list[float]:
        """Returns the largest value of each seed over the last 80% of training, in points."""
        return [high for _, high in self.ranges(name)]

    def ranges(self, name: str) -> list[tuple[float, float]]:
        """Returns (min, max) of each seed over the last 80% of training, the evaluation where it begins included."""
        return [_range_from(run, name, _last_from(run)) for run in self.runs]

    def largest(self, name: str) -> list[float]:
        """Returns the largest size of each seed over the last 80% of training, in points."""
        return [max(abs(low), abs(high)) for low, high in self.ranges(name)]

    def late_extreme(self, name: str) -> float:
        """Returns the value largest by size over the last 80% of training, with its sign: the mean over seeds."""
        lows, highs = zip(*self.ranges(name), strict=True)
        return max(statistics.fmean(lows), statistics.fmean(highs), key=abs)

    def late_ranges(self, name: str) -> list[tuple[float, float]]:
        """Returns (min, max) of each seed from where the paper's ranges begin, in points.

        Of a run that ends before that, its end. On a dataset that the paper does not have, the last 80% of training.
        """
        starts = [paper_range_start(run.config.text("dataset")) for run in self.runs]
        return [
            _range_from(run, name, _last_from(run) if start is None else start)
            for run, start in zip(self.runs, starts, strict=True)
        ]

    def iterations(self) -> list[int]:
        """Returns the evaluations that every run has: runs of a fixed time differ in their number."""
        return [record.iteration for record in min((run.history for run in self.runs), key=len)]

    def curve(self, name: str) -> list[float]:
        """Returns the mean over seeds at each of `iterations`, as stored."""
        columns = (run.history.column(name) for run in self.runs)
        return [statistics.fmean(values) for values in zip(*columns, strict=False)]

    def at(self, name: str, iteration: int) -> list[float]:
        """Returns the value of each seed at this evaluation, in points; nothing if a run did not have it."""
        records = [record for run in self.runs for record in run.history if record.iteration == iteration]
        return [100 * getattr(record, name) for record in records] if len(records) == len(self.runs) else []

    @property
    def chance(self) -> float:
        """The accuracy of guessing, in percent."""
        return 100 / self.runs[0].measurements.get("groupsum.classes", 10)

    @cached_property
    def mark(self) -> str:
        """†, ‡ or nothing, by FAILURE_RULE."""
        if self.final("total") < FAILURE_GAP:
            return "†"
        return "‡" if self.final("deploy") < self.chance + CHANCE_MARGIN else ""


def paper_range_start(dataset: str) -> int | None:
    """Returns the iteration from which on the paper takes its ranges; None for a dataset that it does not have."""
    theirs = printed.SCALES.get(dataset)
    return None if theirs is None else round(theirs.iterations * (1 - LAST))


def _last_from(run: NetworkRun) -> int:
    """The iteration where the last 80% of a run begin."""
    return round(run.history.final.iteration * (1 - LAST))


def _range_from(run: NetworkRun, name: str, start: int) -> tuple[float, float]:
    """(min, max) in points from the evaluation at iteration `start` on; of a run that ends before that, its end."""
    late = [record for record in run.history if record.iteration >= start] or [run.history.final]
    values = [100 * getattr(record, name) for record in late]
    return min(values), max(values)
