"""Tables as DataFrames: whole files for training, parts of files for prediction, and DataFrames as numbers.

Files are read by pandas, without torch, and may come from strangers. Surprising: messages count the lines of a .csv and
not its rows, because blank lines, quoted line ends and the header would put an editor on another line.
"""

import csv
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.bits.texts import looks_like_numbers
from hardwire.data.table_options import DEFAULT_OPTIONS, TableOptions
from hardwire.errors import HardwireError, missing_package, shown, unknown_name

MOST_COLUMNS = 20_000
_MOST_HEADER = 1 << 22  # bytes of the first line of a .csv
_FREE_CELLS = 50_000_000  # that a small .parquet may have: repeated values take no space in it
_MOST_CELLS = 1000  # per byte of a larger .parquet
INDEX = ("Unnamed: ", "__index_level_")  # how the columns begin that pandas adds for an index


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever pandas and pyarrow raise on damaged or hostile bytes becomes one line."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise missing_package(error, f"reading {path}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # a row with more cells than there are columns
            yield
    except HardwireError:
        raise
    except ImportError as error:
        raise HardwireError(f"reading {path} needs pyarrow: pip install 'hardwire[tables]' ({error})") from None
    except pandas.errors.ParserWarning:
        raise HardwireError(
            f"cannot read {path} as a table: a row has more cells than the first line has names; if cells hold the "
            'separator inside other quotes than ", name them: --quote'
        ) from None
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise HardwireError(f"cannot read {path} as a table: {reason}") from error


def read_frame(path: Path, options: TableOptions = DEFAULT_OPTIONS) -> Any:
    """Reads a whole file; columns without a name, which are an index, are left out, and those that `options` drop."""
    with reading(path):
        if path.suffix.lower() == ".parquet":
            import pandas

            _check_cells(path)
            frame = pandas.read_parquet(path)
        else:
            frame = read_csv(path, options=options)
        frame = frame[without_index(frame.columns)]
        frame.columns = clean_names(path, frame.columns)
        for name in frame.select_dtypes(["object", "string"]).columns:
            frame[name] = stripped(frame[name])
    for name in options.drop:
        if name not in frame.columns:
            raise unknown_name(f"column of {path}", name, frame.columns)
    frame = frame.drop(columns=list(options.drop))
    if frame.empty:
        raise HardwireError(f"{path} has {len(frame)} rows and {len(frame.columns)} columns; there is nothing to read")
    return frame


def read_csv(
    path: Path, file: BinaryIO | None = None, options: TableOptions = DEFAULT_OPTIONS, **arguments: Any
) -> Any:
    """pandas.read_csv as every reader here calls it; file: the open file, which tells how much has been read."""
    import pandas

    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):  # later versions always read numbers as written
        arguments["float_precision"] = "round_trip"
    separator = separator_of(path, options)
    _check_header(path, separator, options)
    return pandas.read_csv(
        path if file is None else file,
        sep=separator,
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,  # the first column is data, also if rows end with a separator
        compression=None,
        low_memory=False,  # one type per column, not one per block
        **options.for_pandas() | arguments,
    )


def without_index(columns: Any) -> list[Any]:
    """The columns that are not an index written by pandas."""
    return [name for name in columns if not str(name).startswith(INDEX)]


def clean_names(path: Path, columns: Any) -> list[str]:
    """Names of columns as text without blanks around it; two of the same name are an error."""
    names = [str(name).strip() for name in columns]
    if len(names) > MOST_COLUMNS:
        raise HardwireError(f"{path} has {len(names):,} columns; at most {MOST_COLUMNS:,} can be read")
    if len(set(names)) < len(names):
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise HardwireError(f"{path} has two columns named {twice[:80]!r}; rename one of them")
    return names


def stripped(column: Any) -> Any:
    """A column of text without blanks around its values; any other column as it is."""
    return column.str.strip() if all(isinstance(value, str) for value in column.dropna()) else column


def separator_of(path: Path, options: TableOptions = DEFAULT_OPTIONS) -> str:
    """The separator that was asked for, or of the four usual ones the one that occurs most often in the first line."""
    first = _first_line(path)
    separator = options.separator or max(",;\t|", key=first.decode("utf-8-sig").count)
    if first.count(separator.encode()) >= 2 * MOST_COLUMNS:  # before pandas makes a column of each
        raise HardwireError(f"{path} has more than {MOST_COLUMNS:,} columns, the most that can be read")
    return separator


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        first = file.readline(_MOST_HEADER + 1)
    if len(first) > _MOST_HEADER:
        raise HardwireError(f"the first line of {path} is longer than {_MOST_HEADER >> 20} MB; it is not a table")
    return first


def _check_header(path: Path, separator: str, options: TableOptions) -> None:
    """Refuses two columns of one name, which pandas would rename silently."""
    header = next(csv.reader([_first_line(path).decode("utf-8-sig")], delimiter=separator, quotechar=options.quote), [])
    clean_names(path, [name for name in header if name.strip()])


def _check_cells(path: Path) -> None:
    """Refuses a .parquet that declares far more cells than its size makes likely."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        cells, size = file.metadata.num_rows * file.metadata.num_columns, path.stat().st_size
    if cells > max(_FREE_CELLS, _MOST_CELLS * size):
        raise HardwireError(f"{path} declares {cells:,} values in {size:,} bytes, which is too many to be trusted")


def raw_values(columns: Columns, frame: Any, where: "Where") -> npt.NDArray[np.float64]:
    """The raw values of a table as a model with these columns reads them; where: says in which line a row is."""
    x = columns.numbers(frame)
    for name, column in zip(columns.names, x.T, strict=True):
        if len(wrong := np.flatnonzero(np.isinf(column))):
            raise HardwireError(f"column {name!r} is infinite in {where(wrong)}; give a number, or leave it empty")
        if columns.missing == "error" and len(wrong := np.flatnonzero(np.isnan(column))):
            raise HardwireError(
                f"column {name!r} is empty in {where(wrong)}; fill in a value, or read it as no bits at all: "
                'missing="zero" (--missing zero)'
            )
    return x


def warn_of_numbers(columns: Columns, frame: Any, comma: str = "--decimal ,") -> None:
    """Warns of columns of text whose values look like numbers, such as 1,518; comma: how a decimal comma is read."""
    for name in columns.texts:
        if (value := looks_like_numbers(frame[name])) is not None:
            way = comma if "," in value else "write it as numbers"
            warnings.warn(
                f"column {name!r} holds texts that look like numbers, such as {shown(value)}, and is read as kinds; "
                f"if they are numbers: {way}",
                stacklevel=2,
            )


class Where:
    """Says in which lines of a file some rows are; rows of a .parquet are counted from 1."""

    def __init__(self, path: Path, options: TableOptions = DEFAULT_OPTIONS, first: int = 0):
        self.path, self.options, self.first = path, options, first

    def __call__(self, rows: Any) -> str:
        unit, number = "row", int(rows[0]) + self.first + 1
        if self.path.suffix.lower() == ".csv":
            unit, number = "line", self._line(number)
        return f"{unit} {number:,}" if len(rows) == 1 else f"{len(rows):,} rows, the first in {unit} {number:,}"

    def _line(self, row: int) -> int:
        """The line on which a row begins; blank lines are no rows, and a quoted cell may span several lines."""
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            cells = csv.reader(file, delimiter=separator_of(self.path, self.options), quotechar=self.options.quote)
            before, number = 0, -1
            for record in cells:
                number += bool(record)
                if number == row:
                    break
                before = cells.line_num
        return before + 1
