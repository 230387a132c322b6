"""What raw values an encoder was made for, so that an array in other units is taken rightly or refused, never misread.

The usual mistake is an image in the unit interval, pixel / 255, given to thresholds in bytes, or the other way round:
every pixel then falls on one side. Surprising: floats are read as a unit interval where they cannot be bytes, that is
where all lie in [0, 1] and some are no whole numbers; floats of 0 and 1 alone could be either, and are refused.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.errors import HardwireError, unknown_name

KINDS = ("bits", "bytes", "int8", "int16", "int32", "floats", "unknown")  # unknown: from files that did not say
RANGES = {  # the values of the kinds that are whole numbers
    "bits": (0, 1),
    "bytes": (0, 255),
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
}


def check_kind(kind: str, maximum: float | None) -> None:
    if kind not in KINDS:
        raise unknown_name("kind of raw values", kind, KINDS)
    if maximum is not None and not (isinstance(maximum, int | float) and math.isfinite(maximum) and maximum > 0):
        raise HardwireError(f"maximum {maximum!r} is no finite number above 0; leave it out where there is none")


def kind_of(x: npt.NDArray[Any]) -> str:
    """The kind of values that an array holds, by its type; wide integers count by their range."""
    if x.dtype == np.bool_:
        return "bits"
    if x.dtype == np.uint8:
        return "bytes"
    if x.dtype.kind not in "ui":
        return "floats"
    if x.dtype.name in RANGES:
        return x.dtype.name
    low, high = RANGES["int32"]
    return "int32" if x.size and low <= x.min() and x.max() <= high else "floats"


def matched(
    raw: npt.NDArray[Any], thresholds: npt.NDArray[np.float32], kind: str, maximum: float | None
) -> npt.NDArray[np.float32]:
    """The thresholds in the units of `raw`, where it holds what an encoder of this kind reads; maximum: the raw value
    that stands for 1 in the unit interval, or None where there is no such value."""
    if kind == "bits" and not ((raw == 0) | (raw == 1)).all():
        raise HardwireError("this encoder reads 0 and 1 and nothing else")
    if maximum is None or (raw.dtype == np.uint8 and maximum == 255):
        return thresholds
    if maximum == 1:
        if raw.dtype == np.uint8 and (raw > 1).any():
            return thresholds * np.float32(255)  # an image in bytes
        _check_range(raw, 1, "divide bytes by 255, or give them as uint8")
        return thresholds
    _check_range(raw, maximum, "bring them to these units first")
    if raw.dtype.kind == "f" and not (raw > 1).any():
        if (raw != np.floor(raw)).any(where=~np.isnan(raw)):
            return thresholds / np.float32(maximum)
        if (raw == 1).any():
            raise HardwireError(
                f"floats of only 0 and 1 could be black and white or nearly black, as this encoder reads 0 to {maximum:g} "
                f"or the unit interval; give whole numbers of 0 to {maximum:g} as integers, or bits without raw=True"
            )
    return thresholds


def _check_range(raw: npt.NDArray[Any], maximum: float, way_out: str) -> None:
    wrong = (raw < 0) | (raw > maximum)  # NaN is below every threshold, and allowed
    if wrong.any():
        raise HardwireError(f"a raw value is {raw[wrong][0]:g}, but this encoder reads 0 to {maximum:g}; {way_out}")
