"""Tables read and written a few thousand rows at a time, so that a file of any length fits in memory.

Each part of a .csv is read twice: as text, to be written again exactly as it was, and as training reads it, so that
both give the same numbers. Surprising: a .csv that will be written as .parquet is read once more beforehand, because a
column of a .parquet has one type, and perhaps only the last row shows that it is not a number.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hardwire.data.frames import clean_names, read_csv, reading, stripped, without_index
from hardwire.data.kinds import TABLES, check_there
from hardwire.data.table_options import DEFAULT_OPTIONS, TableOptions
from hardwire.errors import HardwireError, unknown_name
from hardwire.files.whole import open_whole

ROWS = 50_000  # of a part
CELLS = 1_000_000  # of a part, if a table has many columns
_BUFFER = 1 << 20  # bytes of a .parquet to read ahead
_TYPES = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64", "O": "str"}  # by the letters that numpy gives kinds


@dataclass(frozen=True)
class TablePart:
    """Some rows of a table.

    first: the number of the first row. values: a DataFrame as training reads it. cells: a DataFrame to write again.
    done: the share of the file that has been read.
    """

    first: int
    values: Any
    cells: Any
    done: float


def check_suffix(path: Path) -> str:
    """The suffix of a table in lower case; an error if it is not one that can be read and written."""
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise unknown_name("kind of table", path.suffix, TABLES)
    return suffix


def read_parts(
    path: Path,
    wanted: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    typed: bool = False,
    options: TableOptions = DEFAULT_OPTIONS,
) -> Iterator[TablePart]:
    """Yields a table part by part.

    wanted: the columns that `values` should have if the table has them; None: all. texts: columns of text, even if
    they look like numbers. typed: whether the cells of a .csv get the type of their column instead of text.
    options: how the .csv is written.
    """
    suffix, path = check_suffix(path), check_there(path)
    with reading(path):
        parts = (
            _parquet_parts(path, wanted) if suffix == ".parquet" else _csv_parts(path, wanted, texts, typed, options)
        )
        rows = 0
        for part in parts:
            rows += len(part.cells)
            yield part
    if not rows:
        raise HardwireError(f"{path} has no rows; there is nothing to read")


def _csv_parts(
    path: Path, wanted: Sequence[str] | None, texts: Sequence[str], typed: bool, options: TableOptions
) -> Iterator[TablePart]:
    columns = without_index(read_csv(path, options=options, nrows=0).columns)
    names = dict(zip(columns, clean_names(path, columns), strict=True))
    rows = max(1, min(ROWS, CELLS // max(1, len(columns))))
    needed = [column for column, name in names.items() if wanted is None or name in wanted] or columns
    as_text = {column: str for column in needed if names[column] in texts}
    types: dict[str, Any] = (
        {"dtype": _column_types(path, rows, options)} if typed else {"dtype": str, "na_filter": False}
    )
    first, size = 0, path.stat().st_size
    with path.open("rb") as file:
        cells = read_csv(path, options=options, chunksize=rows, usecols=columns, **types)
        values = read_csv(path, file, options, chunksize=rows, usecols=needed, dtype=as_text)
        for part, numbers in zip(cells, values, strict=True):
            yield TablePart(first, _clean(numbers[needed], names), part[columns].rename(columns=names), _at(file, size))
            first += len(part)


def _column_types(path: Path, rows: int, options: TableOptions) -> dict[str, str]:
    """The type of each column of a whole .csv."""
    kinds: dict[str, str] = {}
    for part in read_csv(path, options=options, chunksize=rows):
        for column, dtype in part.dtypes.items():
            kind = dtype.kind if dtype.kind in _TYPES else "O"
            known = kinds.setdefault(column, kind)
            if known != kind:
                kinds[column] = "f" if {known, kind} <= set("iuf") else "O"
    return {column: _TYPES[kind] for column, kind in kinds.items()}


def _parquet_parts(path: Path, wanted: Sequence[str] | None) -> Iterator[TablePart]:
    import pandas
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
        columns = without_index(file.schema_arrow.names)
        names = dict(zip(columns, clean_names(path, columns), strict=True))
        needed = [column for column, name in names.items() if wanted is None or name in wanted] or columns
        first, total = 0, max(1, file.metadata.num_rows)
        for batch in file.iter_batches(max(1, min(ROWS, CELLS // max(1, len(columns))))):
            batch = batch.replace_schema_metadata(None)  # what pandas wrote there may be anything
            # arrow's types keep whole numbers whole if some are missing
            cells = batch.select(columns).to_pandas(types_mapper=pandas.ArrowDtype).rename(columns=names)
            yield TablePart(first, _clean(batch.select(needed).to_pandas(), names), cells, (first + len(cells)) / total)
            first += len(cells)


def _clean(values: Any, names: dict[str, str]) -> Any:
    """Values with the names of columns and the text stripped, as `read_frame` does."""
    values = values.rename(columns=names)
    for name in values.select_dtypes(["object", "string"]).columns:
        values[name] = stripped(values[name])
    return values


def _at(file: BinaryIO, size: int) -> float:
    return 1.0 if file.closed else file.tell() / max(1, size)


@contextmanager
def table_writer(out: Path | None) -> Iterator[Callable[[Any], None]]:
    """A function that appends a DataFrame to a .csv or .parquet, which is written whole or not at all.

    out: None for standard output, as CSV.
    """
    if out is None:
        yield _csv_writer(sys.stdout.buffer)
        sys.stdout.flush()
    elif check_suffix(out) == ".csv":
        with open_whole(out) as file:
            yield _csv_writer(file)
    else:
        with open_whole(out) as file, _parquet_writer(file) as write:
            yield write


def _csv_writer(file: BinaryIO) -> Callable[[Any], None]:
    header = True

    def write(frame: Any) -> None:
        nonlocal header
        file.write(frame.to_csv(index=False, header=header, lineterminator="\n").encode())
        header = False

    return write


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[Callable[[Any], None]]:
    from pyarrow import Table
    from pyarrow.parquet import ParquetWriter

    writer: Any = None

    def write(frame: Any) -> None:
        nonlocal writer
        table = Table.from_pandas(frame, preserve_index=False)
        writer = ParquetWriter(file, table.schema) if writer is None else writer
        writer.write_table(table.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
