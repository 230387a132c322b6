"""Published results: a folder of studies, each FILE.toml with its finished runs beside it as FILE.sqlite.

Each of these is a small store like any other, and a folder of them opens as one store with all their runs.
Surprising: what is published stays published. A working store, from whatever machine and with whatever part of the
study in it, adds to the folder, so that a study may be done in pieces on different days.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError
from hardwire.files import write_whole
from hardwire.study.description import Description, load
from hardwire.study.integrity import digest, stored_config
from hardwire.study.plan import make_plan
from hardwire.study.store import TABLES, Store, new_tables
from hardwire.study.version import code_version, commit

Rows = dict[str, list[dict[str, Any]]]  # the rows of each table, by the columns of its schema


@dataclass(frozen=True)
class PublishedStudy:
    """A study as it is published.

    Attributes:
        path: Its store.
        done: Finished runs.
        failed: Failed runs.
        total: Runs of the study.
        written: Whether the file changed.
    """

    path: Path
    done: int
    failed: int
    total: int
    written: bool


def publish(store: Store, folder: Path, plan: bool = False) -> list[PublishedStudy]:
    """Writes what a store has of each study in a folder beside the study's description.

    Args:
        store: A working store. If two versions of the code did the same run, the one finished last is published; failed
            runs are published as failed.
        folder: With the TOML files of studies.
        plan: Also plan studies whose store does not say what they were expected to take. This takes a while.

    Returns:
        The studies that have runs.
    """
    source = _rows(store)
    studies = [study for file in _studies(folder) if (study := _publish(source, file, plan)) is not None]
    if not studies:
        names = ", ".join(file.name for file in _studies(folder))
        raise HardwireError(f"{store.path} has no finished run of {names}; `hardwire study run FILE` makes some")
    return studies


def gathered(folder: Path) -> sqlite3.Connection:
    """Returns all that is published in a folder as a database in memory; studies without runs are in it by name."""
    db = new_tables(sqlite3.connect(":memory:", isolation_level=None))
    for file in _studies(folder):
        description, path = load(file), file.with_suffix(".sqlite")
        if path.exists():
            with Store(path) as store:
                _fill(db, _rows(store))
        else:
            _fill(db, {"descriptions": [_described(description, "", "")]})
        _fill(db, {"facts": [_fact(f"file {description.name}", f"{folder.resolve().name}/{file.name}")]})
    return db


def _studies(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.toml"), key=lambda file: file.stem) if folder.is_dir() else []
    if not files:
        raise HardwireError(f"there is no study in {folder}; results are published beside the TOML files of studies")
    return files


def _publish(source: Rows, file: Path, plan: bool) -> PublishedStudy | None:
    description, path = load(file), file.with_suffix(".sqlite")
    before = _read(path)
    runs = list(_chosen(description, [*before["runs"], *source["runs"]]))
    if not runs:
        return None
    keys = {run["key"] for run in runs}
    started = min(run["started"] for run in runs)
    after = {
        "descriptions": [_described(description, runs[-1]["code"], started)],
        "runs": runs,
        "records": _of(keys, before["records"] + source["records"], "iteration"),
        "measurements": _of(keys, before["measurements"] + source["measurements"], "quantity"),
        "facts": _facts(description, runs, source["facts"] + before["facts"], plan),
    }
    if changed := after != before:
        with contextlib.closing(new_tables(sqlite3.connect(":memory:", isolation_level=None))) as db:
            _fill(db, after)
            write_whole(path, db.serialize())
        Store(path).__exit__()  # opening checks every digest, of what is now on the disk
    done = sum(run["status"] == "done" for run in runs)
    return PublishedStudy(path, done, len(runs) - done, len(description), changed)


def _read(path: Path) -> Rows:
    if not path.exists():
        return {name: [] for name in TABLES}
    with Store(path) as store:
        return _rows(store)


def _rows(store: Store) -> Rows:
    tables = {name: store.table(name) for name in TABLES}
    return {name: [dict(zip(columns, row, strict=True)) for row in rows] for name, (columns, rows) in tables.items()}


def _chosen(description: Description, runs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One run per configuration, in the order of the study, without the name of the machine."""
    ended = [run for run in runs if run["status"] in ("done", "failed")]
    best: dict[str, dict[str, Any]] = {}
    for run in sorted(ended, key=lambda run: (run["status"] == "done", run["finished"])):
        best[stored_config(run["kind"], run["config"]).identity] = run | {"worker": None}
    return (best[config.identity] for config in description if config.identity in best)


def _of(keys: set[str], rows: list[dict[str, Any]], order: str) -> list[dict[str, Any]]:
    """The rows of these runs, each once: run by run, and within a run by `order`."""
    own = {(row["run"], row[order]): row for row in rows if row["run"] in keys}
    return [own[place] for place in sorted(own)]


def _facts(
    description: Description, runs: list[dict[str, Any]], rows: list[dict[str, Any]], plan: bool
) -> list[dict[str, Any]]:
    """What is known about this study: facts are named after what they are and of what, such as "pixels mnist".

    Of two values the later row's; of two plans, which are objects, both, since each may be for a part of the runs.
    """
    values = {str(value) for config in description for _, value in config.values}
    about = {*values, *(run["code"] for run in runs), description.name}
    facts: dict[str, Any] = {}
    for name, value in ((row["name"], json.loads(row["value"])) for row in rows):
        if name.partition(" ")[2] in about:
            before = facts.get(name)
            facts[name] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    code = code_version(description.kind)
    if any(run["code"] == code for run in runs) and f"code {code}" not in facts and (checkout := commit()):
        facts[f"code {code}"] = checkout
    if plan and f"plan {description.name}" not in facts:
        facts[f"plan {description.name}"] = make_plan(description).estimates
    return [_fact(name, facts[name]) for name in sorted(facts)]


def _described(description: Description, code: str, added: str) -> dict[str, Any]:
    row = {"text": description.text, "name": description.name, "code": code, "added": added}
    return row | {"digest": digest(*row.values())}


def _fact(name: str, value: object) -> dict[str, Any]:
    row = {"name": name, "value": json.dumps(value)}
    return row | {"digest": digest(*row.values())}


def _fill(db: sqlite3.Connection, tables: Rows) -> None:
    db.execute("BEGIN")
    for name, rows in tables.items():
        for row in rows:
            places = ", ".join(f":{column}" for column in row)
            db.execute(f"INSERT OR IGNORE INTO {name} ({', '.join(row)}) VALUES ({places})", row)
    db.execute("COMMIT")
