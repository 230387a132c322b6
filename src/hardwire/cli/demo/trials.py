"""The twelve trainings of the demo, several at a time, each in a process of its own with one thread.

A run this small gains nothing from a second thread (measured: a step takes longer with two), so the cores are shared
out by run. Surprising: runs of the same temperature share one seed, so methods are compared from the same wiring and
initial logits; those of the other have another, or CAGE, which ignores tau, would show the same numbers twice.
"""

import contextlib
import json
import multiprocessing
import os
import queue
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from hardwire.errors import HardwireError

DATASET = "digits"
TAUS = (2.0, 0.05)
METHODS = (
    ("Soft-Mix", "soft-mix", False),
    ("Soft-Gumbel", "soft-gumbel", False),
    ("Hard-ST", "hard-st", False),
    ("Gumbel-ST", "gumbel-st", False),
    ("Hard-ST+CAGE", "hard-st", True),
    ("Gumbel-ST+CAGE", "gumbel-st", True),
)


@dataclass(frozen=True)
class Settings:
    """What all runs of one demo share."""

    seed: int = 0
    iterations: int = 1500
    width: int = 1000
    depth: int = 2
    batch_size: int = 128
    lr: float = 0.01
    evaluations: int = 30

    @property
    def evaluate_every(self) -> int:
        return max(1, self.iterations // self.evaluations)


@dataclass(frozen=True)
class Trial:
    label: str
    method: str
    cage: bool
    tau: float


TRIALS = tuple(Trial(*method, tau) for method, tau in product(METHODS, TAUS))


@dataclass(frozen=True)
class Result:
    """A finished run: its History, and the model file that its network makes."""

    trial: Trial
    history: object
    model: bytes


def train_all(settings: Settings, processes: int | None, watch: Callable[[Trial, object], None]) -> list[Result]:
    """Trains all; `watch` is told of every evaluation (trial, Record) as it comes."""
    context = multiprocessing.get_context("spawn")  # the threads of torch do not survive a fork
    tasks, events = context.Queue(), context.Queue()
    count = min(processes or os.cpu_count() or 1, len(TRIALS))
    workers = [context.Process(target=_work, args=(settings, tasks, events), daemon=True) for _ in range(count)]
    for task in (*TRIALS, *[None] * count):
        tasks.put(task)
    try:
        with _interrupts_ignored():  # inherited: Ctrl-C is the parent's to answer
            for worker in workers:
                worker.start()
        return _collect(workers, events, watch)
    finally:
        for worker in workers:
            if worker.pid is not None:
                worker.terminate()
                worker.join()


def save_numbers(results: list[Result], path: Path) -> None:
    """All evaluations of all runs as JSON: a list of {method, tau, history}."""
    from hardwire.files import write_whole

    rows = [
        {"method": result.trial.label, "tau": result.trial.tau, "history": json.loads(result.history.to_json())}
        for result in results
    ]
    write_whole(path, json.dumps(rows).encode())


def _collect(workers, events, watch) -> list[Result]:
    results = {}
    while len(results) < len(TRIALS):
        try:
            trial, event = events.get(timeout=1)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers):
                raise HardwireError("a process of the demo was killed, perhaps for memory; try --processes 1") from None
            continue
        if isinstance(event, Exception):
            raise event
        if isinstance(event, Result):
            results[trial] = event
        else:
            watch(trial, event)
    return [results[trial] for trial in TRIALS]


@contextlib.contextmanager
def _interrupts_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(settings: Settings, tasks, events) -> None:
    """What a process does: train what is in `tasks` until a None comes, and tell `events`."""
    import torch

    torch.set_num_threads(1)
    for trial in iter(tasks.get, None):
        try:
            events.put((trial, _train(trial, settings, events)))
        except Exception as error:
            events.put((trial, error))


def _train(trial: Trial, settings: Settings, events) -> Result:
    import hardwire as hw

    class Tell(hw.Callback):
        def on_evaluation(self, run, record):
            events.put((trial, record))

    data = hw.data.load(DATASET)
    seed = settings.seed * len(TAUS) + TAUS.index(trial.tau)
    net = hw.LogicNetwork(
        data.inputs,
        data.classes,
        settings.width,
        settings.depth,
        method=trial.method,
        tau=trial.tau,
        cage=trial.cage,
        seed=seed,
        encoder=data.encoder,
    )
    history = hw.fit(
        net,
        data,
        settings.iterations,
        settings.batch_size,
        settings.lr,
        settings.evaluate_every,
        seed=seed,
        callbacks=[Tell()],
        progress=False,
    )
    return Result(trial, history, _model_file(net))


def _model_file(net) -> bytes:
    """As bytes, because tensors sent between processes live only as long as their sender."""
    import hardwire as hw

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        hw.save(net, path, dataset=DATASET)
        return path.read_bytes()
