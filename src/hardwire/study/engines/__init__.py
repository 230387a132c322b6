"""Engines: where runs are executed. One small interface, so that a laptop and a cluster run the same study.

The conductor keeps an engine's `slots` filled and collects events. Surprising: an engine never touches the store and
never decides about retries; it only says what became of a run.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hardwire.errors import unknown_name
from hardwire.study.description import RunConfig
from hardwire.study.store import Outcome
from hardwire.study.worker import Progress


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
class Lost:
    """The worker died under the run; the run is not to blame until it happens again."""

    key: str
    reason: str


@dataclass(frozen=True)
class NoRoom:
    """The disk is full: no run can go on."""

    key: str
    error: str


Event = Progress | Finished | Failed | Lost | NoRoom


class Engine(Protocol):
    """slots: how many runs it takes at once, which may change while a cluster grows."""

    @property
    def slots(self) -> int: ...

    def submit(self, key: str, config: RunConfig) -> None: ...

    def events(self, timeout: float) -> list[Event]:
        """What happened, waiting at most `timeout` seconds for the first event."""

    def close(self) -> None: ...


def open_engine(name: str, work: Path, workers: int | None = None, address: str | None = None) -> Engine:
    """The engine of this name. workers: how many runs at once (local); address: of the cluster (ray)."""
    if name == "local":
        from hardwire.study.engines.local import LocalEngine

        return LocalEngine(work, workers)
    if name == "ray":
        from hardwire.study.engines.ray import RayEngine

        return RayEngine(work, workers, address)
    raise unknown_name("engine", name, ("local", "ray"))
