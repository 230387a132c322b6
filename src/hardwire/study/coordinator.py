"""`run_study`: does the runs of a study on a runner and writes every result to the store.

It does the runs of the description that the store does not have yet, so the same command continues a study however it
ended. Surprising: a run counts as done only by its row. Its checkpoint is removed after that row is on disk, so a kill
between the two costs a second look at a finished checkpoint and not a second run.
"""

import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.kinds import Evaluation, Kind
from hardwire.study.runners import Event, Runner, WorkerLost
from hardwire.study.store import Store
from hardwire.study.version import code_version, commit
from hardwire.study.worker import DiskFull, Failed, Finished, RunProgress, Task, discard

ATTEMPTS = 3  # how often in one session a run may lose its worker before it counts as failed


@dataclass
class StudyProgress:
    """How far a study has come.

    Attributes:
        kind: Of its runs.
        total: Runs of the study.
        weights: What runs cost relative to each other, such as expected seconds; 1 each if not given.
        done: Finished runs.
        failed: Failed runs.
        retried: How often a run was put back after it lost its worker.
        running: Key of each run that is being done, with its configuration and its latest progress.
        work_done: Weights of the runs that finished in this session, added up.
        work_left: Weights of the runs that are not finished.
    """

    kind: Kind
    total: int
    weights: Mapping[Config, float] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    retried: int = 0
    running: dict[str, tuple[Config, RunProgress | None]] = field(default_factory=dict)
    work_done: float = 0.0
    work_left: float = 0.0

    @property
    def waiting(self) -> int:
        """Runs that are not started yet."""
        return self.total - self.done - self.failed - len(self.running)

    def weight(self, config: Config) -> float:
        """Returns what a run costs relative to the others."""
        return self.weights.get(config, 1.0)


class Watcher:
    """Is told about everything that happens in a study. This base class ignores it."""

    def changed(self, study: StudyProgress) -> None:
        """Called when something changed, and every half second."""

    def progressed(self, study: StudyProgress, config: Config, progress: RunProgress) -> None:
        """Called when a run was evaluated, or is continued from a checkpoint (then without a record)."""

    def ended(self, study: StudyProgress, config: Config, result: Evaluation | str) -> None:
        """Called when a run finished, with its last record, or failed, with the error."""


def run_study(
    description: Description,
    store: Store,
    runner: Runner,
    *,
    threads: int | None = None,
    retry_failed: bool = False,
    weights: Mapping[Config, float] | None = None,
    watcher: Watcher | None = None,
) -> StudyProgress:
    """Does what is left of a study; see `hardwire.study.run` for the arguments."""
    code = code_version(description.kind)
    store.mark_interrupted()
    store.add_description(description, code)
    known = store.facts()
    facts = {**description.kind.facts(description, known), **_planned(description, weights, known)}
    store.add_facts(facts | ({f"code {code}": checkout} if (checkout := commit()) else {}))
    progress = StudyProgress(description.kind, len(description), weights or {})
    todo = []
    for config, key, status in remaining(description, store, retry_failed):
        if status in ("done", "again"):
            discard(store.work, key)  # no longer needed, or perhaps what was wrong with the run
        if status == "done":
            progress.done += 1
        elif status == "failed":
            progress.failed += 1
        else:
            models = store.models if description.keep else None
            todo.append(Task(key, description.kind, config, store.work, threads or description.threads, models))
            progress.work_left += progress.weight(config)
    _Coordinator(store, runner, code, progress, watcher or Watcher()).run_all(todo)
    others = store.work.glob("*.checkpoint")  # of other studies in the same store, which may be continued
    if progress.done == progress.total and store.work.exists() and not any(others):
        shutil.rmtree(store.work)
    return progress


def _planned(
    description: Description, weights: Mapping[Config, float] | None, known: Mapping[str, object]
) -> dict[str, object]:
    """What runs were expected to take, before the first of them; a report shows it beside what they took."""
    name = f"plan {description.name}"
    before = known.get(name)
    estimates = {config.identity: round(seconds, 1) for config, seconds in (weights or {}).items()}
    return {name: {**estimates, **(before if isinstance(before, dict) else {})}} if estimates else {}


def remaining(description: Description, store: Store, retry_failed: bool) -> Iterator[tuple[Config, str, str]]:
    """Yields (configuration, key, status) of every run; a status other than done and failed is left to do."""
    states, code = store.states(), code_version(description.kind)
    for config in description:
        key = config.key(code)
        status = states[key].status if key in states else "new"
        yield config, key, "again" if status == "failed" and retry_failed else status


class _Coordinator:
    def __init__(self, store: Store, runner: Runner, code: str, progress: StudyProgress, watcher: Watcher):
        self.store, self.runner, self.code, self.progress, self.watcher = store, runner, code, progress, watcher
        self.tasks: dict[str, Task] = {}
        self.losses: dict[str, int] = {}

    def run_all(self, todo: list[Task]) -> None:
        waiting = deque(todo)
        while waiting or self.progress.running:
            while waiting and len(self.progress.running) < self.runner.slots:
                task = waiting.popleft()
                self.store.begin(task.key, task.config, self.code)
                self.progress.running[task.key] = (task.config, None)
                self.tasks[task.key] = task
                self.runner.submit(task)
            self.watcher.changed(self.progress)
            for event in self.runner.events(timeout=0.5):
                waiting.extend(self._handle(event))
        self.watcher.changed(self.progress)

    def _handle(self, event: Event) -> Iterator[Task]:
        """Records an event; yields the runs that have to be done again."""
        config = self.tasks[event.key].config
        if isinstance(event, RunProgress):
            self.progress.running[event.key] = (config, event)
            self.watcher.progressed(self.progress, config, event)
            return
        del self.progress.running[event.key]
        if isinstance(event, Finished):
            self.store.finish(event.key, event.outcome, event.worker)
            discard(self.store.work, event.key)
            self.progress.done += 1
            self._ended(config, event.outcome.records[-1])
        elif isinstance(event, Failed):
            self._fail(config, event.key, event.error, event.worker)
        elif isinstance(event, DiskFull):
            self.store.put_back(event.key)
            raise HardwireError(f"{event.error}; make room and start the study again: it continues where it stopped")
        else:
            yield from self._lose(config, event)

    def _fail(self, config: Config, key: str, error: str, worker: str | None = None) -> None:
        self.store.fail(key, error, worker)
        self.progress.failed += 1
        self._ended(config, error)

    def _lose(self, config: Config, event: WorkerLost) -> Iterator[Task]:
        self.losses[event.key] = self.losses.get(event.key, 0) + 1
        if self.losses[event.key] >= ATTEMPTS:
            self._fail(config, event.key, f"lost its worker {ATTEMPTS} times, the last time: {event.reason}")
            return
        self.store.put_back(event.key, event.reason)
        self.progress.retried += 1
        yield self.tasks[event.key]

    def _ended(self, config: Config, result: Evaluation | str) -> None:
        self.progress.work_done += self.progress.weight(config)
        self.progress.work_left -= self.progress.weight(config)
        self.watcher.ended(self.progress, config, result)
