"""Tables, .csv and .parquet: one column is the target, the others become bits at fitted thresholds. Read by pandas.

A target of text, truth values or few whole numbers makes classes; any other is a number to compute. Surprising: the
rows are shuffled, always in the same order, because tables are often sorted; a fifth of them is the test set.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hardwire.bits import Bits, Columns, Encoder
from hardwire.data.dataset import Dataset, NumberSplit, Split
from hardwire.errors import HardwireError, missing_package, unknown_name

LEVELS = 16  # thresholds of each column
TEST = 0.2  # share of the rows
MOST_CLASSES = 100  # more different whole numbers than this are numbers, not classes
ROOM = 0.125  # of the range of a number, beyond each of its ends


def load_table(path: Path, target: str | None = None, levels: int | None = None) -> Dataset:
    """The dataset of a file; target: the column to predict; levels: thresholds of each of the others."""
    frame = read_frame(path)
    if target is None:
        raise HardwireError(
            f"{path} is a table, and needs the column to predict: {path}#COLUMN, or --target COLUMN; its columns are "
            f"{', '.join(map(str, frame.columns))}"
        )
    if target not in frame.columns:
        raise unknown_name(f"column of {path}", target, map(str, frame.columns))
    if len(frame.columns) < 2:
        raise HardwireError(f"{path} has no column beside {target}; there is nothing to predict it from")
    try:
        return _dataset(path, frame.drop(columns=target), frame[target], levels or LEVELS)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def _dataset(path: Path, frame: Any, target: Any, levels: int) -> Dataset:
    values, labels, number = read_target(target)
    columns = Columns.of(frame, target=str(target.name), labels=labels)
    x = finite(columns, frame)
    order = np.random.default_rng(0).permutation(len(x))
    count = max(1, round(len(x) * TEST))
    rows = {"train": order[count:], "test": order[:count]}
    if not len(rows["train"]):
        raise HardwireError("one row is too few to train on and to test with")
    encoder = Encoder.fit(x[rows["train"]], levels)
    kind = Split if number is None else NumberSplit
    splits = {name: kind(_bits(encoder, x[part]), torch.from_numpy(values[part])) for name, part in rows.items()}
    return Dataset(
        name=path.stem,
        train=splits["train"],
        test=splits["test"],
        classes=1 if labels is None else len(labels),
        encoder=encoder,
        columns=columns,
        number=number,
        read_raw=lambda split: x[rows[split]],
    )


def _bits(encoder: Encoder, x: npt.NDArray[Any]) -> Bits:
    return Bits.from_numpy(encoder.encode(x), encoder.features)


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


def read_target(column: Any) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None, tuple[float, float] | None]:
    """(values, labels, number): class numbers int64 and what they stand for, or float64 and their range."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise HardwireError(
            f"the target {column.name} is missing in {len(missing):,} rows, the first is row {missing[0] + 1}; "
            "leave those rows out"
        )
    different = sorted(set(column.tolist()), key=lambda value: (type(value).__name__, value))
    if len(different) < 2:
        raise HardwireError(f"the target {column.name} is always {different[0]!r}; there is nothing to learn")
    if is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype):
        values = column.to_numpy(np.float64)
        if not np.isfinite(values).all():
            raise HardwireError(f"the target {column.name} is infinite in places; leave those rows out")
        if len(different) > MOST_CLASSES or (values != np.floor(values)).any():
            room = ROOM * (values.max() - values.min())
            return values, None, (float(values.min() - room), float(values.max() + room))
    if len({type(value) for value in different}) > 1:
        kinds = sorted({type(value).__name__ for value in different})
        raise HardwireError(f"the target {column.name} mixes {', '.join(kinds)}; make all of it numbers, or all text")
    if len(different) > len(column) / 2 and len(different) > MOST_CLASSES:
        raise HardwireError(
            f"the target {column.name} has {len(different):,} different labels in {len(column):,} rows, too few of "
            "each to learn; is it the right column?"
        )
    place = {label: number for number, label in enumerate(different)}
    return np.array([place[label] for label in column.tolist()], np.int64), tuple(different), None


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
