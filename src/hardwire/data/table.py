"""Tables, .csv and .parquet: one column is the target, the others become bits at fitted thresholds.

A target of text, truth values or few whole numbers makes classes; any other is a number to compute. Surprising: the
rows are shuffled, always in the same order, because tables are often sorted; a fifth of them is the test set.
"""

from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from hardwire.bits import Bits, Columns, Encoder
from hardwire.data.dataset import Dataset, NumberSplit, Split
from hardwire.data.frames import finite, read_frame
from hardwire.errors import HardwireError, unknown_name

LEVELS = 16  # thresholds of each column
TEST = 0.2  # share of the rows
MOST_CLASSES = 100  # more different whole numbers than this are numbers, not classes
ROOM = 0.125  # of the range of a number, beyond each of its ends
Values: TypeAlias = npt.NDArray[Any]
Range: TypeAlias = tuple[float, float]


class Named(Protocol):
    """A network or a circuit that was made of a table."""

    encoder: Encoder | None
    columns: Columns | None


def load_table(
    path: Path, target: str | None = None, levels: int | None = None, like: Named | None = None, whole: bool = False
) -> Dataset:
    """The dataset of a file; target: the column to predict; levels: thresholds of each of the others.

    like: a model whose thresholds, columns and labels are taken instead of new ones. whole: all rows are the test set.
    """
    frame = read_frame(path)
    known = None if like is None else like.columns
    target = target or (known.target if known else None)
    if target is None:
        raise HardwireError(
            f"{path} is a table, and needs the column to predict: {path}#COLUMN, or --target COLUMN; its columns are "
            f"{', '.join(map(str, frame.columns))}"
        )
    if target not in frame.columns:
        raise unknown_name(f"column of {path}", target, map(str, frame.columns))
    if len(frame.columns) < 2:
        raise HardwireError(f"{path} has no column beside {target}; there is nothing to predict it from")
    x, y = frame.drop(columns=target), frame[target]
    try:
        if known is not None and like is not None and like.encoder is not None:
            return _dataset(path, known, finite(known, x), labels_of(y, known), like.encoder, None, whole)
        values, labels, number = read_target(y)
        columns = Columns.of(x, target=target, labels=labels)
        return _dataset(path, columns, finite(columns, x), values, levels or LEVELS, number, whole)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def _dataset(
    path: Path, columns: Columns, x: Values, y: Values, code: Encoder | int, number: Range | None, whole: bool
) -> Dataset:
    """code: the encoder, or how many thresholds to fit."""
    order = np.random.default_rng(0).permutation(len(x))
    count = max(1, round(len(x) * TEST))
    rows = {"train": order[count:], "test": order if whole else order[:count]}
    if not len(rows["train"]):
        raise HardwireError("one row is too few to train on and to test with")
    encoder = code if isinstance(code, Encoder) else Encoder.fit(x[rows["train"]], code)
    kind = Split if columns.labels is not None else NumberSplit
    splits = {name: kind(_bits(encoder, x[part]), torch.from_numpy(y[part])) for name, part in rows.items()}
    return Dataset(
        name=path.stem,
        train=splits["train"],
        test=splits["test"],
        classes=1 if columns.labels is None else len(columns.labels),
        encoder=encoder,
        columns=columns,
        number=number or (None if columns.labels is not None else (float(y.min()), float(y.max()) + 1)),
        read_raw=lambda split: x[rows[split]],
    )


def _bits(encoder: Encoder, x: npt.NDArray[Any]) -> Bits:
    return Bits.from_numpy(encoder.encode(x), encoder.features)


def read_target(column: Any, least: int = 2) -> tuple[Values, tuple[Any, ...] | None, Range | None]:
    """(values, labels, number): class numbers int64 and what they stand for, or float64 and their range.

    least: how many different ones there must be.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise HardwireError(
            f"the target {column.name} is missing in {len(missing):,} rows, the first is row {missing[0] + 1}; "
            "leave those rows out"
        )
    different = sorted(set(column.tolist()), key=lambda value: (type(value).__name__, value))
    if len(different) < least:
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


def labels_of(column: Any, columns: Columns) -> Values:
    """The values of a target as a model knows them: class numbers int64, or float64."""
    values, labels, _ = read_target(column, least=1)
    if columns.labels is None:
        if labels is None:
            return values
        return np.array([float(label) for label in labels])[values]
    place = {label: number for number, label in enumerate(columns.labels)}
    for label in labels or ():
        if label not in place:
            raise HardwireError(f"the target {column.name} holds {label!r}, which the model does not know")
    if labels is None:
        raise HardwireError(f"the target {column.name} holds numbers, but the model tells classes apart")
    return np.array([place[label] for label in labels], np.int64)[values]
