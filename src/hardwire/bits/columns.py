"""The names of a model's raw values and answers: column names, the texts behind codes, and labels.

They are saved with the encoder, so that a model reads a table by column names and answers with the table's own labels.
A column of text becomes numbers, the code of each text; a date becomes days since 1970. Surprising: pandas is needed
only for DataFrames; a circuit with such names runs without it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from hardwire.bits.texts import NO_CODE, TextCodes, days, kind_of_column, listed, text_codes
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import parse_json

UNKNOWN = ("zero", "error")  # what a text means that the training rows did not have
MISSING = ("zero", "indicator", "error")  # what a missing value means


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes:
        names: The names of the raw values, in order.
        texts: For each column of text, its levels; the code of a text is its place among them.
        target: The name of the predicted column.
        labels: The labels of the classes, in order.
        other: The code of texts that are no level, by column; only columns that had too many texts.
        absent: The code of a missing value, by column of text; only columns where values were missing in training.
        ordered: The columns of text whose levels are in an order.
        dates: The columns of dates, whose raw values are days since 1970-01-01.
        unknown: What a text means that is neither level nor other: "zero" (no bit is 1) or "error".
        missing: What a missing number means: "zero" (no bit is 1), "indicator" (a bit more says that it is there) or
            "error".
        reading: How the .csv was written: "decimal", "na" and so on, if it was not in the usual way.
    """

    names: tuple[str, ...]
    texts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    target: str | None = None
    labels: tuple[Any, ...] | None = None
    other: Mapping[str, int] = field(default_factory=dict)
    absent: Mapping[str, int] = field(default_factory=dict)
    ordered: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    unknown: str = "zero"
    missing: str = "zero"
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_policies(self.missing, self.unknown)

    @classmethod
    def of(cls, frame: Any, **about: Any) -> "Columns":
        """The columns of a DataFrame."""
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise HardwireError(f"the table has two columns named {str(twice)[:80]!r}; rename one of them")
        kinds = {name: kind_of_column(name, frame[name]) for name in frame.columns}
        codes = {name: text_codes(name, frame[name]) for name, kind in kinds.items() if kind == "text"}
        return cls(
            tuple(map(str, frame.columns)),
            {name: code.levels for name, code in codes.items()},
            other={name: code.other for name, code in codes.items() if code.other != NO_CODE},
            absent={name: code.missing for name, code in codes.items() if code.missing != NO_CODE},
            ordered=tuple(name for name, code in codes.items() if code.ordered),
            dates=tuple(name for name, kind in kinds.items() if kind == "date"),
            **about,
        )

    def codes(self, name: str) -> TextCodes:
        """The codes of a column of text, as every export reads them; -1 stands for "no bit is 1".

        Example:
            >>> from hardwire.bits import Columns
            >>> columns = Columns(("colour",), {"colour": ("blue", "red")}, absent={"colour": 2})
            >>> columns.codes("colour")
            TextCodes(levels=('blue', 'red'), other=-1, missing=2, ordered=False)
        """
        absent = self.absent.get(name, NO_CODE)
        return TextCodes(self.texts[name], self.other.get(name, NO_CODE), absent, name in self.ordered)

    def coded(self, frame: Any) -> Any:
        """A copy of a DataFrame with texts and dates replaced by numbers."""
        frame = frame.copy(deep=False)
        for name in self.texts:
            if name in frame.columns:
                frame[name] = self.codes(name).of(name, frame[name], self.missing, self.unknown)
        for name in self.dates:
            if name in frame.columns:
                frame[name] = days(name, frame[name])
        return frame

    def numbers(self, frame: Any) -> np.ndarray:
        """The raw values [rows, names] of a DataFrame that has these columns, in any order; NaN where one is missing.

        Values of text are codes, of dates days since 1970.
        """
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise HardwireError(
                f"the table lacks {listed(missing)}; it needs {listed(self.names)}, and has {listed(frame.columns)}"
            )
        coded = self.coded(frame[list(self.names)])
        for name in self.names:
            if (kind := kind_of_column(name, coded[name])) != "number":
                first = next(iter(coded[name].dropna()), None)
                raise HardwireError(
                    f"column {name!r} holds {f'the {kind} ' if kind == 'date' else ''}{first!r}, but numbers were "
                    "trained on"
                )
        result: np.ndarray = coded.to_numpy(np.float64, na_value=np.nan)
        return result

    def encoding(self) -> dict[str, Any]:
        """Arguments of `Encoder.fit`: which raw values are codes, and which get a bit that says that they are there."""
        place = {name: number for number, name in enumerate(self.names)}
        texts = [name for name in self.texts if name in place]
        present = [place[name] for name in self.names if name not in self.texts] if self.missing == "indicator" else []
        return {
            "codes": {place[name]: self.codes(name).count for name in texts},
            "categories": [place[name] for name in texts if name not in self.ordered],
            "present": present,
        }

    def with_policies(self, missing: str | None = None, unknown: str | None = None) -> "Columns":
        """The same columns, with another meaning of missing values and unknown texts; None leaves it."""
        return replace(self, missing=missing or self.missing, unknown=unknown or self.unknown)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Columns":
        """The columns of a file that `to_json` was written to; those of earlier versions had no policies."""
        stated = parse_json(text, "the names of its columns")
        try:
            return cls(**_checked({"missing": "error", "unknown": "error"} | stated))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise HardwireError(f"its names of columns are damaged ({error!s:.100})") from None


def check_policies(missing: str, unknown: str) -> None:
    """Raises if a policy has an unknown name."""
    if missing not in MISSING:
        raise unknown_name("meaning of missing values", missing, MISSING)
    if unknown not in UNKNOWN:
        raise unknown_name("meaning of unknown texts", unknown, UNKNOWN)


def _checked(stated: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a file, each of its type; the file may come from a stranger."""
    labels, target = stated["labels"], stated["target"]
    texts = {name: _values(entries) for name, entries in stated["texts"].items()}
    known = {name: _names(stated.get(name, ())) for name in ("ordered", "dates")}
    codes = {name: _codes(stated.get(name, {}), texts) for name in ("other", "absent")}
    reading = stated.get("reading", {})
    if not isinstance(reading, dict) or not all(isinstance(entry, str) for entry in [*texts, *_flat(reading)]):
        raise TypeError("a name or a way to read is of another type")
    if target is not None and not isinstance(target, str):
        raise TypeError("the target is no name")
    return {
        "names": _names(stated["names"]),
        "texts": texts,
        "target": target,
        "labels": None if labels is None else _values(labels),
        "missing": stated["missing"],
        "unknown": stated["unknown"],
        "reading": reading,
        **known,
        **codes,
    }


def _names(entries: Any) -> tuple[str, ...]:
    if not isinstance(entries, list | tuple) or not all(isinstance(name, str) for name in entries):
        raise TypeError("a name is of another type")
    return tuple(entries)


def _values(entries: Any) -> tuple[Any, ...]:
    if not isinstance(entries, list) or not all(isinstance(value, str | int | float) for value in entries):
        raise TypeError("a text is of another type")
    return tuple(entries)


def _codes(entries: Any, texts: dict[str, tuple[Any, ...]]) -> dict[str, int]:
    codes = dict(entries)
    for name, code in codes.items():
        if type(code) is not int or not len(texts[name]) <= code <= len(texts[name]) + 1:
            raise TypeError(f"{code!r:.20} is no code")
    return codes


def _flat(reading: dict[str, Any]) -> list[Any]:
    return [*reading, *(item for value in reading.values() for item in (value if isinstance(value, list) else [value]))]
