"""What makes a SQLite file a store that may be read: our tables and no others, values of the right types, and digests.

Every run has a digest of all that is known about it, so that a flipped bit is an error that names the run instead of
another number. A digest is no defence against somebody who writes a store on purpose, so types, sizes and nesting are
checked as well. Surprising: views and triggers are refused. A view in place of a table could run for hours.
"""

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from hardwire.study.checks import LONGEST_TEXT, shortened
from hardwire.study.config import Config

RUN_COLUMNS = ("key", "kind", "config", "code", "status", "attempts", "error", "started", "finished", "seconds")
_LONGEST = {"config": 20_000, "error": 1_000_000, "measured": 4_000_000, "fact": 4_000_000, "text": 300_000}
_STATUSES = ("running", "interrupted", "failed", "done")
_MOST_AXES = 200
_DEPTH = 3  # of a measured value: a number for each gate of each layer


class DamagedContent(Exception):
    """A database does not hold what was written into it, or was never one of ours; the store says so to the user."""


def digest(*values: object) -> str:
    """Returns the digest of the columns of a row."""
    return hashlib.blake2b(json.dumps(values, default=repr).encode(), digest_size=16).hexdigest()


def run_digest(
    row: tuple[Any, ...], records: Iterable[tuple[int, str]], measurements: Iterable[tuple[str, float | None]]
) -> str:
    """Returns the digest of a run.

    Args:
        row: Its values in the order of RUN_COLUMNS.
        records: (iteration, measured) of its evaluations, in order.
        measurements: (quantity, value), sorted.
    """
    content = hashlib.blake2b(digest_size=16)
    for part in (row, *(("record", *record) for record in records), *(("value", *value) for value in measurements)):
        content.update(json.dumps(part, default=repr).encode())
        content.update(b"\n")
    return content.hexdigest()


def stored_run_digest(db: sqlite3.Connection, key: str) -> str:
    """Returns the digest that a run should have, from what the database says about it."""
    row = db.execute(f"SELECT {', '.join(RUN_COLUMNS)} FROM runs WHERE key = ?", (key,)).fetchone()
    records = db.execute("SELECT iteration, measured FROM records WHERE run = ? ORDER BY iteration", (key,))
    values = db.execute("SELECT quantity, value FROM measurements WHERE run = ? ORDER BY quantity", (key,))
    return run_digest(row, records, values)


def check_tables(db: sqlite3.Connection, expected: sqlite3.Connection) -> None:
    """Raises DamagedContent if the database has other tables than the expected one, or anything that is no table."""
    ours, theirs = _objects(expected), _objects(db)
    if strange := sorted(f"{kind} {name}" for kind, name in theirs.keys() - ours.keys()):
        raise DamagedContent(f"it holds {shortened(strange[0])}, which no store does")
    for (kind, name), sql in ours.items():
        if theirs.get((kind, name), "") != sql:
            raise DamagedContent(f"its {kind} {name} is missing, or not the one that stores have")


def _objects(db: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    rows = db.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(100)
    if any(not isinstance(part, str) for kind, name, _ in rows for part in (kind, name)):
        raise DamagedContent("its list of tables is damaged")
    return {(kind, name): _plain_sql(sql) for kind, name, sql in rows}


def _plain_sql(sql: object) -> str | None:
    """Without comments and layout, which may change between versions."""
    return " ".join(re.sub(r"--.*", "", sql).split()) if isinstance(sql, str) else None


def check_contents(db: sqlite3.Connection) -> None:
    """Raises DamagedContent at the first row that is not as it was written; the message names the run."""
    if db.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise DamagedContent("it has evaluations of a run that is not there")
    for text, name, code, added, own in db.execute("SELECT text, name, code, added, digest FROM descriptions"):
        _expect(_texts(text, longest=_LONGEST["text"]) and _texts(name, code, added), "a description is damaged")
        _expect(digest(text, name, code, added) == own, f"the description of the study {shortened(name)!r} is damaged")
    for name, value, own in db.execute("SELECT name, value, digest FROM facts"):
        _expect(_texts(name) and _texts(value, longest=_LONGEST["fact"]), "a fact is damaged")
        _expect(digest(name, value) == own, f"the fact {shortened(name)!r} is damaged")
        parse_json(value, f"the fact {shortened(name)!r}")
    _check_runs(db)


def _check_runs(db: sqlite3.Connection) -> None:
    records = _by_run(db.execute("SELECT run, iteration, measured FROM records ORDER BY run, iteration"))
    values = _by_run(db.execute("SELECT run, quantity, value FROM measurements ORDER BY run, quantity"))
    next_records, next_values = next(records, None), next(values, None)
    for *row, own in db.execute(f"SELECT {', '.join(RUN_COLUMNS)}, digest FROM runs ORDER BY key"):
        key, run_name = row[0], _run_name(row)
        _expect(_is_run(row), f"the run {run_name} is damaged")
        mine: list[Any] = []
        others: list[Any] = []
        if next_records is not None and next_records[0] == key:
            mine, next_records = next_records[1], next(records, None)
        if next_values is not None and next_values[0] == key:
            others, next_values = next_values[1], next(values, None)
        _expect(all(map(_is_measurement, others)), f"a measurement of the run {run_name} is damaged")
        _check_json(row, mine, run_name)
        _expect(row[4] != "done" or bool(mine), f"the run {run_name} is done, and its evaluations are missing")
        _expect(run_digest(tuple(row), mine, others) == own, f"the run {run_name} does not fit its digest")


def _check_json(row: list[Any], records: list[tuple[Any, ...]], run_name: str) -> None:
    try:
        stored_config(row[1], row[2])
        for iteration, measured in records:
            _expect(
                isinstance(iteration, int) and _texts(measured, longest=_LONGEST["measured"]), "an evaluation is none"
            )
            stored_record(iteration, measured)
    except DamagedContent as error:
        raise DamagedContent(f"the run {run_name}: {error}") from None


def _by_run(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, list[tuple[Any, ...]]]]:
    return ((run, [row[1:] for row in group]) for run, group in groupby(rows, key=itemgetter(0)))


