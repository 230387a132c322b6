"""Files of tables as DataFrames, and DataFrames as numbers; read by pandas, and without torch.

Surprising: empty cells are an error and not a guess; the message says where the first one is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.errors import HardwireError, missing_package


def read_frame(path: Path) -> Any:
    """The DataFrame of a file; columns without a name, as an index is written, are left out."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise missing_package(error, f"reading {path}") from None
    try:
        if path.suffix.lower() == ".parquet":
            frame = pandas.read_parquet(path)
        else:
            frame = pandas.read_csv(path, sep=_separator(path), skipinitialspace=True, encoding="utf-8-sig")
    except ImportError as error:
        raise HardwireError(f"reading {path} needs pyarrow: pip install 'hardwire[tables]' ({error})") from None
    except (OSError, ValueError, UnicodeError) as error:  # pandas' own errors are ValueErrors
        raise HardwireError(f"cannot read {path} as a table: {str(error).strip()}") from None
    frame.columns = [str(name).strip() for name in frame.columns]
    frame = frame[[name for name in frame.columns if not name.startswith("Unnamed: ")]]
    for name in frame.select_dtypes(["object", "string"]).columns:
        frame[name] = frame[name].str.strip() if _all_text(frame[name]) else frame[name]
    if frame.empty:
        raise HardwireError(f"{path} has {len(frame)} rows and {len(frame.columns)} columns; there is nothing to read")
    return frame


def _all_text(column: Any) -> bool:
    return all(isinstance(value, str) for value in column.dropna())


def _separator(path: Path) -> str:
    """Of the usual four, the one that is there most often in the first line."""
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline()
    return max(",;\t|", key=first.count)


def finite(columns: Columns, frame: Any) -> npt.NDArray[np.float64]:
    """The raw values of a table, which must all be there."""
    x = columns.numbers(frame)
    for name, column in zip(columns.names, x.T, strict=True):
        wrong = np.flatnonzero(~np.isfinite(column))
        if len(wrong):
            kind = "empty" if np.isnan(column[wrong[0]]) else "infinite"
            raise HardwireError(
                f"column {name!r} is {kind} in {_rows(wrong)}; fill in a value, or leave out those rows or the column"
            )
    return x


def _rows(places: Sequence[int] | npt.NDArray[Any]) -> str:
    """Rows as one counts them, from 1."""
    return f"row {places[0] + 1}" if len(places) == 1 else f"{len(places):,} rows, the first is row {places[0] + 1}"
