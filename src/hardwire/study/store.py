"""The store: one SQLite file with every run, its whole history and its failures, written in whole transactions.

Only the process that runs a study writes, under a lock; workers hand their results to it. A run is in the store with
all its history or not at all, so nothing has to be repaired after a kill, and it has a digest, so that damage is
noticed when the store is opened. Surprising: runs that have not been done yet have no row; only the
description names them.
"""

import contextlib
import json
import math
import os
import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hardwire.errors import HardwireError
from hardwire.study.checks import shortened
from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.integrity import (
    DamagedContent,
    check_contents,
    check_tables,
    digest,
    stored_config,
    stored_run_digest,
)
from hardwire.study.kinds import Evaluation, Outcome

APPLICATION = 0x68776972  # "hwir": tells our files from other programs' SQLite files
VERSION = 3
CPU = "worker.cpu_seconds"  # the quantity under which it is stored
TABLES = ("descriptions", "runs", "records", "measurements", "facts")


@dataclass(frozen=True)
class RunState:
    """How far a run has come.

    Attributes:
        status: "running", "interrupted", "failed" or "done".
        attempts: How often it was started or continued.
        error: Why it failed.
        seconds: The time it took.
    """

    status: str
    attempts: int
    error: str | None
    seconds: float | None


@dataclass(frozen=True)
class Result:
    """A finished run.

    Attributes:
        key: Its name in the store.
        config: Its configuration.
        code: The version of the code that made it.
        records: Its evaluations, in order.
        measurements: What was measured once, by name.
        seconds: The time it took.
        cpu_seconds: Processor time; None if the run was interrupted.

    Example:
        >>> with hw.study.Store("mine.sqlite") as store:  # doctest: +SKIP
        ...     for result in store.finished():
        ...         print(result.config["method"], result.final["deploy"])
    """

    key: str
    config: Config
    code: str
    records: list[Evaluation]
    measurements: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def final(self) -> Evaluation:
        """The last evaluation."""
        return self.records[-1]


