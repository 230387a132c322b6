"""The twelve trainings of the demo, several at a time, each in a process of its own with one thread.

Two small runs side by side finish sooner than one after the other with two threads each. Surprising: runs of the same
temperature share one seed, so methods are compared from the same wiring and initial logits; those of the other
temperature have another, or CAGE, which ignores tau, would show the same numbers twice.
"""

import json
import multiprocessing
import os
import queue
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
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
    """A finished run: its network and its History."""

    trial: Trial
    net: object
    history: object


def train_all(settings: Settings, processes: int | None, watch: Callable[[Trial, object], None]) -> list[Result]:
    """Trains all runs; `watch` is told of every evaluation (run, Record) as it comes."""
    context = multiprocessing.get_context("spawn")  # the threads of torch do not survive a fork
    workers = min(processes or os.cpu_count() or 1, len(TRIALS))
    with context.Manager() as manager, ProcessPoolExecutor(workers, context, _start_worker) as pool:
        records, stop = manager.Queue(), manager.Event()
        futures = [pool.submit(_train, trial, settings, records, stop) for trial in TRIALS]
        try:
            while not all([_finished(future) for future in futures]):  # a list, so that every failure is seen
                _pass_on(records, watch)
            _pass_on(records, watch)
        except BaseException:  # Ctrl-C, or a run that failed: the others must not go on for their minute
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


def _finished(future: Future) -> bool:
    return future.done() and future.result() is not None  # result() raises what the run raised


def _pass_on(records, watch) -> None:
    try:
        watch(*records.get(timeout=0.1))
        while not records.empty():
            watch(*records.get())
    except queue.Empty:
        pass


def _start_worker() -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    torch.set_num_threads(1)


def _train(trial: Trial, settings: Settings, records, stop) -> Result:
    import hardwire as hw

    class Tell(hw.Callback):
        def on_evaluation(self, run, record):
            records.put((trial, record))
            if stop.is_set():
                raise HardwireError("the demo was stopped")

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
    return Result(trial, net, history)


def save_model(result: Result, path: Path) -> None:
    """The run's network as a model file."""
    import hardwire as hw

    hw.save(result.net, path, dataset=DATASET)


def save_numbers(results: list[Result], path: Path) -> None:
    """All evaluations of all runs as JSON: a list of {label, tau, history}."""
    from hardwire.tensorfile import write_bytes

    rows = [
        {"method": result.trial.label, "tau": result.trial.tau, "history": json.loads(result.history.to_json())}
        for result in results
    ]
    write_bytes(path, json.dumps(rows).encode())
