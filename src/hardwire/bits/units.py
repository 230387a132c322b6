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
    if not isinstance(kind, str) or kind not in KINDS:
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


def units_of(raw: npt.NDArray[Any], kind: str, maximum: float | None) -> tuple[float, float]:
    """(m, d): a raw value here is m / d of what it is in the units of an encoder of this kind; an error where the array
    holds what such an encoder does not read. maximum: the raw value that is 1 in the unit interval, if there is one."""
    if kind == "bits" and not ((raw == 0) | (raw == 1)).all():
        raise HardwireError("this encoder reads 0 and 1 and nothing else")
    if raw.dtype == np.bool_ and kind not in ("bits", "unknown") and maximum != 1:
        raise HardwireError(f"raw values of type bool are bits, and this encoder reads {kind}; leave raw=True out")
    if maximum is None or (raw.dtype == np.uint8 and maximum == 255):
        return 1, 1
    if maximum == 1 and raw.dtype == np.uint8 and (raw > 1).any():
        return 255, 1  # an image in bytes
    wrong = (raw < 0) | (raw > maximum)  # NaN is allowed: it is below every threshold
    if wrong.any():
        raise HardwireError(
            f"a raw value is {raw[wrong][0]:g}, but this encoder reads 0 to {maximum:g}; bring it to these units first"
        )
    if kind in RANGES and maximum > 1 and raw.dtype.kind == "f" and not (raw > 1).any():
        if (raw != np.floor(raw)).any(where=~np.isnan(raw)):
            return 1, maximum
        if (raw == 1).any():
            raise HardwireError(
                f"floats of 0 and 1 alone are ambiguous: this encoder reads 0 to {maximum:g}, or the unit interval; "
                "give integers in these units, or bits without raw=True"
            )
    return 1, 1
