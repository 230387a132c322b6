"""The store: one SQLite file with every run, its whole history and its failures, written in whole transactions.

Only the process that conducts a study writes, under a lock; workers hand their results over. A run is in the store with
all its history or not at all, so nothing has to be repaired after a kill. Surprising: runs that are still to be done
have no row; the plan is the description, minus what is done.
"""

import contextlib
import json
import os
import sqlite3
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

from hardwire.errors import HardwireError
from hardwire.study.description import Description, RunConfig
from hardwire.study.lock import locked
from hardwire.training.history import History, Record

APPLICATION = 0x68776972  # "hwir": tells our files from other programs' SQLite files
VERSION = 1
TABLES = ("descriptions", "runs", "records", "layers", "measurements", "pixels")
_CONFIG = tuple(RunConfig.__dataclass_fields__)
_SCALARS = ("iteration", "loss", "method", "argmax", "deploy", "selection", "computation", "total", "tau")
_SCALARS += ("confidence", "seconds")
_LAYERED = ("commitment", "node_actual", "node_bound")


@dataclass(frozen=True)
class Outcome:
    """What a worker hands over for a run that went through."""

    history: History
    measurements: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class State:
    """How a run stands."""

    status: str
    attempts: int
    error: str | None
    seconds: float | None


@dataclass(frozen=True)
class Run:
    """A finished run, as the analysis reads it."""

    key: str
    config: RunConfig
    code: str
    history: History
    measurements: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0


