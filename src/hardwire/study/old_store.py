"""Stores of version 1 (hardwire 0.1.0), whose tables had the columns of gate networks, rewritten as version 2.

Surprising: JSON is made in Python. SQLite's own functions round floats to 15 digits, and a history must stay the same.
"""

import json
import re
import sqlite3
from typing import Any

_CONFIG = (
    *("dataset", "method", "tau", "depth", "width", "iterations"),
    *("learning_rate", "batch_size", "evaluate_every", "seed"),
)
_SCALARS = (
    *("iteration", "loss", "method", "argmax", "deploy", "selection", "computation", "total"),
    *("tau", "confidence", "seconds"),
)
_LAYERED = ("commitment", "node_actual", "node_bound")
_REST = ("code", "status", "attempts", "error", "worker", "started", "finished", "seconds")


def rewrite_1(db: sqlite3.Connection, schema: str) -> None:
    """Turns the tables of version 1 into those of `schema`, inside the caller's transaction."""
    runs = db.execute(f"SELECT key, {', '.join(_CONFIG + _REST)} FROM runs").fetchall()
    records = _records(db)
    measurements = db.execute("SELECT run, quantity, value FROM measurements").fetchall()
    pixels: dict[str, list[list[float]]] = {}
    for dataset, value, count in db.execute("SELECT dataset, value, count FROM pixels ORDER BY dataset, value"):
        pixels.setdefault(f"pixels {dataset}", []).append([value, count])
    descriptions = db.execute("SELECT text, name, code, added FROM descriptions").fetchall()
    for table in ("pixels", "measurements", "layers", "records", "runs", "descriptions"):
        db.execute(f"DROP TABLE {table}")
    for statement in re.sub(r"--.*", "", schema).split(";"):  # executescript would end the transaction
        db.execute(statement)
    db.executemany("INSERT INTO descriptions VALUES (?, ?, ?, ?)", descriptions)
    for key, *values in runs:
        config = json.dumps(dict(zip(_CONFIG, values, strict=False)))
        db.execute(
            f"INSERT INTO runs VALUES ({', '.join('?' * 11)})", (key, "network", config, *values[len(_CONFIG) :])
        )
    db.executemany("INSERT INTO records VALUES (?, ?, ?)", records)
    db.executemany("INSERT INTO measurements VALUES (?, ?, ?)", measurements)
    db.executemany("INSERT INTO facts VALUES (?, ?)", [(name, json.dumps(value)) for name, value in pixels.items()])


def _records(db: sqlite3.Connection) -> list[tuple[str, int, str]]:
    layers: dict[tuple[str, int], list[list[Any]]] = {}
    query = f"SELECT run, iteration, {', '.join(_LAYERED)}, gate_usage FROM layers ORDER BY run, iteration, layer"
    for run, iteration, *values, usage in db.execute(query):
        layers.setdefault((run, iteration), []).append([*values, json.loads(usage)])
    records = []
    for run, *values in db.execute(f"SELECT run, {', '.join(_SCALARS)} FROM records ORDER BY run, iteration"):
        record = dict(zip(_SCALARS, values, strict=True))
        columns = [list(column) for column in zip(*layers[run, record["iteration"]], strict=True)]
        record |= dict(zip((*_LAYERED, "gate_usage"), columns, strict=True))
        records.append((run, record["iteration"], json.dumps(record)))
    return records