class Store:
    """An open store; use it as a context manager. Opening it checks every digest.

    Args:
        path: A file, or, for reading, a folder of published results, which is then read as one store.
        create: Open it for writing; a file that does not exist is made.

    Raises:
        HardwireError: There is no such file, it is no store, or it is damaged.

    Example:
        >>> with Store("mine.sqlite") as store:
        ...     best = max(store.finished(), key=lambda run: run.final["deploy"])
    """

    def __init__(self, path: str | os.PathLike[str], create: bool = False):
        self.path = Path(path).expanduser()
        self._finished: list[Result] | None = None
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
            try:
                self._open(create)
            except BaseException:
                self._db.close()
                raise

    def _open(self, create: bool) -> None:
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA trusted_schema = OFF")
        if create and self._is_empty():
            self._db.execute("PRAGMA journal_mode = WAL")
            new_tables(self._db)
        else:
            self._check()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    @property
    def work(self) -> Path:
        """The folder beside the store in which unfinished runs keep their checkpoints."""
        return self.path.with_name(f"{self.path.name}.work")

    @property
    def models(self) -> Path:
        """The folder beside the store for trained models, if a study keeps them."""
        return self.path.with_name(f"{self.path.name}.models")

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Locks the store while a study runs; a second study on it is refused."""
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"))
        try:
            with lock.acquire(timeout=0):
                yield
        except Timeout:
            raise HardwireError(
                f"another study is running on {self.path}; wait for it, or use another store (--out)"
            ) from None

    def add_description(self, description: Description, code: str) -> None:
        """Keeps the text of a study. code: the version of the code that runs it."""
        with self._transaction():
            row = (description.text, description.name, code, _now())
            self._db.execute("INSERT OR REPLACE INTO descriptions VALUES (?, ?, ?, ?, ?)", (*row, digest(*row)))

    def descriptions(self) -> list[tuple[str, str]]:
        """Returns (name, TOML text) of every study that was run on this store, the latest last."""
        return self._rows("SELECT name, text FROM descriptions ORDER BY rowid")

    def states(self) -> dict[str, RunState]:
        """Returns the state of every run that was ever started, by key."""
        rows = self._rows("SELECT key, status, attempts, error, seconds FROM runs")
        return {key: RunState(*rest) for key, *rest in rows}

    def mark_interrupted(self) -> None:
        """Marks runs as interrupted that are still marked as running: the process that ran them is gone."""
        for (key,) in self._rows("SELECT key FROM runs WHERE status = 'running'"):
            self._update(key, "status = 'interrupted'")

    def begin(self, key: str, config: Config, code: str) -> None:
        """Records that a run starts, or continues from its checkpoint."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO runs (key, kind, config, code, status, attempts, started, digest) "
                "VALUES (?, ?, ?, ?, 'running', 1, ?, '') "
                "ON CONFLICT (key) DO UPDATE SET status = 'running', attempts = attempts + 1, error = NULL "
                "WHERE status != 'done'",
                (key, config.kind, config.to_json(), code, _now()),
            )
            self._seal(key)

    def put_back(self, key: str, worker: str | None = None) -> None:
        """Records that a run lost its worker; it will be tried again."""
        self._update(key, "status = 'interrupted', worker = ?", worker)

    def fail(self, key: str, error: str, worker: str | None = None) -> None:
        """Records why a run failed."""
        self._update(key, "status = 'failed', error = ?, worker = ?, finished = ?", error, worker, _now())

    def finish(self, key: str, outcome: Outcome, worker: str | None = None) -> None:
        """Writes the whole result of a run in one transaction."""
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
                self._seal(key)

    def add_facts(self, facts: dict[str, object]) -> None:
        """Keeps what holds for many runs, by name."""
        with self._transaction():
            rows = [(name, json.dumps(value)) for name, value in facts.items()]
            self._db.executemany(
                "INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", [(*row, digest(*row)) for row in rows]
            )

    def facts(self) -> dict[str, Any]:
        """Returns what holds for many runs, by name."""
        rows = self._rows("SELECT name, value FROM facts ORDER BY name")
        return {name: json.loads(value) for name, value in rows}

    def failures(self) -> list[tuple[Config, RunState]]:
        """Returns the runs that failed."""
        rows = self._rows("SELECT kind, config, status, attempts, error, seconds FROM runs WHERE status = 'failed'")
        return [(stored_config(kind, values), RunState(*rest)) for kind, values, *rest in rows]

    def finished(self, kind: str | None = None) -> list[Result]:
        """Returns the finished runs.

        Args:
            kind: Only runs of this kind.

        Returns:
            The results. If two versions of the code did the same run, the one that was finished last.
        """
        if self._finished is None:
            self._finished = self._read_finished()
        return [result for result in self._finished if kind in (None, result.config.kind)]

    def _read_finished(self) -> list[Result]:
        rows = self._rows("SELECT key, code, seconds, kind, config FROM runs WHERE status = 'done' ORDER BY finished")
        latest = {stored_config(of, values): (key, code, seconds) for key, code, seconds, of, values in rows}
        keys = {key for key, _, _ in latest.values()}
        histories: dict[str, list[Evaluation]] = {key: [] for key in keys}
        for run, measured in self._rows("SELECT run, measured FROM records ORDER BY run, iteration"):
            if run in keys:
                histories[run].append(json.loads(measured))
        once: dict[str, dict[str, float]] = {key: {} for key in keys}
        for run, quantity, value in self._rows("SELECT run, quantity, value FROM measurements"):
            if run in keys:
                once[run][quantity] = math.nan if value is None else value
        results = [
            Result(key, config, code, histories[key], once[key], seconds, once[key].pop(CPU, None))
            for config, (key, code, seconds) in latest.items()
        ]
        return sorted(results, key=lambda result: (result.config.kind, str(result.config.values)))

    def table(self, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Returns the columns and rows of one of TABLES, as they are."""
        with self._clear_errors():
            cursor = self._db.execute(f"SELECT * FROM {name}")
            return [column[0] for column in cursor.description], cursor.fetchall()

    def _rows(self, query: str) -> list[Any]:
        with self._clear_errors():
            return self._db.execute(query).fetchall()

    def _update(self, key: str, changes: str, *values: object) -> None:
        with self._transaction():
            self._db.execute(f"UPDATE runs SET {changes} WHERE key = ?", (*values, key))
            self._seal(key)

    def _seal(self, key: str) -> None:
        self._db.execute("UPDATE runs SET digest = ? WHERE key = ?", (stored_run_digest(self._db, key), key))

    def _is_empty(self) -> bool:
        return bool(self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,))

    def _check(self) -> None:
        """Raises HardwireError unless the file is a store of this version, and undamaged."""
        (application,), (version,) = (
            self._db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise HardwireError(f"{self.path} is not a store of hardwire studies; it was left as it is")
        if version != VERSION:
            raise HardwireError(
                f"{self.path} is version {version} of the store, and this hardwire reads version {VERSION}; "
                "use the hardwire that made it, or another store"
            )
        with contextlib.closing(new_tables(sqlite3.connect(":memory:", isolation_level=None))) as expected:
            check_tables(self._db, expected)
        (verdict,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise DamagedContent(str(verdict))
        check_contents(self._db)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._finished = None
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
        except (sqlite3.Error, DamagedContent, UnicodeDecodeError) as error:
            reason = shortened(" ".join(str(error).split()), 400)  # SQLite quotes whole statements
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OUTSIDE:
                raise HardwireError(
                    f"cannot use the store {self.path}: {reason}; its content is safe, and the same command continues "
                    "once there is room and permission to write"
                ) from None
            raise HardwireError(
                f"the store {self.path} is damaged ({reason}); it was left as it is: restore it from a copy, or save "
                f"what can be read with `sqlite3 {self.path.name} .recover`"
            ) from None


_OUTSIDE = (  # reasons that lie outside of the file: space, permissions, another process
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)


def worker_name() -> str:
    """Returns host and process, for the worker column."""
    return f"{platform.node()}:{os.getpid()}"


def new_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """Makes the tables of a store in an empty database, and returns it."""
    db.executescript(f"BEGIN IMMEDIATE; {_schema()} COMMIT;")
    return db


def _gathered(folder: Path) -> sqlite3.Connection:
    from hardwire.study.published import gathered

    return gathered(folder)


def _schema() -> str:
    text = resources.files("hardwire.study").joinpath("schema.sql").read_text()
    return f"{text} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
