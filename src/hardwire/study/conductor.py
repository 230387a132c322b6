"""`conduct`: carries a study out on an engine and writes every result to the store.

The plan is the description minus what the store has as done, so starting again after any kind of end is the same
command. Surprising: a run is taken for done only by its row; the checkpoint is removed after that row is on disk, so a
kill between the two costs a second look at a finished checkpoint and not a second run.
"""

import shutil
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.description import Description, RunConfig
from hardwire.study.engines import Engine, Failed, Finished, Lost, NoRoom
from hardwire.study.store import Store
from hardwire.study.version import code_version
from hardwire.study.worker import Progress, discard, pixel_counts

ATTEMPTS = 3  # how often in one go a run may lose its worker before it counts as failed


@dataclass
class Standing:
    """How a study stands, for whoever watches. retried: how often a run was put back after it lost its worker."""

    total: int
    done: int = 0
    failed: int = 0
    retried: int = 0
    running: dict[str, tuple[RunConfig, Progress | None]] = field(default_factory=dict)
    latest: deque = field(default_factory=lambda: deque(maxlen=5))  # (config, final record or error)
    work_done: float = 0.0  # of the runs finished since this start, in arbitrary units
    work_left: float = 0.0

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - len(self.running)


class Watcher:
    """Is told of every change; the default does not look."""

    def changed(self, standing: Standing) -> None:
        pass


def conduct(
    description: Description, store: Store, engine: Engine, retry_failed: bool = False, watcher: Watcher | None = None
) -> Standing:
    """Runs what is left of a study. Failed runs stay failed unless `retry_failed`."""
    code = code_version()
    store.interrupt()
    store.add_description(description, code)
    _add_pixels(description, store)
    standing = Standing(len(description))
    todo = _take_stock(description, store, code, retry_failed, standing)
    _Conductor(store, engine, code, standing, watcher or Watcher()).play(todo)
    if standing.done == standing.total and store.work.exists():
        shutil.rmtree(store.work)
    return standing


def _take_stock(
    description: Description, store: Store, code: str, retry_failed: bool, standing: Standing
) -> list[tuple[str, RunConfig]]:
    """The runs that are left to do; the others are counted in `standing`."""
    states, todo = store.states(), []
    for config in description:
        key = config.key(code)
        status = states[key].status if key in states else None
        if status == "failed" and not retry_failed:
            standing.failed += 1
            continue
        if status in ("done", "failed"):
            discard(store.work, key)  # no longer needed, or perhaps what is wrong with the run
        if status == "done":
            standing.done += 1
        else:
            todo.append((key, config))
            standing.work_left += effort(config)
    return todo


def effort(config: RunConfig) -> float:
    """What a run costs beside others, roughly: node evaluations."""
    return config.iterations * config.width * config.depth * config.batch_size


class _Conductor:
    def __init__(self, store: Store, engine: Engine, code: str, standing: Standing, watcher: Watcher):
        self.store, self.engine, self.code, self.standing, self.watcher = store, engine, code, standing, watcher
        self.losses: dict[str, int] = {}

    def play(self, todo: list[tuple[str, RunConfig]]) -> None:
        waiting = deque(todo)
        while waiting or self.standing.running:
            while waiting and len(self.standing.running) < self.engine.slots:
                key, config = waiting.popleft()
                self.store.begin(key, config, self.code)
                self.standing.running[key] = (config, None)
                self.engine.submit(key, config)
            self.watcher.changed(self.standing)
            for event in self.engine.events(timeout=0.5):
                waiting.extend(self._handle(event))
        self.watcher.changed(self.standing)

    def _handle(self, event) -> Iterator[tuple[str, RunConfig]]:
        """Writes down what happened; gives the runs that have to be done again."""
        if isinstance(event, Progress):
            config, _ = self.standing.running[event.key]
            self.standing.running[event.key] = (config, event)
            return
        config, _ = self.standing.running.pop(event.key)
        if isinstance(event, Finished):
            self._finish(config, event)
        elif isinstance(event, Failed):
            self._fail(config, event.key, event.error, event.worker)
        elif isinstance(event, NoRoom):
            self.store.put_back(event.key)
            raise HardwireError(f"{event.error}; make room and start the study again: it goes on where it stopped")
        elif isinstance(event, Lost):
            yield from self._lose(config, event)

    def _finish(self, config: RunConfig, event: Finished) -> None:
        self.store.finish(event.key, event.outcome, event.worker)
        discard(self.store.work, event.key)
        self.standing.done += 1
        self.standing.latest.append((config, event.outcome.history.final))
        self._count(config)

    def _fail(self, config: RunConfig, key: str, error: str, worker: str | None = None) -> None:
        self.store.fail(key, error, worker)
        self.standing.failed += 1
        self.standing.latest.append((config, error))
        self._count(config)

    def _lose(self, config: RunConfig, event: Lost) -> Iterator[tuple[str, RunConfig]]:
        self.losses[event.key] = self.losses.get(event.key, 0) + 1
        if self.losses[event.key] >= ATTEMPTS:
            self._fail(config, event.key, f"lost its worker {ATTEMPTS} times, the last time: {event.reason}")
            return
        self.store.put_back(event.key, event.reason)
        self.standing.retried += 1
        yield event.key, config

    def _count(self, config: RunConfig) -> None:
        self.standing.work_done += effort(config)
        self.standing.work_left -= effort(config)


def _add_pixels(description: Description, store: Store) -> None:
    """The pixel values of each dataset, for the computation gap; once."""
    known = store.pixels()
    for dataset in dict.fromkeys(grid.dataset for grid in description.grids):
        if dataset not in known and (counts := pixel_counts(dataset)):
            store.add_pixels(dataset, counts)