class Store:
    """An open store. Use it as a context manager."""

    def __init__(self, path, create: bool = False):
        self.path = Path(path).expanduser()
        fresh = not self.path.exists()
        if fresh and not create:
            raise HardwireError(f"there is no store {self.path}; `hardwire study run FILE` makes one")
        if fresh and not self.path.parent.is_dir():
            raise HardwireError(f"there is no folder {self.path.parent} for the store {self.path.name}")
        with self._clear_errors():
            self._db = sqlite3.connect(self.path, isolation_level=None)
            self._db.execute("PRAGMA foreign_keys = ON")
            self._create() if self._is_empty() and create else self._check()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception) -> None:
        self._db.close()

    @property
    def work(self) -> Path:
        """The folder beside the store where runs under way keep their checkpoints."""
        return self.path.with_name(f"{self.path.name}.work")

    def exclusive(self):
        """Held while a study runs: a second one on the same store is refused."""
        busy = f"another study is running on {self.path}; wait for it, or use another store (--store)"
        return locked(self.path.with_name(f"{self.path.name}.lock"), busy)

    def add_description(self, description: Description, code: str) -> None:
        with self._transaction():
            row = (description.text, description.name, code, _now())
            self._db.execute("INSERT OR REPLACE INTO descriptions VALUES (?, ?, ?, ?)", row)

    def descriptions(self) -> list[tuple[str, str]]:
        """(name, TOML text) of every study that was run on this store, the latest last."""
        return self._rows("SELECT name, text FROM descriptions ORDER BY added")

    def states(self) -> dict[str, State]:
        """How every run that was ever started stands, by key."""
        return {
            key: State(*rest) for key, *rest in self._rows("SELECT key, status, attempts, error, seconds FROM runs")
        }

    def interrupt(self) -> None:
        """What is still marked as running was cut off: whoever ran it is gone."""
        with self._transaction():
            self._db.execute("UPDATE runs SET status = 'interrupted' WHERE status = 'running'")

    def begin(self, key: str, config: RunConfig, code: str) -> None:
        """A run starts, or goes on from its checkpoint."""
        row = {**asdict(config), "key": key, "code": code, "now": _now()}
        names = ", ".join(_CONFIG)
        values = ", ".join(f":{name}" for name in _CONFIG)
        with self._transaction():
            self._db.execute(
                f"INSERT INTO runs (key, {names}, code, status, attempts, started) "
                f"VALUES (:key, {values}, :code, 'running', 1, :now) "
                "ON CONFLICT (key) DO UPDATE SET status = 'running', attempts = attempts + 1, error = NULL "
                "WHERE status != 'done'",
                row,
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
        records = outcome.history.records
        with self._transaction():
            changed = self._db.execute(
                "UPDATE runs SET status = 'done', error = NULL, worker = ?, finished = ?, seconds = ? "
                "WHERE key = ? AND status != 'done'",
                (worker, _now(), outcome.seconds, key),
            ).rowcount
            if not changed:
                return  # done already; its history is there
            self._insert("records", [(key, *(getattr(record, name) for name in _SCALARS)) for record in records])
            self._insert("layers", [row for record in records for row in _layer_rows(key, record)])
            self._insert("measurements", [(key, name, value) for name, value in outcome.measurements.items()])

    def add_pixels(self, dataset: str, counts: dict[float, int]) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM pixels WHERE dataset = ?", (dataset,))
            self._insert("pixels", [(dataset, value, count) for value, count in counts.items()])

    def pixels(self) -> dict[str, dict[float, int]]:
        """dataset -> raw value in [0, 1] -> how often it occurs."""
        found: dict[str, dict[float, int]] = {}
        for dataset, value, count in self._rows("SELECT dataset, value, count FROM pixels ORDER BY dataset, value"):
            found.setdefault(dataset, {})[value] = count
        return found

    def failures(self) -> list[tuple[RunConfig, State]]:
        columns = ", ".join(_CONFIG)
        rows = self._rows(f"SELECT {columns}, status, attempts, error, seconds FROM runs WHERE status = 'failed'")
        return [(RunConfig(*row[: len(_CONFIG)]), State(*row[len(_CONFIG) :])) for row in rows]

    def finished(self) -> list[Run]:
        """All finished runs, sorted; of runs that two code versions did, the one that was finished last."""
        columns = ", ".join(_CONFIG)
        rows = self._rows(f"SELECT key, code, seconds, {columns} FROM runs WHERE status = 'done' ORDER BY finished")
        latest = {RunConfig(*config): (key, code, seconds) for key, code, seconds, *config in rows}
        histories, measurements = self._histories(), self._measurements()
        return [
            Run(key, config, code, History(histories[key]), measurements.get(key, {}), seconds)
            for config, (key, code, seconds) in sorted(latest.items())
        ]

    def table(self, name: str) -> tuple[list[str], list[tuple]]:
        """The columns and rows of one of TABLES, as they are."""
        with self._clear_errors():
            cursor = self._db.execute(f"SELECT * FROM {name}")
            return [column[0] for column in cursor.description], cursor.fetchall()

    def _histories(self) -> dict[str, list[Record]]:
        layered: dict[tuple[str, int], list[tuple]] = {}
        for run, iteration, *values in self._rows(
            f"SELECT run, iteration, {', '.join(_LAYERED)}, gate_usage FROM layers ORDER BY run, iteration, layer"
        ):
            layered.setdefault((run, iteration), []).append(values)
        histories: dict[str, list[Record]] = {}
        for run, *values in self._rows(f"SELECT run, {', '.join(_SCALARS)} FROM records ORDER BY run, iteration"):
            scalars = dict(zip(_SCALARS, values, strict=True))
            histories.setdefault(run, []).append(_record(scalars, layered[run, scalars["iteration"]]))
        return histories

    def _measurements(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for run, quantity, value in self._rows("SELECT run, quantity, value FROM measurements"):
            found.setdefault(run, {})[quantity] = value
        return found

    def _insert(self, table: str, rows: list[tuple]) -> None:
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self._db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def _rows(self, query: str) -> list[tuple]:
        with self._clear_errors():
            return self._db.execute(query).fetchall()

    def _is_empty(self) -> bool:
        return self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)

    def _create(self) -> None:
        script = resources.files("hardwire.study").joinpath("schema.sql").read_text()
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(
            f"BEGIN IMMEDIATE; {script} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        )

    def _check(self) -> None:
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

    @contextlib.contextmanager
    def _transaction(self):
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
    def _clear_errors(self):
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


def _layer_rows(key: str, record: Record):
    columns = [getattr(record, name) for name in _LAYERED]
    for layer, (*values, usage) in enumerate(zip(*columns, record.gate_usage, strict=True)):
        yield key, record.iteration, layer, *values, json.dumps(usage)


def _record(scalars: dict, layers: list[tuple]) -> Record:
    commitment, actual, bound, usage = (list(column) for column in zip(*layers, strict=True))
    return Record(
        **scalars,
        commitment=commitment,
        node_actual=actual,
        node_bound=bound,
        gate_usage=[json.loads(shares) for shares in usage],
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
