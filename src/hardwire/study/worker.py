"""One run, in whatever process: under a lock, with a checkpoint in the work folder, on so many threads.

A worker that is killed leaves its checkpoint; the next one goes on from it. The lock keeps a worker that was given up
for dead from writing beside its successor. Surprising: a lock file is deleted only when its run is over for good, since
a second process could otherwise hold a lock on a file that is no longer there.
"""

import errno
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from hardwire.errors import HardwireError
from hardwire.study.config import Config
from hardwire.study.kinds import Job, Kind, Outcome, Record
from hardwire.study.store import whoami

_PATIENCE = 120.0  # seconds to wait for the lock of a worker that is just dying


@dataclass(frozen=True)
class Task:
    """A run as it is handed to a worker. models: the folder for its trained model, or None."""

    key: str
    kind: Kind
    config: Config
    work: Path
    threads: int = 1
    models: Path | None = None


@dataclass(frozen=True)
class Progress:
    """What a run says of itself: after each evaluation, and at its start (no record) where it goes on."""

    key: str
    iteration: int
    iterations: int
    record: Record = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    key: str
    outcome: Outcome
    worker: str


@dataclass(frozen=True)
class Failed:
    """The run itself raised an error: trying again would end the same way."""

    key: str
    error: str
    worker: str


@dataclass(frozen=True)
class NoRoom:
    """The disk is full: no run can go on."""

    key: str
    error: str


def attempt(task: Task, tell: Callable[[Progress], None] = lambda progress: None) -> Finished | Failed | NoRoom:
    """Does a run, or what is left of it, and says what became of it."""
    try:
        return Finished(task.key, execute(task, tell), whoami())
    except Exception as error:  # whatever a run raises is its result
        if _is_full_disk(error):
            return NoRoom(task.key, f"no room on the disk of {task.work} for checkpoints ({error})")
        return Failed(task.key, describe_error(error), whoami())


def execute(task: Task, tell: Callable[[Progress], None] = lambda progress: None) -> Outcome:
    """Does a run, or what is left of it, and gives its result."""
    import torch

    torch.set_num_threads(task.threads)
    for folder in filter(None, (task.work, task.models)):
        folder.mkdir(parents=True, exist_ok=True)
    job = Job(
        task.config,
        checkpoint_of(task.work, task.key),
        task.models / f"{task.key}.safetensors" if task.models else None,
        lambda iteration, iterations, record: tell(Progress(task.key, iteration, iterations, record)),
    )
    try:
        with FileLock(_lock_of(task.work, task.key)).acquire(timeout=_PATIENCE):
            return _timed(task.kind, job)
    except Timeout:
        raise HardwireError(f"another worker is still at run {task.key}") from None


def _timed(kind: Kind, job: Job) -> Outcome:
    """The result with the processor time it took, where it was done in one go: on a busy machine that says more."""
    whole, begin = not job.checkpoint.exists(), time.process_time()
    outcome = kind.run(job)
    return replace(outcome, cpu_seconds=time.process_time() - begin) if whole else outcome


def checkpoint_of(work: Path, key: str) -> Path:
    return work / f"{key}.checkpoint"


def discard(work: Path, key: str) -> None:
    """Removes what a finished run left in the work folder."""
    for path in work.glob(f"{key}.*"):
        path.unlink(missing_ok=True)


def describe_error(error: BaseException) -> str:
    """One line for the store: the kind only where the message does not speak for itself."""
    text = str(error).strip()
    return text if isinstance(error, HardwireError) and text else f"{type(error).__name__}: {text}"


def _lock_of(work: Path, key: str) -> Path:
    return work / f"{key}.lock"


def _is_full_disk(error: Exception) -> bool:
    return isinstance(error, HardwireError | OSError) and os.strerror(errno.ENOSPC) in str(error)
