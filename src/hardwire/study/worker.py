"""One run, in whatever process: under a lock, with a checkpoint in the work folder, on a given number of threads.

A worker that is killed leaves its checkpoint, and the next one continues from it. The lock keeps a worker that was
given up for dead from writing beside its successor. Surprising: a lock file is deleted only when its run is over for
good, since a second process could otherwise hold a lock on a file that no longer exists.
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
from hardwire.study.kinds import Evaluation, Kind, Outcome, StudyJob
from hardwire.study.store import worker_name

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
class RunProgress:
    """How far a run has come: sent after each evaluation, and without a record when a run is continued."""

    key: str
    iteration: int
    iterations: int
    record: Evaluation = field(default_factory=dict)


@dataclass(frozen=True)
class Finished:
    """The run is done."""

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
class DiskFull:
    """The disk is full: no run can continue."""

    key: str
    error: str


Ending = Finished | Failed | DiskFull


def attempt(task: Task, send: Callable[[RunProgress], None] = lambda progress: None) -> Ending:
    """Does a run, or the rest of an interrupted one, and returns how it ended. send: gets its progress."""
    try:
        return Finished(task.key, execute(task, send), worker_name())
    except Exception as error:  # whatever a run raises is its result
        if _is_full_disk(error):
            return DiskFull(task.key, f"no room on the disk of {task.work} for checkpoints ({error})")
        return Failed(task.key, describe_error(error), worker_name())


def execute(task: Task, send: Callable[[RunProgress], None] = lambda progress: None) -> Outcome:
    """Does a run, or the rest of an interrupted one, and returns its result."""
    import torch

    torch.set_num_threads(task.threads)
    for folder in filter(None, (task.work, task.models)):
        folder.mkdir(parents=True, exist_ok=True)
    job = StudyJob(
        task.config,
        checkpoint_of(task.work, task.key),
        task.models / f"{task.key}.safetensors" if task.models else None,
        lambda iteration, iterations, record: send(RunProgress(task.key, iteration, iterations, record)),
    )
    try:
        with FileLock(_lock_of(task.work, task.key)).acquire(timeout=_PATIENCE):
            return _timed(task.kind, job)
    except Timeout:
        raise HardwireError(f"another worker is still busy with run {task.key}") from None


def _timed(kind: Kind, job: StudyJob) -> Outcome:
    """The result with its processor time, if the run was not interrupted: on a busy machine, clocks say less."""
    whole, begin = not job.checkpoint.exists(), time.process_time()
    outcome = kind.run(job)
    return replace(outcome, cpu_seconds=time.process_time() - begin) if whole else outcome


def checkpoint_of(work: Path, key: str) -> Path:
    """Returns the path of a run's checkpoint."""
    return work / f"{key}.checkpoint"


def discard(work: Path, key: str) -> None:
    """Removes what a finished run left in the work folder."""
    for path in work.glob(f"{key}.*"):
        path.unlink(missing_ok=True)


def describe_error(error: BaseException) -> str:
    """Returns one line for the store, with the type of the error unless it is one of ours."""
    text = str(error).strip()
    return text if isinstance(error, HardwireError) and text else f"{type(error).__name__}: {text}"


def _lock_of(work: Path, key: str) -> Path:
    return work / f"{key}.lock"


def _is_full_disk(error: Exception) -> bool:
    return isinstance(error, HardwireError | OSError) and os.strerror(errno.ENOSPC) in str(error)
