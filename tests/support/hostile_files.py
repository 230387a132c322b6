"""Hostile files for fuzz tests: taken apart, changed in one place and written again, as an attacker would.

Digests, lengths and checksums fit, so what is tested is the reader's judgement of what the file says.
"""

import io
import json
import sqlite3
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from mutations import digits, dump_json, hostile, mutated_value, mutations
from safetensors import safe_open

from hardwire.files import arrays as arrayfile


def array_file_mutations(path: Path, count: int, seed: int = 0) -> Iterator[bytes]:
    """Models, checkpoints and circuits that say something else in one place, with a digest that fits."""
    with safe_open(path, framework="np") as file:
        fields = dict(file.metadata())
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    kind, version = fields.pop("format"), int(fields.pop("version"))
    fields.pop("digest")
    rng, other = np.random.default_rng(seed), path.with_name("mutated")
    for _ in range(count):
        changed, texts = dict(arrays), dict(fields)
        for _ in range(int(rng.integers(1, 3))):
            if rng.random() < 0.4:
                _mutate_array(changed, rng)
            else:
                _mutate_field(texts, rng)
        try:
            with patch("os.fsync"):  # which would take most of the time
                arrayfile.write(other, kind, version, changed, texts)
        except (OverflowError, ValueError):  # more than safetensors can say
            continue
        yield other.read_bytes()


def _mutate_field(fields: dict[str, str], rng: np.random.Generator) -> None:
    name = sorted(fields)[int(rng.integers(len(fields)))]
    action = rng.integers(20)
    if action == 0 and len(fields) > 1:
        del fields[name]
    elif action == 1:
        fields[name] = str(rng.choice(["", "{", "[" * 5000, "9" * 5000, "null", '"\\ud800"', "\x00", "NaN", "[]"]))
    else:
        try:
            fields[name] = dump_json(mutated_value(json.loads(fields[name]), rng))
        except (ValueError, RecursionError):  # changed before, to what is no JSON
            fields[name] = dump_json(hostile(rng)).strip('"')


