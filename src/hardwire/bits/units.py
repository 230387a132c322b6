"""The units of raw values, so that an array in other units than the encoder's is converted or refused, never misread.

The usual mistake is to give images in the unit interval, pixel / 255, to thresholds in bytes, or the other way round:
every pixel then falls on one side. Surprising: floats are taken for the unit interval where they cannot be bytes, that
is where all lie in [0, 1] and some are not whole numbers. Floats of 0 and 1 alone could be either, and are refused.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.errors import HardwireError, shown, unknown_name

KINDS = ("bits", "bytes", "int8", "int16", "int32", "floats")
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
    if maximum is not None and not (isinstance(maximum, int | float) and 0 < maximum < 3e38):  # as float32
        raise HardwireError(f"maximum {shown(maximum)} is not a finite number above 0; leave it out if there is none")


def kind_of(x: npt.NDArray[Any]) -> str:
    """The kind of values in an array, by its dtype; wide integers by their range."""
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
    """The units of an array for an encoder of this kind; raises if the array holds values that it cannot read.

    Args:
        raw: The raw values.
        kind: The kind of values that the encoder reads.
        maximum: The raw value that is 1 in the unit interval, if there is one.

    Returns:
        (m, d): the thresholds for these values are m / d times those of the encoder.
    """
    if kind == "bits" and not ((raw == 0) | (raw == 1)).all():
        raise HardwireError("this encoder reads only 0 and 1")
    if raw.dtype == np.bool_ and kind != "bits" and maximum != 1:
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
