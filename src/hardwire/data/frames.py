"""Tables as DataFrames: whole files for training, parts of files for prediction, and DataFrames as numbers.

Files are read by pandas, without torch, and may come from strangers. Surprising: empty cells are an error and not a
guess; the message says where the first one is.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.errors import HardwireError, missing_package

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
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise HardwireError(f"cannot read {path} as a table: {reason}") from error


def read_frame(path: Path) -> Any:
    """Reads a whole file; columns without a name, which are an index, are left out."""
    with reading(path):
        if path.suffix.lower() == ".parquet":
            import pandas

            _check_cells(path)
            frame = pandas.read_parquet(path)
        else:
            frame = read_csv(path)
        frame = frame[without_index(frame.columns)]
        frame.columns = clean_names(path, frame.columns)
        for name in frame.select_dtypes(["object", "string"]).columns:
            frame[name] = stripped(frame[name])
    if frame.empty:
        raise HardwireError(f"{path} has {len(frame)} rows and {len(frame.columns)} columns; there is nothing to read")
    return frame


def read_csv(path: Path, file: BinaryIO | None = None, **options: Any) -> Any:
    """pandas.read_csv as every reader here calls it; file: the open file, which tells how much has been read."""
    import pandas

    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):  # later versions always read numbers as written
        options["float_precision"] = "round_trip"
    return pandas.read_csv(
        path if file is None else file,
        sep=_separator(path),
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,  # the first column is data, also if rows end with a separator
        compression=None,
        low_memory=False,  # one type per column, not one per block
        **options,
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


def _separator(path: Path) -> str:
    """Of the four usual separators, the one that occurs most often in the first line."""
    with path.open("rb") as file:
        first = file.readline(_MOST_HEADER + 1)
    if len(first) > _MOST_HEADER:
        raise HardwireError(f"the first line of {path} is longer than {_MOST_HEADER >> 20} MB; it is not a table")
    separator = max(",;\t|", key=first.decode("utf-8-sig").count)
    if first.count(separator.encode()) >= 2 * MOST_COLUMNS:  # before pandas makes a column of each
        raise HardwireError(f"{path} has more than {MOST_COLUMNS:,} columns, the most that can be read")
    return separator


def _check_cells(path: Path) -> None:
    """Refuses a .parquet that declares far more cells than its size makes likely."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        cells, size = file.metadata.num_rows * file.metadata.num_columns, path.stat().st_size
    if cells > max(_FREE_CELLS, _MOST_CELLS * size):
        raise HardwireError(f"{path} declares {cells:,} values in {size:,} bytes, which is too many to be trusted")


def finite(columns: Columns, frame: Any, first: int = 0) -> npt.NDArray[np.float64]:
    """The raw values of a table, all of which must be there; first: the number of its first row in the file."""
    x = columns.numbers(frame)
    for name, column in zip(columns.names, x.T, strict=True):
        wrong = np.flatnonzero(~np.isfinite(column))
        if len(wrong):
            kind = "empty" if np.isnan(column[wrong[0]]) else "infinite"
            raise HardwireError(
                f"column {name!r} is {kind} in {_rows(wrong + first)}; fill in a value, or leave out those rows or the "
                "column"
            )
    return x


def _rows(numbers: Sequence[int] | npt.NDArray[Any]) -> str:
    """Row numbers in words, counted from 1."""
    return f"row {numbers[0] + 1}" if len(numbers) == 1 else f"{len(numbers):,} rows, the first is row {numbers[0] + 1}"