def _mutate_array(arrays: dict[str, Any], rng: np.random.Generator) -> None:
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    array, action = arrays[name], rng.integers(9)
    if action == 0 and len(arrays) > 1:
        del arrays[name]
    elif action == 1:
        arrays[f"{name}x"] = array
    elif action == 2:
        arrays[name] = array.astype(
            str(rng.choice(["float64", "float32", "float16", "int64", "int32", "uint8", "bool"]))
        )
    elif action == 3:
        arrays[name] = array.reshape(-1)
    elif action == 4:
        arrays[name] = array[None]
    elif action == 5 and array.ndim:
        arrays[name] = np.concatenate([array, array[:1]]) if rng.random() < 0.5 else array[:-1]
    elif action == 6:
        arrays[name] = np.zeros((0, *array.shape[1:]), array.dtype)
    elif array.size:
        changed = array.copy()
        info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        values = [0, 1, -1, np.nan, np.inf, 1e38, -1e38] if info is None else [0, 1, info.min, info.max, info.max // 2]
        with np.errstate(all="ignore"):
            changed.reshape(-1)[int(rng.integers(array.size))] = np.array(rng.choice(values)).astype(array.dtype)
        arrays[name] = changed


def toml_mutations(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """TOML with a hostile value in one place."""
    rng, value = np.random.default_rng(seed), tomllib.loads(content.decode())
    for _ in range(count):
        yield dump_toml(mutated_value(value, rng)).encode("utf-8", "replace")


def dump_toml(value: Any) -> str:
    """TOML of nested dicts and lists: tables inline, which is all that a parser needs."""
    if not isinstance(value, dict):
        return f"value = {_toml_value(value)}"
    return "\n".join(f"{json.dumps(str(name))} = {_toml_value(entry)}" for name, entry in value.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(name))} = {_toml_value(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if value is None:
        return '""'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return digits(value)
    return repr(value) if isinstance(value, float) else json.dumps(str(value))


def npz_mutations(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """An .npz in which one array says something else about itself, with checksums that fit."""
    rng = np.random.default_rng(seed)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(count):
        changed = dict(members)
        name = sorted(changed)[int(rng.integers(len(changed)))]
        action = rng.integers(6)
        if action == 0:
            del changed[name]
        elif action == 1:
            changed[str(rng.choice(["x_validation.npy", "thresholds.npy", "y_validation.npy", "../x.npy"]))] = changed[
                name
            ]
        elif action == 2:
            changed[name] = next(mutations(changed[name], 50, int(rng.integers(2**31))))
        else:
            changed[name] = _with_header(changed[name], rng)
        packed = io.BytesIO()
        with zipfile.ZipFile(
            packed, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED
        ) as archive:
            for member, data in changed.items():
                archive.writestr(member, data)
        yield packed.getvalue()


def _with_header(member: bytes, rng: np.random.Generator) -> bytes:
    """An .npy with another dtype, shape or order in its header."""
    length = int.from_bytes(member[8:10], "little")
    header = eval(member[10 : 10 + length], {})  # a literal that numpy wrote a moment ago
    key = str(rng.choice(["descr", "shape", "shape", "fortran_order"]))
    if key == "descr":
        header[key] = str(
            rng.choice(["<f8", "|u1", "|O", "<U9", "|V8", "<c16", "<M8[s]", "<f2", "|S0", ">i4", "x" * 999])
        )
    elif key == "shape":
        shape = [*header[key], 1]
        shape[int(rng.integers(len(shape)))] = rng.choice([0, 1, -1, 2**31, 2**62, 5, 10**6])
        header[key] = tuple(int(size) for size in shape[: len(shape) - int(rng.integers(0, 2))])
    else:
        header[key] = bool(rng.integers(2))
    text = f"{header}\n".encode()
    return member[:8] + len(text).to_bytes(2, "little") + text + member[10 + length :]


def sqlite_mutations(
    path: Path, count: int, seed: int = 0, seal: Callable[[sqlite3.Connection], None] | None = None
) -> Iterator[bytes]:
    """A store in which one cell, table or view is another; `seal` makes its digests fit again."""
    rng, other = np.random.default_rng(seed), path.with_name("mutated")
    for _ in range(count):
        other.write_bytes(path.read_bytes())
        with sqlite3.connect(other) as database:
            try:
                _mutate_database(database, rng)
                if seal is not None and rng.random() < 0.7:
                    seal(database)
            except (sqlite3.Error, OverflowError, TypeError, ValueError):
                continue
        database.close()
        yield other.read_bytes()


def _mutate_database(database: sqlite3.Connection, rng: np.random.Generator) -> None:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = tables[int(rng.integers(len(tables)))]
    columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
    column, action = columns[int(rng.integers(len(columns)))], rng.integers(12)
    if action == 0:
        database.execute(f'DROP TABLE "{table}"')
    elif action == 1:
        database.execute(f'ALTER TABLE "{table}" RENAME TO other')
        database.execute(f'CREATE VIEW "{table}" AS SELECT * FROM other, other AS again')
    elif action == 2:
        database.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}x"')
    elif action == 3:
        database.execute(f'DELETE FROM "{table}"')
    elif action == 4:
        database.execute(f"PRAGMA user_version = {int(rng.integers(-2, 100))}")
    else:
        rows = [row for (row,) in database.execute(f'SELECT rowid FROM "{table}"')]
        if rows:
            row = rows[int(rng.integers(len(rows)))]
            (value,) = database.execute(f'SELECT "{column}" FROM "{table}" WHERE rowid = ?', (row,)).fetchone()
            database.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (_mutated_cell(value, rng), row))


def _mutated_cell(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, str) and value[:1] in "{[" and rng.random() < 0.8:
        return dump_json(mutated_value(json.loads(value), rng))
    new = hostile(rng)
    return (
        dump_json(new)
        if isinstance(new, list | dict)
        else new
        if not isinstance(new, int) or abs(new) < 2**63
        else float(2**63)
    )
