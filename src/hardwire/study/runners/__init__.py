"""Runners: where runs are executed. One small interface, so that a laptop and a cluster run the same study.

The conductor keeps a runner's `slots` filled and collects events. Surprising: a runner never touches the store and
never decides about retries; it only says what became of a run.
"""

import os
from dataclasses import dataclass
from typing import Protocol

from hardwire.errors import unknown_name
from hardwire.study.worker import Failed, Finished, NoRoom, Progress, Task


@dataclass(frozen=True)
class Lost:
    """The worker died under the run; the run is not to blame until it happens again."""

    key: str
    reason: str


Event = Progress | Finished | Failed | Lost | NoRoom
RUNNERS = ("local", "ray")


class Runner(Protocol):
    """slots: how many runs it takes at once, which may change while a cluster grows."""

    @property
    def slots(self) -> int: ...

    def submit(self, task: Task) -> None: ...

    def events(self, timeout: float) -> list[Event]:
        """What happened, waiting at most `timeout` seconds for the first event."""

    def close(self) -> None: ...


def open_runner(name: str, workers: int | None = None, threads: int = 1, address: str | None = None) -> Runner:
    """The runner of this name. workers: runs at once, as many as cores allow if not given; address: of a cluster."""
    if name == "local":
        from hardwire.study.runners.local import LocalRunner

        return LocalRunner(workers or default_workers(threads))
    if name == "ray":
        from hardwire.study.runners.ray import RayRunner

        return RayRunner(workers, threads, address)
    raise unknown_name("runner", name, RUNNERS)


def default_workers(threads: int) -> int:
    """How many runs of so many threads the cores of this process take."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // threads)
