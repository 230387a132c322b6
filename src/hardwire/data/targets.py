"""The target of a table: text, truth values or few whole numbers are classes, and anything else is a number.

Needs pandas and no torch.
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.bits.texts import looks_like_numbers
from hardwire.data.frames import Where, read_csv, stripped
from hardwire.data.table_options import TableOptions
from hardwire.errors import HardwireError, shown

MOST_CLASSES = 100  # more different whole numbers than this are numbers to predict, not classes
MANY_CLASSES = 50  # more different texts than this are worth a warning
LABELS = (str, int, float, bool)  # what a class may be called: what a model file can hold
MARGIN = 0.125  # of the range of a number, beyond each of its ends
Values: TypeAlias = npt.NDArray[Any]
Range: TypeAlias = tuple[float, float]


def read_target(column: Any, where: Where, least: int = 2) -> tuple[Values, tuple[Any, ...] | None, Range | None]:
    """Reads a target as (values, labels, range): class numbers int64 with their labels, or float64 with their range.

    where: says in which line a row is. least: how many different values there must be.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise HardwireError(f"the target {column.name} is missing in {where(missing)}; leave those rows out")
    different = _different(column)
    if wrong := [value for value in different if not isinstance(value, LABELS)]:
        raise HardwireError(
            f"the target {column.name} holds {type(wrong[0]).__name__}, not numbers or text; choose another column"
        )
    if len(different) < least:
        raise HardwireError(f"the target {column.name} is always {different[0]!r}; there is nothing to learn")
    if is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype):
        values = column.to_numpy(np.float64)
        if not np.isfinite(values).all():
            raise HardwireError(f"the target {column.name} is infinite in some rows; leave those rows out")
        if len(different) > MOST_CLASSES or (values != np.floor(values)).any():
            margin = MARGIN * (values.max() - values.min())
            return values, None, (float(values.min() - margin), float(values.max() + margin))
    if len({type(value) for value in different}) > 1:
        kinds = sorted({type(value).__name__ for value in different})
        raise HardwireError(f"the target {column.name} mixes {', '.join(kinds)}; make all of it numbers, or all text")
    if len(different) > len(column) / 2 and len(different) > MOST_CLASSES:
        raise HardwireError(
            f"the target {column.name} has {len(different):,} different labels in {len(column):,} rows, too few of "
            "each to learn; is it the right column?"
        )
    if isinstance(different[0], str):
        _warn_of_texts(column, different)
    number = {label: number for number, label in enumerate(different)}
    return np.array([number[label] for label in column.tolist()], np.int64), tuple(different), None


def _warn_of_texts(column: Any, different: list[Any]) -> None:
    """Warns of a target of text that is perhaps a number, or has very many classes."""
    if (value := looks_like_numbers(column)) is not None:
        way = "--decimal ," if "," in value else "write it as numbers"
        reason = f"holds texts that look like numbers, such as {shown(value)}; if they are numbers: {way}"
    elif len(different) > MANY_CLASSES:
        reason = f"has {len(different)} different texts, and each becomes a class; is it the right column?"
    else:
        return
    warnings.warn(f"the target {column.name} {reason}", stacklevel=2)


def as_written(
    path: Path, target: str, options: TableOptions, labels: tuple[Any, ...] | None
) -> tuple[Any, ...] | None:
    """The labels as a .csv has them: numbers that are written in another way, such as 01, become texts."""
    if labels is None or path.suffix.lower() != ".csv" or isinstance(labels[0], str | bool):
        return labels
    names = read_csv(path, options=options, nrows=0).columns
    column = next(name for name in names if str(name).strip() == target)
    texts = stripped(read_csv(path, options=options, usecols=[column], dtype=str)[column])
    numbers = [float(text.replace(",", ".") if options.decimal == "," else text) for text in texts.unique()]
    written = dict(zip(numbers, texts.unique(), strict=True))
    if len(written) < len(texts.unique()):
        return labels  # one number in two ways, such as 1 and 1.0
    known = tuple(written[float(label)] for label in labels)
    return labels if all(str(label) == text for label, text in zip(labels, known, strict=True)) else known


def _different(column: Any) -> list[Any]:
    """The distinct values of a target, sorted."""
    try:
        return sorted(set(column.tolist()), key=lambda value: (type(value).__name__, value))
    except TypeError:  # lists, or values without an order
        raise HardwireError(
            f"the target {column.name} holds values that are neither numbers nor text; choose another column"
        ) from None


def labels_of(column: Any, columns: Columns, where: Where) -> Values:
    """The values of a target as a model knows them: class numbers int64, or float64."""
    if columns.labels is not None and isinstance(columns.labels[0], str) and column.dtype.kind in "iuf":
        columns = _by_value(columns)
    values, labels, _ = read_target(column, where, least=1)
    if columns.labels is None:
        if labels is None:
            return values
        try:
            return np.array([float(label) for label in labels])[values]
        except ValueError:
            raise HardwireError(
                f"the target {column.name} holds {labels[0]!r}, but the model predicts a number"
            ) from None
    number = {label: number for number, label in enumerate(columns.labels)}
    for label in labels or ():
        if label not in number:
            raise HardwireError(f"the target {column.name} holds {label!r}, which the model does not know")
    if labels is None:
        raise HardwireError(f"the target {column.name} holds numbers, but the model predicts classes")
    return np.array([number[label] for label in labels], np.int64)[values]


def _by_value(columns: Columns) -> Columns:
    """The labels as numbers, if they are texts of numbers such as 01."""
    try:
        return replace(columns, labels=tuple(float(str(label).replace(",", ".")) for label in columns.labels or ()))
    except ValueError:
        return columns
