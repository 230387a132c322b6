"""The target of a table: text, truth values or few whole numbers are classes, and anything else is a number.

Needs pandas and no torch.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.errors import HardwireError

MOST_CLASSES = 100  # more different whole numbers than this are numbers to predict, not classes
LABELS = (str, int, float, bool)  # what a class may be called: what a model file can hold
MARGIN = 0.125  # of the range of a number, beyond each of its ends
Values: TypeAlias = npt.NDArray[Any]
Range: TypeAlias = tuple[float, float]


def read_target(column: Any, least: int = 2) -> tuple[Values, tuple[Any, ...] | None, Range | None]:
    """Reads a target as (values, labels, range): class numbers int64 with their labels, or float64 with their range.

    least: how many different values there must be.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise HardwireError(
            f"the target {column.name} is missing in {len(missing):,} rows, the first is row {missing[0] + 1}; "
            "leave those rows out"
        )
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
    number = {label: number for number, label in enumerate(different)}
    return np.array([number[label] for label in column.tolist()], np.int64), tuple(different), None


def _different(column: Any) -> list[Any]:
    """The distinct values of a target, sorted."""
    try:
        return sorted(set(column.tolist()), key=lambda value: (type(value).__name__, value))
    except TypeError:  # lists, or values without an order
        raise HardwireError(
            f"the target {column.name} holds values that are neither numbers nor text; choose another column"
        ) from None


def labels_of(column: Any, columns: Columns) -> Values:
    """The values of a target as a model knows them: class numbers int64, or float64."""
    values, labels, _ = read_target(column, least=1)
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
