"""What the raw values and the answers of a model are called: column names, the texts behind codes, labels.

It travels with the encoder, so that a model can read a table by name and answer in the table's own words. A column of
text becomes numbers: the place of each text among all of them in order. Surprising: pandas is needed only where a
DataFrame is given; a circuit that has such names runs without it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardwire.errors import HardwireError

MOST_TEXTS = 255  # different ones in a column; beyond, it is a name or a number and not a kind


@dataclass(frozen=True)
class Columns:
    """names: of the raw values in order; texts: of a column of text, all that occur in it, sorted; target: the name of
    what is predicted; labels: of the classes in order."""

    names: tuple[str, ...]
    texts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    target: str | None = None
    labels: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, frame: Any, **about: Any) -> "Columns":
        """Those of a DataFrame."""
        texts = {name: _texts(name, frame[name]) for name in frame.columns if _is_text(name, frame[name])}
        return cls(tuple(map(str, frame.columns)), texts, **about)

    def coded(self, frame: Any) -> Any:
        """A DataFrame with numbers in the place of texts; a text that was not there is an error."""
        frame = frame.copy(deep=False)
        for name, known in self.texts.items():
            if name in frame.columns:
                frame[name] = _codes(name, frame[name], known)
        return frame

    def numbers(self, frame: Any) -> np.ndarray:
        """The raw values [rows, names] of a DataFrame that has these columns, in any order, and perhaps others."""
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
        try:
            said = json.loads(text)
            texts = {name: tuple(known) for name, known in said["texts"].items()}
            labels = None if said["labels"] is None else tuple(said["labels"])
            return cls(tuple(said["names"]), texts, said["target"], labels)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise HardwireError(f"its names of columns are damaged ({error!r})") from None


def _is_text(name: Any, column: Any) -> bool:
    """Whether a column is to be coded; what is neither text nor a number is an error."""
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
    found = sorted({type(value).__name__ for value in column.dropna()})
    raise HardwireError(f"column {name!r} mixes {_listed(found)}; make all of it numbers, or all of it text")


def _texts(name: Any, column: Any) -> tuple[Any, ...]:
    different = sorted(set(column.dropna().tolist()))
    if len(different) > MOST_TEXTS:
        raise HardwireError(
            f"column {name!r} has {len(different):,} different texts, more than {MOST_TEXTS}; leave it out, or make "
            "a few kinds of them first"
        )
    return tuple(different)


def _codes(name: str, column: Any, known: tuple[Any, ...]) -> np.ndarray:
    """The place of each value among those known; NaN where it is missing."""
    place = {text: float(number) for number, text in enumerate(known)}
    missing = column.isna().tolist()
    values = column.tolist()
    for value, absent in zip(values, missing, strict=True):
        if not absent and value not in place:
            raise HardwireError(f"column {name!r} holds {value!r}, which was not there in training: {_listed(known)}")
    return np.array([np.nan if absent else place[value] for value, absent in zip(values, missing, strict=True)])


def _first_text(column: Any) -> Any:
    return next(iter(column.dropna()), None)


def _listed(names: Any, most: int = 10) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
