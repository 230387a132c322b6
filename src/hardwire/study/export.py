"""A store's tables as files for other tools: CSV always, Parquet if pyarrow is installed.

Surprising: JSON objects in the store become a column for each of their names, since a spreadsheet cannot read JSON.
Only lists, such as a value for each layer, stay JSON.
"""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole
from hardwire.study.store import TABLES, Store

_SPREAD = {"runs": "config", "records": "measured"}  # table -> its column of JSON objects


def export_tables(store: Store, folder: Path, form: str = "csv") -> list[Path]:
    """Writes every table of a store as a file.

    Args:
        store: An open store.
        folder: Where to write; it is made if it does not exist.
        form: "csv" or "parquet".

    Returns:
        The paths of the files.
    """
    if form not in _FORMS:
        raise unknown_name("format", form, _FORMS)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in TABLES:
        paths.append(folder / f"{name}.{form}")
        write_whole(paths[-1], _FORMS[form](*_spread(*store.table(name), _SPREAD.get(name))))
    return paths


def _spread(columns: list[str], rows: list[tuple[Any, ...]], name: str | None) -> tuple[list[str], list[list[Any]]]:
    if name is None:
        return columns, [list(row) for row in rows]
    place = columns.index(name)
    objects = [json.loads(row[place]) for row in rows]
    names = [key for key in dict.fromkeys(key for values in objects for key in values) if key not in columns]
    kept = [column for column in columns if column != name]
    flat = []
    for row, spread in zip(rows, objects, strict=True):
        values = [value for value, column in zip(row, columns, strict=True) if column != name]
        flat.append(values + [_plain(spread.get(key)) for key in names])
    return kept + names, flat


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def csv_bytes(columns: list[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def parquet_bytes(columns: list[str], rows: list[list[Any]]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise HardwireError("Parquet needs pyarrow: pip install 'hardwire[parquet]', or use --format csv") from None
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    table = pyarrow.table({name: pyarrow.array(column) for name, column in zip(columns, values, strict=True)})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


_FORMS = {"csv": csv_bytes, "parquet": parquet_bytes}
