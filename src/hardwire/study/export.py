"""A store's tables as files for other tools: CSV always, Parquet where pyarrow is installed."""

import csv
import io
from pathlib import Path

from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole
from hardwire.study.store import TABLES, Store


def export_tables(store: Store, folder: Path, form: str = "csv") -> list[Path]:
    """Writes TABLE.csv or TABLE.parquet for every table of the store; gives their paths."""
    if form not in _FORMS:
        raise unknown_name("format", form, _FORMS)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in TABLES:
        paths.append(folder / f"{name}.{form}")
        write_whole(paths[-1], _FORMS[form](*store.table(name)))
    return paths


def csv_bytes(columns: list[str], rows: list) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def parquet_bytes(columns: list[str], rows: list[tuple]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise HardwireError("Parquet needs pyarrow: pip install 'hardwire[parquet]', or use --format csv") from None
    values = zip(*rows, strict=True) if rows else [() for _ in columns]
    table = pyarrow.table({name: pyarrow.array(column) for name, column in zip(columns, values, strict=True)})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


_FORMS = {"csv": csv_bytes, "parquet": parquet_bytes}
