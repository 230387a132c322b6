"""`plan`: how many runs, how long and how much memory, from a few real training steps on this machine.

Steps are timed on random data of the right shape, so nothing is downloaded, and in CPU time, so that a busy machine
does not look slow. Surprising: each method is timed at the smallest depth of its grid and the rest is scaled by depth,
because at the paper's width a single step takes long.
"""

import time
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.table import Table
from torch.nn import functional as F

import hardwire as hw
from hardwire.bits import Bits
from hardwire.data.catalog import ENTRIES
from hardwire.study.description import METHODS, Description, Grid
from hardwire.study.engines.local import cores
from hardwire.study.overview import duration
from hardwire.training.measures import NODE_ROWS

_BUDGET = 0.5  # seconds of timed steps for each method
_BASE = 400e6  # bytes of a Python with torch, before any data
_EVALUATED = 1000  # rows in a batch of `measure_gap`


@dataclass(frozen=True)
class Estimate:
    """What the runs of one grid, method and width cost. seconds: of all of them; memory: bytes of one."""

    dataset: str
    method: str
    width: int
    runs: int
    step: float  # seconds, at the smallest depth
    seconds: float
    memory: float


@dataclass(frozen=True)
class Plan:
    estimates: list[Estimate]
    workers: int

    @property
    def runs(self) -> int:
        return sum(estimate.runs for estimate in self.estimates)

    @property
    def seconds(self) -> float:
        return sum(estimate.seconds for estimate in self.estimates) / min(self.workers, max(1, self.runs))

    @property
    def memory(self) -> float:
        return self.workers * max(estimate.memory for estimate in self.estimates)


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


def calibrate(description: Description, workers: int | None = None) -> Plan:
    """Times every method of every grid, one thread each, as the study would run it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        estimates = [
            _estimate(grid, method, width)
            for grid in description.grids
            for width in grid.widths
            for method in grid.methods
        ]
    finally:
        torch.set_num_threads(threads)
    return Plan(estimates, workers or cores())


def _estimate(grid: Grid, method: str, width: int) -> Estimate:
    shape, depth = _shape(grid.dataset), min(grid.depths)
    step, evaluation = _time(shape, method, width, depth, grid.batch_size)
    variants = len(grid.taus) * len(grid.seeds) * len(grid.learning_rates)
    seconds = sum(
        (iterations * step + -(-iterations // grid.evaluate_every) * evaluation) * layers / depth * variants
        for iterations in grid.iterations
        for layers in grid.depths
    )
    runs = variants * len(grid.iterations) * len(grid.depths)
    return Estimate(grid.dataset, method, width, runs, step, seconds, _memory(grid, shape, width))


def _shape(dataset: str) -> _Shape:
    if dataset in ENTRIES:
        entry = ENTRIES[dataset]
        return _Shape(entry.inputs, entry.classes, entry.binary, entry.rows["train"], entry.rows["test"])
    data = hw.data.load(dataset)
    return _Shape(data.inputs, data.classes, isinstance(data.train.x, Bits), len(data.train), len(data.test))


def _time(shape: _Shape, method: str, width: int, depth: int, batch_size: int) -> tuple[float, float]:
    """Seconds of one training step and of one evaluation of the test split."""
    net = hw.LogicNetwork(shape.inputs, shape.classes, width, depth, seed=0, **METHODS[method])
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, fused=True)
    x, y = _rows(shape, batch_size)

    def step():
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()  # the first one allocates
    steps, begin = 0, time.process_time()
    while steps < 2 or time.process_time() - begin < _BUDGET:
        step()
        steps += 1
    per_step = (time.process_time() - begin) / steps
    x, y = _rows(shape, _EVALUATED)
    begin = time.process_time()
    hw.measure_gap(net, (x, y))
    accuracies = time.process_time() - begin
    hw.node_gaps(net, x[:NODE_ROWS])
    nodes = time.process_time() - begin - accuracies
    return per_step, accuracies * shape.test / _EVALUATED + nodes


def _rows(shape: _Shape, count: int):
    """Random inputs and labels."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(count, shape.inputs, generator=generator)
    y = torch.randint(shape.classes, (count,), generator=generator)
    return (Bits.pack(x > 0.5) if shape.binary else x), y


def _memory(grid: Grid, shape: _Shape, width: int) -> float:
    """Bytes of one run: data, logits with gradients and Adam's two averages, and a batch of activations."""
    nodes = width * max(grid.depths)
    return _BASE + shape.size + nodes * 16 * 4 * 4 + 2 * grid.batch_size * nodes * 4


def show(plan: Plan, console: Console) -> None:
    """Prints a plan."""
    table = Table("dataset", "method", "width", "runs", "a step", "core time", "memory of a run")
    for estimate in plan.estimates:
        table.add_row(
            estimate.dataset,
            estimate.method,
            f"{estimate.width:,}",
            f"{estimate.runs:,}",
            f"{1000 * estimate.step:.1f} ms",
            duration(estimate.seconds),
            f"{estimate.memory / 1e9:.1f} GB",
        )
    console.print(table)
    console.print(
        f"{plan.runs:,} runs; about {duration(plan.seconds)} with {plan.workers} at once on this machine, "
        f"with up to {plan.memory / 1e9:.1f} GB of memory. Runs that share caches and memory slow each other down, so "
        "it may take half as long again.",
        highlight=False,
    )
