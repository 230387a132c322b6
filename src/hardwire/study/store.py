"""The store: one SQLite file with every run, its whole history and its failures, written in whole transactions.

Only the process that conducts a study writes, under a lock; workers hand their results over. A run is in the store with
all its history or not at all, so nothing has to be repaired after a kill. Surprising: runs that are still to be done
have no row; the plan is the description, minus what is done.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hardwire.errors import HardwireError
from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.kinds import Outcome, Record

APPLICATION = 0x68776972  # "hwir": tells our files from other programs' SQLite files
VERSION = 2
CPU = "worker.cpu_seconds"  # the quantity under which it is stored
TABLES = ("descriptions", "runs", "records", "measurements", "facts")


@dataclass(frozen=True)
class State:
    """How a run stands."""

    status: str
    attempts: int
    error: str | None
    seconds: float | None


@dataclass(frozen=True)
class Result:
    """A finished run. records: its evaluations, in order; measurements: what was measured once.

    cpu_seconds: None where the run was interrupted, or older than this measurement.
    """

    key: str
    config: Config
    code: str
    records: list[Record]
    measurements: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def final(self) -> Record:
        """The last evaluation."""
        return self.records[-1]


class Store:
    """An open store. Use it as a context manager. create: to write; a file that is not there is made.

    path: a file, or to read a folder of published results, which is then one store.
    """

    def __init__(self, path: str | os.PathLike[str], create: bool = False):
        self.path = Path(path).expanduser()
        if self.path.is_dir() and not create:
            self._db = _gathered(self.path)
            return
        fresh = not self.path.exists()
        if fresh and not create:
            raise HardwireError(f"there is no store {self.path}; `hardwire study run FILE` makes one")
        if fresh and not self.path.parent.is_dir():
            raise HardwireError(f"there is no folder {self.path.parent} for the store {self.path.name}")
        with self._clear_errors():
            self._db = sqlite3.connect(self.path, isolation_level=None)
            self._db.execute("PRAGMA foreign_keys = ON")
            if create and self._is_empty():
                self._db.execute("PRAGMA journal_mode = WAL")
                new_tables(self._db)
            elif self._check() < VERSION:
                self._modernise(in_place=create)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    @property
    def work(self) -> Path:
        """The folder beside the store where runs under way keep their checkpoints."""
        return self.path.with_name(f"{self.path.name}.work")

    @property
    def models(self) -> Path:
        """The folder beside the store for the models of runs, where a study keeps them."""
        return self.path.with_name(f"{self.path.name}.models")

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Held while a study runs: a second one on the same store is refused."""
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"))
        try:
            with lock.acquire(timeout=0):
                yield
        except Timeout:
            raise HardwireError(
                f"another study is running on {self.path}; wait for it, or use another store (--out)"
            ) from None

    def add_description(self, description: Description, code: str) -> None:
        with self._transaction():
            row = (description.text, description.name, code, _now())
            self._db.execute("INSERT OR REPLACE INTO descriptions VALUES (?, ?, ?, ?)", row)

    def descriptions(self) -> list[tuple[str, str]]:
        """(name, TOML text) of every study that was run on this store, the latest last."""
        return self._rows("SELECT name, text FROM descriptions ORDER BY rowid")

    def states(self) -> dict[str, State]:
        """How every run that was ever started stands, by key."""
        rows = self._rows("SELECT key, status, attempts, error, seconds FROM runs")
        return {key: State(*rest) for key, *rest in rows}

    def interrupt(self) -> None:
        """What is still marked as running was cut off: whoever ran it is gone."""
        with self._transaction():
            self._db.execute("UPDATE runs SET status = 'interrupted' WHERE status = 'running'")

    def begin(self, key: str, config: Config, code: str) -> None:
        """A run starts, or goes on from its checkpoint."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO runs (key, kind, config, code, status, attempts, started) "
                "VALUES (?, ?, ?, ?, 'running', 1, ?) "
                "ON CONFLICT (key) DO UPDATE SET status = 'running', attempts = attempts + 1, error = NULL "
                "WHERE status != 'done'",
                (key, config.kind, config.to_json(), code, _now()),
            )

    def put_back(self, key: str, worker: str | None = None) -> None:
        """A run lost its worker; it will be tried again."""
        with self._transaction():
            self._db.execute("UPDATE runs SET status = 'interrupted', worker = ? WHERE key = ?", (worker, key))

    def fail(self, key: str, error: str, worker: str | None = None) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET status = 'failed', error = ?, worker = ?, finished = ? WHERE key = ?",
                (error, worker, _now(), key),
            )

    def finish(self, key: str, outcome: Outcome, worker: str | None = None) -> None:
        """The whole result in one transaction."""
        with self._transaction():
            changed = self._db.execute(
                "UPDATE runs SET status = 'done', error = NULL, worker = ?, finished = ?, seconds = ? "
                "WHERE key = ? AND status != 'done'",
                (worker, _now(), outcome.seconds, key),
            ).rowcount
            if changed:  # else it was done already, and its history is there
                records = [(key, record["iteration"], json.dumps(record)) for record in outcome.records]
                self._db.executemany("INSERT INTO records VALUES (?, ?, ?)", records)
                spent = {} if outcome.cpu_seconds is None else {CPU: outcome.cpu_seconds}
                measured = [(key, name, value) for name, value in (outcome.measurements | spent).items()]
                self._db.executemany("INSERT INTO measurements VALUES (?, ?, ?)", measured)

    def add_facts(self, facts: dict[str, object]) -> None:
        with self._transaction():
            rows = [(name, json.dumps(value)) for name, value in facts.items()]
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def facts(self) -> dict[str, Any]:
        """What holds for many runs, by name."""
        return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM facts ORDER BY name")}

    def failures(self) -> list[tuple[Config, State]]:
        rows = self._rows("SELECT kind, config, status, attempts, error, seconds FROM runs WHERE status = 'failed'")
        return [(stored_config(kind, values), State(*rest)) for kind, values, *rest in rows]

    def finished(self, kind: str | None = None) -> list[Result]:
        """All finished runs (of one kind); of runs that two code versions did, the one that was finished last."""
        rows = self._rows("SELECT key, code, seconds, kind, config FROM runs WHERE status = 'done' ORDER BY finished")
        latest = {stored_config(of, values): (key, code, seconds) for key, code, seconds, of, values in rows}
        histories: dict[str, list[Record]] = {}
        for run, measured in self._rows("SELECT run, measured FROM records ORDER BY run, iteration"):
            histories.setdefault(run, []).append(json.loads(measured))
        once: dict[str, dict[str, float]] = {}
        for run, quantity, value in self._rows("SELECT run, quantity, value FROM measurements"):
            once.setdefault(run, {})[quantity] = value
        found = [
            Result(key, config, code, histories.get(key, []), measured, seconds, measured.pop(CPU, None))
            for config, (key, code, seconds) in latest.items()
            if kind in (None, config.kind)
            for measured in [once.get(key, {})]
        ]
        return sorted(found, key=lambda result: (result.config.kind, str(result.config.values)))

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows of one of TABLES, as they are."""
        with self._clear_errors():
            cursor = self._db.execute(f"SELECT * FROM {name}")
            return [column[0] for column in cursor.description], cursor.fetchall()

    def _rows(self, query: str) -> list[Any]:
        with self._clear_errors():
            return self._db.execute(query).fetchall()

    def _is_empty(self) -> bool:
        return bool(self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,))

    def _check(self) -> int:
        """The version of the file, which is ours and unharmed."""
        (application,), (version,) = (
            self._db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise HardwireError(f"{self.path} is not a store of hardwire studies; it was left as it is")
        if version > VERSION:
            raise HardwireError(
                f"{self.path} is version {version} of the store and this hardwire reads up to {VERSION}; "
                "upgrade hardwire, or use another store"
            )
        (verdict,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        return int(version)

    def _modernise(self, in_place: bool) -> None:
        """Rewrites an older store; a copy in memory where it is only read, so that reading changes no file."""
        from hardwire.study.old_store import rewrite_1

        if not in_place:
            copy = sqlite3.connect(":memory:", isolation_level=None)
            self._db.backup(copy)
            self._db.close()
            self._db = copy
        with self._transaction():
            rewrite_1(self._db, _schema())

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._clear_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back itself where the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise HardwireError(
                f"cannot use the store {self.path}: {error}; what it holds is safe, and the same command goes on "
                "from there once there is room and permission to write"
            ) from None
        except sqlite3.DatabaseError as error:
            raise HardwireError(
                f"the store {self.path} is damaged ({error}); it was left as it is: restore it from a copy, or save "
                f"what can be read with `sqlite3 {self.path.name} .recover`"
            ) from None


def whoami() -> str:
    """Host and process, for the worker column."""
    return f"{os.uname().nodename}:{os.getpid()}"


def new_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """An empty database with the tables of a store in it."""
    db.executescript(f"BEGIN IMMEDIATE; {_schema()} COMMIT;")
    return db


def _gathered(folder: Path) -> sqlite3.Connection:
    from hardwire.study.published import gathered

    return gathered(folder)


def _schema() -> str:
    text = resources.files("hardwire.study").joinpath("schema.sql").read_text()
    return f"{text} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"


def stored_config(kind: str, values: str) -> Config:
    return Config.of(kind, json.loads(values))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
