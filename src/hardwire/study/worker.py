"""One run: train with a checkpoint in the work folder, then measure what the theory speaks about.

A worker that is killed leaves its checkpoint; the next one goes on from it and ends with the same bits. A lock on the
checkpoint keeps a worker that was given up for dead from writing beside its successor. Surprising: every run uses one
thread. Many small runs side by side are faster than one after the other on all cores, and a run gives the same bits on
machines of any size.
"""

import errno
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import hardwire as hw
from hardwire.data.dataset import SPLITS
from hardwire.errors import HardwireError
from hardwire.study.description import METHODS, RunConfig
from hardwire.study.lock import locked
from hardwire.study.store import Outcome
from hardwire.study.theory.trained import measure_initial, measure_trained
from hardwire.training import Callback, Record, Run

_PATIENCE = 120.0  # seconds to wait for the lock of a worker that is just dying


class DiskFull(HardwireError):
    """No room for the checkpoint: a reason to stop the study, not a failure of the run."""


@dataclass(frozen=True)
class Progress:
    """What a run says of itself after each evaluation."""

    key: str
    iteration: int
    deploy: float


def checkpoint_of(work: Path, key: str) -> Path:
    return work / f"{key}.checkpoint"


def discard(work: Path, key: str) -> None:
    """Removes what a finished run left in the work folder."""
    for path in (checkpoint_of(work, key), work / f"{key}.lock"):
        path.unlink(missing_ok=True)


def execute(key: str, config: RunConfig, work: Path, tell: Callable[[Progress], None] | None = None) -> Outcome:
    """Does one run, or what is left of it, and gives its result. `work`: the folder for its checkpoint."""
    torch.set_num_threads(1)
    try:
        work.mkdir(parents=True, exist_ok=True)
        with locked(work / f"{key}.lock", f"another worker is still at run {key}", _PATIENCE):
            return _train(key, config, work, tell)
    except (HardwireError, OSError) as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise DiskFull(f"no room on the disk of {work} for checkpoints ({error})") from None
        raise


def _train(key: str, config: RunConfig, work: Path, tell) -> Outcome:
    data = load_data(config.dataset)
    net = hw.LogicNetwork(
        data.inputs,
        data.classes,
        config.width,
        config.depth,
        tau=config.tau,
        seed=config.stream,
        **METHODS[config.method],
    )
    measurements = measure_initial(net, data)
    history = hw.fit(
        net,
        data,
        config.iterations,
        config.batch_size,
        config.learning_rate,
        config.evaluate_every,
        seed=config.stream,
        checkpoint=checkpoint_of(work, key),
        callbacks=[_Teller(key, tell)] if tell else [],
        progress=False,
    )
    return Outcome(history, measurements | measure_trained(net, data), history.final.seconds)


class _Teller(Callback):
    def __init__(self, key: str, tell: Callable[[Progress], None]):
        self.key, self.tell = key, tell

    def on_evaluation(self, run: Run, record: Record) -> None:
        self.tell(Progress(self.key, record.iteration, record.deploy))


@functools.lru_cache(maxsize=2)
def load_data(name: str) -> hw.data.Dataset:
    """A dataset; the latest two stay in memory, since neighbours in a grid share them."""
    return hw.data.load(name)


def pixel_counts(name: str) -> dict[float, int]:
    """How often each raw value, scaled to [0, 1], occurs in both splits; empty where raw values are unknown."""
    from hardwire.data.catalog import ENTRIES

    if name not in ENTRIES:
        return {}
    raw = np.concatenate([load_data(name).raw(split) for split in SPLITS])
    values, counts = np.unique(raw, return_counts=True)
    return dict(zip((values / ENTRIES[name].maximum).tolist(), counts.tolist(), strict=True))


def describe_error(error: BaseException) -> str:
    """One line for the store: the kind only where the message does not speak for itself."""
    text = str(error).strip()
    return text if isinstance(error, HardwireError) and text else f"{type(error).__name__}: {text}"
