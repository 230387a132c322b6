"""The names of a model's raw values and answers: column names, the texts behind codes, and labels.

They are saved with the encoder, so that a model reads a table by column names and answers with the table's own labels.
A column of text becomes numbers, the index of each text in sorted order. Surprising: pandas is needed only for
DataFrames; a circuit with such names runs without it.
"""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardwire.errors import HardwireError
from hardwire.files import parse_json

MOST_TEXTS = 255  # different ones in a column; a column with more is probably a name or a number


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes:
        names: The names of the raw values, in order.
        texts: For each column of text, all texts that occur in it, sorted.
        target: The name of the predicted column.
        labels: The labels of the classes, in order.
    """

    names: tuple[str, ...]
    texts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    target: str | None = None
    labels: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, frame: Any, **about: Any) -> "Columns":
        """The columns of a DataFrame."""
        texts = {name: _texts(name, frame[name]) for name in frame.columns if _is_text(name, frame[name])}
        return cls(tuple(map(str, frame.columns)), texts, **about)

    def coded(self, frame: Any) -> Any:
        """A copy of a DataFrame with texts replaced by their numbers; unknown texts are an error."""
        frame = frame.copy(deep=False)
        for name, known in self.texts.items():
            if name in frame.columns:
                frame[name] = _codes(name, frame[name], known)
        return frame

    def numbers(self, frame: Any) -> np.ndarray:
        """The raw values [rows, names] of a DataFrame that has these columns, in any order."""
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise HardwireError(
                f"the table lacks {_listed(missing)}; it needs {_listed(self.names)}, and has {_listed(frame.columns)}"
            )
        coded = self.coded(frame[list(self.names)])
        for name in self.names:
            if _is_text(name, coded[name]):
                raise HardwireError(f"column {name!r} holds {_first_text(coded[name])!r}, but numbers were trained on")
        result: np.ndarray = coded.to_numpy(np.float64, na_value=np.nan)
        return result

    def to_json(self) -> str:
        return json.dumps({"names": self.names, "texts": self.texts, "target": self.target, "labels": self.labels})

    @classmethod
    def from_json(cls, text: str) -> "Columns":
        """The columns of a file that `to_json` was written to."""
        stated = parse_json(text, "the names of its columns")
        try:
            names, texts, target, labels = (stated[name] for name in ("names", "texts", "target", "labels"))
            right = all(isinstance(name, str) for name in [*names, *texts, "" if target is None else target])
            values = [*itertools.chain(*texts.values()), *([] if labels is None else labels)]
            if not right or not all(isinstance(value, str | int | float) for value in values):
                raise TypeError("a name or a text is of another type")
            known = {name: tuple(entries) for name, entries in texts.items()}
            return cls(tuple(names), known, target, None if labels is None else tuple(labels))
        except (KeyError, TypeError, AttributeError) as error:
            raise HardwireError(f"its names of columns are damaged ({error!s:.100})") from None


def _is_text(name: Any, column: Any) -> bool:
    """Whether a column holds texts; anything that is neither text nor a number is an error."""
    from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
        return False
    kind = infer_dtype(column, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"):
        return False
    if kind in ("string", "categorical"):
        return True
    if kind.startswith(("date", "time", "period", "interval")):
        raise HardwireError(
            f"column {name!r} holds {kind}, which has no thresholds; make numbers of it first, such as the day of the "
            "year, or leave it out"
        )
    kinds = sorted({type(value).__name__ for value in column.dropna()})
    raise HardwireError(f"column {name!r} mixes {_listed(kinds)}; make all of it numbers, or all of it text")


def _texts(name: Any, column: Any) -> tuple[Any, ...]:
    different = sorted(set(column.dropna().tolist()))
    if len(different) > MOST_TEXTS:
        raise HardwireError(
            f"column {name!r} has {len(different):,} different texts, more than {MOST_TEXTS}; leave it out, or make "
            "a few kinds of them first"
        )
    if wrong := [text for text in different if not isinstance(text, str | int | float)]:
        raise HardwireError(f"column {name!r} holds {type(wrong[0]).__name__}; make text or numbers of it first")
    return tuple(different)


def _codes(name: str, column: Any, known: tuple[Any, ...]) -> np.ndarray:
    """The index of each value among the known ones; NaN where it is missing."""
    index = {text: float(number) for number, text in enumerate(known)}
    missing = column.isna().tolist()
    values = column.tolist()
    for value, absent in zip(values, missing, strict=True):
        if not absent and value not in index:
            raise HardwireError(
                f"column {name!r} holds {value!r}, which the training data did not have: {_listed(known)}"
            )
    return np.array([np.nan if absent else index[value] for value, absent in zip(values, missing, strict=True)])


def _first_text(column: Any) -> Any:
    return next(iter(column.dropna()), None)


def _listed(names: Any, most: int = 10) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
