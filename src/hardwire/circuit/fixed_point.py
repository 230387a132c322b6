"""Fixed point: a whole number q stands for offset + scale * q, with one scale and offset for each column.

A real value is rounded to the nearest q. Rounding can move a value close to a threshold to the other side, so `fit`
looks for a scale and offset, the finest first, with which that happens to no value that can occur, and names the column
if there is none. Surprising: values past the outermost thresholds may be clipped, since clipping does not change their
bits.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardwire.bits.units import RANGES
from hardwire.errors import HardwireError

Reals = npt.NDArray[np.float64]
Wholes = npt.NDArray[np.int64]
TRIES = 4096  # scales to try for a column, from the finest on


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """How real values become whole numbers.

    Args:
        kind: int8, int16, int32 or bytes.
        scale: float64 [columns], or one number for all.
        offset: float64 [columns], or one number for all.
    """

    kind: str
    scale: Reals
    offset: Reals

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float64).reshape(-1))
        if not (np.isfinite(self.scale).all() and np.isfinite(self.offset).all() and (self.scale > 0).all()):
            raise HardwireError("scales and offsets must be finite, and scales above 0")

    def quantize(self, values: npt.ArrayLike) -> Wholes:
        """Rounds real values [..., columns] to the nearest q, halves down, clipped; NaN becomes the lowest q."""
        low, high = RANGES[self.kind]
        with np.errstate(over="ignore", invalid="ignore"):
            nearest = np.ceil((np.asarray(values, np.float64) - self.offset) / self.scale - 0.5)
        return np.where(np.isnan(nearest), low, np.clip(nearest, low, high)).astype(np.int64)

    def keys(self, thresholds: Reals) -> Wholes:
        """Returns [columns, levels]: a bit is true where q is greater; one below the type's range means always."""
        low, high = RANGES[self.kind]
        with np.errstate(over="ignore"):
            places = np.floor((thresholds - self.offset[:, None]) / self.scale[:, None])
        return np.clip(places, low - 1, high).astype(np.int64)


def fit(kind: str, thresholds: Reals, below: Reals, above: Reals, natural: float | None) -> FixedPoint:
    """Finds a fixed point that keeps every possible value on its side of every threshold.

    Args:
        kind: Type of q.
        thresholds: [columns, levels].
        below: [columns, levels], the greatest value up to each threshold that can occur, or infinite.
        above: [columns, levels], the least value above each threshold that can occur, or infinite.
        natural: Scale to try first, with an offset of 0; for bytes the only one tried.

    Raises:
        HardwireError: If a column has no such scale.
    """
    columns = zip(thresholds, below, above, strict=True)
    pairs = [_column(kind, number, *column, natural) for number, column in enumerate(columns)]
    scale, offset = np.array(pairs).T
    return FixedPoint(kind, scale, offset)


def _column(
    kind: str, number: int, thresholds: Reals, below: Reals, above: Reals, natural: float | None
) -> tuple[float, float]:
    if natural is None and (thresholds % 1 == 0.5).all():
        natural = 1.0  # codes of texts stay what they are
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
    """Returns which thresholds have a value on the wrong side."""
    keys = point.keys(thresholds[None])[0]
    low = np.isfinite(below) & (point.quantize(below[:, None])[:, 0] > keys)
    high = np.isfinite(above) & (point.quantize(above[:, None])[:, 0] <= keys)
    result: npt.NDArray[np.bool_] = low | high
    return result


def _affine(kind: str, thresholds: Reals, above: Reals) -> list[tuple[float, float]]:
    """Lists scales and offsets that put the lowest and highest threshold halfway between two whole numbers, or slightly
    below, so that no rounding moves a value equal to the threshold above it."""
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
