"""Runners: where runs are executed. One small interface, so that a laptop and a cluster run the same study.

The coordinator keeps a runner's `slots` filled and collects events. Surprising: a runner never touches the store and
never decides about retries; it only reports how a run ended.
"""

import os
from dataclasses import dataclass
from typing import Protocol

from hardwire.errors import unknown_name
from hardwire.study.worker import Ending, RunProgress, Task


@dataclass(frozen=True)
class WorkerLost:
    """The worker died under the run; the run is not to blame until it happens again."""

    key: str
    reason: str


Event = RunProgress | Ending | WorkerLost
RUNNERS = ("local", "ray")


class Runner(Protocol):
    """What runs tasks. slots: how many at once, which may change while a cluster grows."""

    @property
    def slots(self) -> int: ...

    def submit(self, task: Task) -> None: ...

    def events(self, timeout: float) -> list[Event]:
        """Returns what happened, waiting at most `timeout` seconds for the first event."""

    def close(self) -> None: ...


def open_runner(name: str, workers: int | None = None, threads: int = 1, address: str | None = None) -> Runner:
    """Returns the runner of this name; see `hardwire.study.run` for the arguments."""
    if name == "local":
        from hardwire.study.runners.local import LocalRunner

        return LocalRunner(workers or default_workers(threads))
    if name == "ray":
        from hardwire.study.runners.ray import RayRunner

        return RayRunner(workers, threads, address)
    raise unknown_name("runner", name, RUNNERS)


def default_workers(threads: int) -> int:
    """Returns how many runs of so many threads there are cores for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // threads)
