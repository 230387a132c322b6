"""Whole numbers that stand for real ones: value = offset + scale * q, with a scale and an offset for each column.

A bit is true for q where it is true for offset + scale * q; a real value becomes the nearest q. A value close to a
threshold may change its side on the way, so `fit` looks for scales and offsets with which none that can occur does, the
finest first, and says which column has none. Surprising: values past the outermost thresholds may be cut off at the end
of the type's range, since their bits are decided there.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardwire.bits.units import RANGES
from hardwire.errors import HardwireError

Reals = npt.NDArray[np.float64]
Wholes = npt.NDArray[np.int64]
TRIES = 4096  # numbers of steps from the lowest threshold to the highest, from the finest on


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """kind: int8, int16, int32 or bytes; scale, offset: float64 [columns], or one number for all."""

    kind: str
    scale: Reals
    offset: Reals

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64).reshape(-1))
        if not (np.isfinite(self.scale).all() and np.isfinite(self.offset).all() and (self.scale > 0).all()):
            raise HardwireError("scales and offsets are finite numbers, and scales are above 0")

    def quantize(self, values: npt.ArrayLike) -> Wholes:
        """Real values [..., columns] as the nearest q, halves downwards, cut off at the ends; NaN is the lowest."""
        low, high = RANGES[self.kind]
        with np.errstate(over="ignore", invalid="ignore"):
            nearest = np.ceil((np.asarray(values, np.float64) - self.offset) / self.scale - 0.5)
        return np.where(np.isnan(nearest), low, np.clip(nearest, low, high)).astype(np.int64)

    def keys(self, thresholds: Reals) -> Wholes:
        """[columns, levels]: a bit is true where q is more than this, from always (one below the range) to never."""
        low, high = RANGES[self.kind]
        with np.errstate(over="ignore"):
            places = np.floor((thresholds - self.offset[:, None]) / self.scale[:, None])
        return np.clip(places, low - 1, high).astype(np.int64)


def fit(kind: str, thresholds: Reals, below: Reals, above: Reals, natural: float | None) -> FixedPoint:
    """All [columns, levels]: thresholds; below, above: the greatest value up to each and the least over it that can
    occur, infinite where there is none. natural: a scale to be tried first, with an offset of 0; alone for bytes."""
    columns = zip(thresholds, below, above, strict=True)
    found = [_column(kind, number, *column, natural) for number, column in enumerate(columns)]
    scale, offset = np.array(found).T
    return FixedPoint(kind, scale, offset)


def _column(
    kind: str, number: int, thresholds: Reals, below: Reals, above: Reals, natural: float | None
) -> tuple[float, float]:
    tries = [] if natural is None else [(natural, 0.0)]
    if kind != "bytes":
        tries += _affine(kind, thresholds, above)
    for scale, offset in tries:
        wrong = _changed(FixedPoint(kind, np.array(scale), np.array(offset)), thresholds, below, above)
        if not wrong.any():
            return scale, offset
    worst = int(np.argmax(wrong))
    raise HardwireError(
        f"column {number}: {kind} cannot hold the threshold {thresholds[worst]:.9g} between the values "
        f"{below[worst]:.9g} and {above[worst]:.9g}; use a wider type or floats"
        + (", or give the values that will occur (values=)" if kind != "bytes" else "")
    )


def _changed(point: FixedPoint, thresholds: Reals, below: Reals, above: Reals) -> npt.NDArray[np.bool_]:
    """Which thresholds have a value on the wrong side."""
    keys = point.keys(thresholds[None])[0]
    low = np.isfinite(below) & (point.quantize(below[:, None])[:, 0] > keys)
    high = np.isfinite(above) & (point.quantize(above[:, None])[:, 0] <= keys)
    result: npt.NDArray[np.bool_] = low | high
    return result


def _affine(kind: str, thresholds: Reals, above: Reals) -> list[tuple[float, float]]:
    """Scales and offsets that put the lowest and the highest threshold halfway between two whole numbers, or a little
    below, so that no rounding puts the threshold itself above it."""
    low, high = RANGES[kind]
    first, last = float(thresholds.min()), float(thresholds.max())
    finest = high - low - 1
    counts = range(finest, max(0, finest - TRIES), -1) if first < last else [0]
    tries = []
    for count in counts:
        step = (last - first) / count if count else max(abs(first), 1.0) / high
        below = low + (finest - count) // 2  # the q of the lowest threshold
        margin = min(float((above - thresholds).min()) / 2, step / 4)
        tries.append((step, first + margin - step * (below + 0.5)))
    return tries
