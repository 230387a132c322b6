"""What a run of the kind `network` costs here: a few real steps, one evaluation and one closing measurement, timed.

Steps are timed on random data of the right shape, so nothing is downloaded. Surprising: each shape is timed at one
depth and the rest is scaled by depth, because at the paper's width a single step takes long.
"""

import functools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional as F

import hardwire as hw
from hardwire.bits import Bits
from hardwire.data import Dataset, Split
from hardwire.data.catalog import ENTRIES, Images
from hardwire.study.config import Config
from hardwire.study.kinds import Cost
from hardwire.training import TrainingRun
from hardwire.training.adam import Adam
from hardwire.training.checkpoint import Checkpoint
from hardwire_paper.measured import TRAIN_ROWS, Measures, measure_initial, measure_trained
from hardwire_paper.networks import OPTIONS
from hardwire_paper.networks.train import build

_BUDGET = 0.3  # seconds of timed steps for each shape
_LONG = 3.0  # seconds: what takes so long is timed once
_BASE = 400e6  # bytes of a Python with torch, before any data
_EVALUATED = 1000  # rows in a batch of `measure_gap`
_READING = 4e-10  # seconds to read and encode a bit of a dataset


@dataclass(frozen=True)
class _Shape:
    """What of a dataset decides the cost."""

    inputs: int
    classes: int
    binary: bool
    train: int
    test: int

    @property
    def size(self) -> float:
        """Bytes of both splits in memory."""
        return (self.train + self.test) * self.inputs * (1 / 8 if self.binary else 4)


@dataclass(frozen=True)
class _Times:
    """Seconds of one step, one evaluation, and all that is measured once."""

    step: float
    evaluation: float
    once: float


def estimate(config: Config, threads: int) -> Cost:
    """Seconds and bytes of a run."""
    shape, depth = _shape(config.text("dataset")), config.whole("depth")
    same = {name: value for name, value in config.values if name not in ("seed", "tau", "depth", "iterations")}
    timed_depth, times = _timed(Config.of(config.kind, same), threads, depth)
    step, evaluation, once = (t * depth / timed_depth for t in (times.step, times.evaluation, times.once))
    minutes = config["minutes"]
    iterations = config.whole("iterations") if config["iterations"] else 1 << 62
    seconds = iterations * step + -(-iterations // config.whole("evaluate_every")) * evaluation
    if isinstance(minutes, float):
        seconds = min(seconds, 60 * minutes)
    reading = shape.size * 8 * _READING / 10  # neighbours in a grid share their data
    options = "".join(f" {name} {config[name]}" for name in OPTIONS if config[name] is not None)
    label = f"{config['dataset']} {config['method']} width {config.whole('width'):,}{options}"
    return Cost(seconds + once + reading, _memory(config, shape), step, label)


_DEPTHS: dict[tuple[Config, int], int] = {}


def _timed(config: Config, threads: int, depth: int) -> tuple[int, _Times]:
    """The depth at which runs of this shape are timed, the first that was asked for, and their times there."""
    timed = _DEPTHS.setdefault((config, threads), depth)
    return timed, _time(config, threads, timed)


@functools.cache
def _time(config: Config, threads: int, depth: int) -> _Times:
    shape = _shape(config.text("dataset"))
    whole = Config.of(config.kind, {**dict(config.values), "depth": depth, "seed": 0, "tau": 1.0})
    net = build(whole, shape.inputs, shape.classes)
    optimizer = Adam(net.parameters(), lr=0.01)
    x, y = _rows(shape, config.whole("batch_size"))

    def step() -> None:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()  # the first one allocates
    few = Split(*_rows(shape, min(_EVALUATED, shape.test)))
    gap = best_time(lambda: hw.measure_gap(net, few), 0.0)
    rest = max(0.0, best_time(lambda: Measures(few)(net, few), 0.0) - 2 * gap)
    rows = shape.test + min(TRAIN_ROWS, shape.train)
    few_data = Dataset("random", few, few, shape.classes)
    once = best_time(lambda: (measure_initial(net, few_data), measure_trained(net, few_data)), 0.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Checkpoint(Path(folder) / "checkpoint", {})
        saved = best_time(lambda: file.write(TrainingRun(net, optimizer, 1)), 0.0)
    return _Times(best_time(step, _BUDGET), gap * rows / len(few) + rest + saved, once)


def best_time(work: Callable[[], object], budget: float) -> float:
    """Seconds of the quickest of two goes, or of as many as the budget allows; of one that takes long."""
    quickest, spent, goes = float("inf"), 0.0, 0
    while goes < 2 or spent < budget:
        if spent > _LONG:
            break
        begin = time.perf_counter()
        work()
        taken = time.perf_counter() - begin
        quickest, spent, goes = min(quickest, taken), spent + taken, goes + 1
    return quickest


@functools.cache
def _shape(dataset: str) -> _Shape:
    entry = ENTRIES.get(dataset)
    if isinstance(entry, Images):
        return _Shape(entry.inputs, entry.classes, entry.binary, entry.rows["train"], entry.rows["test"])
    data = hw.data.load(dataset)
    return _Shape(data.inputs, data.classes, isinstance(data.train.x, Bits), len(data.train), len(data.test))


def _rows(shape: _Shape, count: int) -> tuple[Bits | torch.Tensor, torch.Tensor]:
    """Random inputs and labels."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(count, shape.inputs, generator=generator)
    y = torch.randint(shape.classes, (count,), generator=generator)
    return (Bits.pack(x > 0.5) if shape.binary else x), y


def _memory(config: Config, shape: _Shape) -> float:
    """Bytes of one run: data, logits with gradients and Adam's two averages, and a batch of activations."""
    nodes = config.whole("width") * config.whole("depth")
    return _BASE + shape.size + nodes * 16 * 4 * 4 + 2 * config.whole("batch_size") * nodes * 4