def _run_name(row: list[Any]) -> str:
    """The key of a run, and its configuration where it can be read."""
    key = shortened(str(row[0]))
    try:
        from hardwire.study.kinds import label

        return f"{key} ({shortened(label(stored_config(row[1], row[2])), 200)})"
    except (DamagedContent, TypeError, ValueError):
        return key


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise DamagedContent(message)


def _texts(*values: object, longest: int = LONGEST_TEXT) -> bool:
    return all(isinstance(value, str) and len(value) <= longest for value in values)


def _is_run(row: list[Any]) -> bool:
    key, kind, config, code, status, attempts, error, started, finished, seconds = row
    return (
        _texts(key, kind, code)
        and _texts(config, longest=_LONGEST["config"])
        and status in _STATUSES
        and isinstance(attempts, int)
        and (error is None or _texts(error, longest=_LONGEST["error"]))
        and all(value is None or _texts(value) for value in (started, finished))
        and (seconds is None or (isinstance(seconds, float) and math.isfinite(seconds)))
        and (status != "done" or (_texts(started, finished) and seconds is not None))
    )


def _is_measurement(row: tuple[Any, ...]) -> bool:
    quantity, value = row
    return _texts(quantity) and (value is None or isinstance(value, float))


def stored_config(kind: str, text: str) -> Config:
    """Returns the configuration of a run from its JSON, a flat object of plain values."""
    values = parse_json(text, "a configuration")
    if not isinstance(values, dict) or len(values) > _MOST_AXES:
        raise DamagedContent(f"a configuration is not an object of at most {_MOST_AXES} values")
    for axis, value in values.items():
        if not _texts(axis) or isinstance(value, bool) or not isinstance(value, str | int | float | None):
            raise DamagedContent(f"the configuration says {shortened(repr(value))} for {shortened(axis)!r}")
        if isinstance(value, str) and (len(value) > LONGEST_TEXT or not value.isprintable()):
            raise DamagedContent(f"the configuration has an unprintable {shortened(axis)!r}")
        if isinstance(value, float) and not math.isfinite(value):
            raise DamagedContent(f"the configuration says {value} for {shortened(axis)!r}")
    return Config.of(kind, values)


def stored_record(iteration: int, text: str) -> dict[str, Any]:
    """Returns an evaluation from its JSON: an object of numbers, names, and lists of numbers up to two deep."""
    measured = parse_json(text, "an evaluation")
    if not isinstance(measured, dict) or measured.get("iteration") != iteration:
        raise DamagedContent(f"the evaluation at iteration {iteration} is not one")
    for name, value in measured.items():
        if not name.isidentifier() or name == "self" or not _is_measured(value, _DEPTH):
            raise DamagedContent(f"an evaluation says {shortened(repr(value))} for {shortened(name)!r}")
    return measured


def _is_measured(value: object, depth: int) -> bool:
    if isinstance(value, list):
        return depth > 1 and all(_is_measured(part, depth - 1) for part in value)
    return isinstance(value, int | float | None) or (depth == _DEPTH and _texts(value))


def parse_json(text: str, what: str) -> Any:
    """Returns the value of a JSON text; whatever is wrong with it is one DamagedContent."""
    try:
        return json.loads(text)
    except RecursionError:
        raise DamagedContent(f"{what} is nested too deeply") from None
    except (TypeError, ValueError) as error:  # not JSON, or a number of thousands of digits
        raise DamagedContent(f"{what} is not JSON: {shortened(str(error))}") from None
