"""`conduct`: carries a study out on a runner and writes every result to the store.

The plan is the description minus what the store has as done, so starting again after any kind of end is the same
command. Surprising: a run is taken for done only by its row; the checkpoint is removed after that row is on disk, so a
kill between the two costs a second look at a finished checkpoint and not a second run.
"""

import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.kinds import Kind, Record
from hardwire.study.runners import Event, Lost, Runner
from hardwire.study.store import Store
from hardwire.study.version import code_version, commit
from hardwire.study.worker import Failed, Finished, NoRoom, Progress, Task, discard

ATTEMPTS = 3  # how often in one go a run may lose its worker before it counts as failed


@dataclass
class Standing:
    """How a study stands, for whoever watches. retried: how often a run was put back after it lost its worker.

    weights: what runs cost beside each other, such as expected seconds; equal where nobody says.
    """

    kind: Kind
    total: int
    weights: Mapping[Config, float] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    retried: int = 0
    running: dict[str, tuple[Config, Progress | None]] = field(default_factory=dict)
    work_done: float = 0.0  # of the runs finished since this start
    work_left: float = 0.0

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - len(self.running)

    def weight(self, config: Config) -> float:
        return self.weights.get(config, 1.0)


class Watcher:
    """Is told of everything that happens; the default does not look."""

    def changed(self, standing: Standing) -> None:
        """Something did, or half a second has passed."""

    def progressed(self, standing: Standing, config: Config, progress: Progress) -> None:
        """A run was evaluated, or goes on from a checkpoint (then there is no record)."""

    def ended(self, standing: Standing, config: Config, result: Record | str) -> None:
        """A run was finished (its last record) or failed (why)."""


def conduct(
    description: Description,
    store: Store,
    runner: Runner,
    *,
    threads: int | None = None,
    retry_failed: bool = False,
    weights: Mapping[Config, float] | None = None,
    watcher: Watcher | None = None,
) -> Standing:
    """Runs what is left of a study. Failed runs stay failed unless `retry_failed`."""
    code = code_version(description.kind)
    store.interrupt()
    store.add_description(description, code)
    known = store.facts()
    facts = {**description.kind.facts(description, known), **_planned(description, weights, known)}
    store.add_facts(facts | ({f"code {code}": found} if (found := commit()) else {}))
    standing = Standing(description.kind, len(description), weights or {})
    todo = []
    for config, key, status in remaining(description, store, retry_failed):
        if status in ("done", "again"):
            discard(store.work, key)  # no longer needed, or perhaps what was wrong with the run
        if status == "done":
            standing.done += 1
        elif status == "failed":
            standing.failed += 1
        else:
            models = store.models if description.keep else None
            todo.append(Task(key, description.kind, config, store.work, threads or description.threads, models))
            standing.work_left += standing.weight(config)
    _Conductor(store, runner, code, standing, watcher or Watcher()).play(todo)
    others = store.work.glob("*.checkpoint")  # of other studies in the same store, which may go on
    if standing.done == standing.total and store.work.exists() and not any(others):
        shutil.rmtree(store.work)
    return standing


def _planned(
    description: Description, weights: Mapping[Config, float] | None, known: Mapping[str, object]
) -> dict[str, object]:
    """What runs were expected to take, before the first of them: a report puts beside it what they took."""
    name = f"plan {description.name}"
    before = known.get(name)
    estimates = {config.identity: round(seconds, 1) for config, seconds in (weights or {}).items()}
    return {name: {**estimates, **(before if isinstance(before, dict) else {})}} if estimates else {}


def remaining(description: Description, store: Store, retry_failed: bool) -> Iterator[tuple[Config, str, str]]:
    """(configuration, key, status) of every run; a status that is neither done nor failed is left to do."""
    states, code = store.states(), code_version(description.kind)
    for config in description:
        key = config.key(code)
        status = states[key].status if key in states else "new"
        yield config, key, "again" if status == "failed" and retry_failed else status


class _Conductor:
    def __init__(self, store: Store, runner: Runner, code: str, standing: Standing, watcher: Watcher):
        self.store, self.runner, self.code, self.standing, self.watcher = store, runner, code, standing, watcher
        self.tasks: dict[str, Task] = {}
        self.losses: dict[str, int] = {}

    def play(self, todo: list[Task]) -> None:
        waiting = deque(todo)
        while waiting or self.standing.running:
            while waiting and len(self.standing.running) < self.runner.slots:
                task = waiting.popleft()
                self.store.begin(task.key, task.config, self.code)
                self.standing.running[task.key] = (task.config, None)
                self.tasks[task.key] = task
                self.runner.submit(task)
            self.watcher.changed(self.standing)
            for event in self.runner.events(timeout=0.5):
                waiting.extend(self._handle(event))
        self.watcher.changed(self.standing)

    def _handle(self, event: Event) -> Iterator[Task]:
        """Writes down what happened; gives the runs that have to be done again."""
        config = self.tasks[event.key].config
        if isinstance(event, Progress):
            self.standing.running[event.key] = (config, event)
            self.watcher.progressed(self.standing, config, event)
            return
        del self.standing.running[event.key]
        if isinstance(event, Finished):
            self.store.finish(event.key, event.outcome, event.worker)
            discard(self.store.work, event.key)
            self.standing.done += 1
            self._ended(config, event.outcome.records[-1])
        elif isinstance(event, Failed):
            self._fail(config, event.key, event.error, event.worker)
        elif isinstance(event, NoRoom):
            self.store.put_back(event.key)
            raise HardwireError(f"{event.error}; make room and start the study again: it goes on where it stopped")
        else:
            yield from self._lose(config, event)

    def _fail(self, config: Config, key: str, error: str, worker: str | None = None) -> None:
        self.store.fail(key, error, worker)
        self.standing.failed += 1
        self._ended(config, error)

    def _lose(self, config: Config, event: Lost) -> Iterator[Task]:
        self.losses[event.key] = self.losses.get(event.key, 0) + 1
        if self.losses[event.key] >= ATTEMPTS:
            self._fail(config, event.key, f"lost its worker {ATTEMPTS} times, the last time: {event.reason}")
            return
        self.store.put_back(event.key, event.reason)
        self.standing.retried += 1
        yield self.tasks[event.key]

    def _ended(self, config: Config, result: Record | str) -> None:
        self.standing.work_done += self.standing.weight(config)
        self.standing.work_left -= self.standing.weight(config)
        self.watcher.ended(self.standing, config, result)
