"""What the columns of a DataFrame hold, and how texts, dates and truth values become numbers.

A text becomes the number of its level, its code. Surprising: -1 is the code of a text without a level, because it is
below the threshold of every level, so that all bits of the column are 0 in every export.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardwire.errors import HardwireError

MOST_LEVELS = 64  # bits of a column of text, with those of "other" texts and of missing values
MOST_ORDERED = 255  # levels of an ordered Categorical
COVERED = 0.5  # share of the rows that the most frequent texts must cover; else the column holds names, not kinds
NO_CODE = -1  # of a text for which no bit is 1
DAY = np.timedelta64(1, "D")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
_NUMBER_LIKE = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*%?")


@dataclass(frozen=True)
class TextCodes:
    """The codes of a column of text.

    Attributes:
        levels: The texts that have a bit, in the order of their codes 0, 1, ...
        other: The code of every other text; -1 if no bit says so.
        missing: The code of a missing value; -1 if no bit says so.
        ordered: Whether bit k means "at least level k" instead of "exactly level k".
    """

    levels: tuple[Any, ...]
    other: int = NO_CODE
    missing: int = NO_CODE
    ordered: bool = False

    @property
    def count(self) -> int:
        """How many codes have a bit."""
        return len(self.levels) + (self.other >= 0) + (self.missing >= 0)

    def of(self, name: str, column: Any, missing: str, unknown: str) -> np.ndarray:
        """The code of each value, float64.

        missing: NaN stands for missing values if this is "error". unknown: whether a text that is neither level nor
        other is an "error".
        """
        index = {text: float(number) for number, text in enumerate(self.levels)}
        codes = np.full(len(column), np.nan if missing == "error" else float(self.missing))
        for row, (value, absent) in enumerate(zip(column.tolist(), column.isna().tolist(), strict=True)):
            if absent:
                continue
            code = index.get(value)
            if code is None and unknown == "error" and self.other < 0:
                raise HardwireError(
                    f"column {name!r} holds {value!r}, which the training data did not have: {listed(self.levels)}; "
                    'unknown="zero" (--unknown zero) reads it as none of them'
                )
            codes[row] = self.other if code is None else code
        return codes


def text_codes(name: Any, column: Any) -> TextCodes:
    """The codes of a column of text, by how often each text occurs; those of an ordered Categorical in its order."""
    dtype = column.dtype
    if getattr(dtype, "ordered", False):
        if len(dtype.categories) > MOST_ORDERED:
            raise HardwireError(
                f"column {name!r} has {len(dtype.categories):,} ordered levels, more than {MOST_ORDERED}; "
                "make it numbers"
            )
        return TextCodes(tuple(_plain(name, dtype.categories.tolist())), ordered=True)
    counts = Counter(column.dropna().tolist())
    texts = _plain(name, counts)
    absent = bool(column.isna().any())
    room = MOST_LEVELS - absent
    if len(texts) > room:
        room -= 1  # for the other texts
        most = sorted(texts, key=lambda text: (-counts[text], text))[:room]
        covered = sum(counts[text] for text in most) / max(1, counts.total())
        if covered < COVERED:
            raise HardwireError(
                f"column {name!r} has {len(texts):,} different texts, and the {room} most frequent ones cover "
                f"{covered:.0%} of the rows; leave the column out (--drop), or make a few kinds of them first"
            )
        levels = tuple(sorted(most))
        return TextCodes(levels, room, room + 1 if absent else NO_CODE)
    levels = tuple(sorted(texts))
    return TextCodes(levels, NO_CODE, len(levels) if absent else NO_CODE)


def _plain(name: Any, texts: Any) -> list[Any]:
    if wrong := [text for text in texts if not isinstance(text, str | int | float)]:
        raise HardwireError(f"column {name!r} holds {type(wrong[0]).__name__}; make text or numbers of it first")
    return list(texts)


def kind_of_column(name: Any, column: Any) -> str:
    """ "number", "text" or "date"; anything else is an error."""
    from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
        return "number"
    kind = infer_dtype(column, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"):
        return "number"
    if kind in ("string", "categorical"):
        return "date" if kind == "string" and _all_match(_ISO_DATE, column) else "text"
    if kind in ("datetime64", "datetime", "date"):
        return "date"
    if kind.startswith(("time", "period", "interval")):
        raise HardwireError(
            f"column {name!r} holds {kind}, which has no thresholds; make numbers of it first, such as hours, or leave "
            "it out (--drop)"
        )
    kinds = sorted({type(value).__name__ for value in column.dropna()})
    raise HardwireError(f"column {name!r} mixes {listed(kinds)}; make all of it numbers, or all of it text")


def days(name: str, column: Any) -> np.ndarray:
    """Dates as days since 1970-01-01, float64; NaN where one is missing."""
    import pandas

    try:
        stamps = pandas.to_datetime(column, utc=True, format=None if column.dtype.kind == "M" else "ISO8601")
    except (ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0][:100]
        raise HardwireError(f"column {name!r} holds something other than dates like 2024-12-31: {reason}") from None
    values = stamps.dt.tz_localize(None).to_numpy("datetime64[s]")
    result: np.ndarray = np.where(np.isnat(values), np.nan, values.astype(np.float64) / 86_400)
    return result


def looks_like_numbers(column: Any) -> Any:
    """A value of a column of text that looks like numbers, such as 1,518 or 12%; None if they do not."""
    return next(iter(column.dropna()), None) if _all_match(_NUMBER_LIKE, column) else None


def _all_match(pattern: re.Pattern[str], column: Any) -> bool:
    """Whether every value that is there is a text of this form."""
    values = set(column.dropna().tolist())
    return bool(values) and all(isinstance(value, str) and pattern.fullmatch(value) for value in values)


def listed(names: Any, most: int = 10) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
