"""The thermometer code that makes bits from raw values; it travels with a model into every export. Numpy only.

Surprising: fitted thresholds lie halfway between two values that were seen, so that no rounding of a value can move it
across one.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardwire.bits import words as packing
from hardwire.bits.units import check_kind, kind_of, units_of
from hardwire.errors import HardwireError, unknown_name, whole_number


@dataclass(frozen=True, eq=False)
class Encoder:
    """Raw values to bits: bit r * levels + l of a row says raw[r] > thresholds[r, l] (strictly).

    thresholds: float32 [raw_features, levels], in the units of the raw data (0 to 255 for image bytes). kind: of raw
    values: bits, bytes, int8, int16, int32 or floats. maximum: the raw value that is 1 in the unit interval (255 for
    image bytes), or None where there is no such value. NaN is below every threshold.
    """

    thresholds: np.ndarray
    kind: str = "floats"
    maximum: float | None = None

    def __post_init__(self) -> None:
        thresholds = np.ascontiguousarray(self.thresholds, np.float32)
        if thresholds.ndim != 2 or 0 in thresholds.shape:
            raise HardwireError(f"thresholds are [raw_features, levels], not {list(thresholds.shape)}")
        if not np.isfinite(thresholds).all():
            raise HardwireError("thresholds must be finite numbers")
        check_kind(self.kind, self.maximum)
        object.__setattr__(self, "thresholds", thresholds)

    @classmethod
    def uniform(cls, raw_features: int, levels: int, maximum: float, kind: str | None = None) -> "Encoder":
        """The interior points of `levels + 1` equal steps over [0, maximum], the same for every feature. kind: bytes
        where the maximum is 255, else floats, if it is not given."""
        steps = maximum * np.arange(1, levels + 1) / (levels + 1)
        kind = kind or ("bytes" if maximum == 255 else "floats")
        return cls(np.tile(steps.astype(np.float32), (raw_features, 1)), kind, maximum)

    def units(self) -> str:
        """Kind and maximum as text, for a file that holds the thresholds."""
        return json.dumps({"kind": self.kind, "maximum": self.maximum})

    @classmethod
    def restored(cls, thresholds: np.ndarray, units: str | None) -> "Encoder":
        """From a file; units: None where the file is of a version that did not say them."""
        if units is None:
            return cls(thresholds, "unknown")
        try:
            said = json.loads(units)
            return cls(thresholds, said["kind"], said["maximum"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise HardwireError(f"the units of its encoder are damaged: {units[:40]!r} ({error})") from None

    @classmethod
    def fit(cls, x: Any, bits: int = 8, how: str = "quantile", weights: Any = None) -> "Encoder":
        """Thresholds for the columns of x [rows, raw_features], `bits` for each, in the units of x.

        how: "quantile", equal shares of the rows between two thresholds (a value that alone fills more than a share
        counts as one), or "uniform", equal steps from the lowest value to the highest. weights: [rows], what each row
        counts; a row of weight 2 is two rows. A column of few different values has a threshold between any two of them,
        and repeats the last.
        """
        whole_number("bits", bits)
        if how not in THRESHOLDS:
            raise unknown_name("way to place thresholds", how, THRESHOLDS)
        kind = kind_of(np.asarray(x))
        x = _finite_matrix(x)
        weights = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
        if weights.shape != (len(x),) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise HardwireError(f"weights are {len(x)} numbers of at least 0, not all 0: one for each row of x")
        return cls(np.stack([THRESHOLDS[how](*_distinct(column, weights), bits) for column in x.T]), kind)

    @property
    def raw_features(self) -> int:
        return len(self.thresholds)

    @property
    def levels(self) -> int:
        return int(self.thresholds.shape[1])

    @property
    def features(self) -> int:
        """The number of bits that come out."""
        return self.thresholds.size

    def check(self, raw: np.ndarray) -> tuple[float, float]:
        """An error where `encode` does not take raw; else its units, as `units_of` gives them."""
        if raw.ndim != 2 or raw.shape[1] != self.raw_features:
            raise HardwireError(
                f"this encoder reads rows of {self.raw_features} raw values, not an array of {list(raw.shape)}"
            )
        return units_of(raw, self.kind, self.maximum)

    def scaled(self, units: tuple[float, float]) -> np.ndarray:
        """The thresholds for raw values in these units."""
        multiplier, divisor = units
        return self.thresholds * np.float32(multiplier) / np.float32(divisor)

    def encode(self, raw: np.ndarray) -> np.ndarray:
        """Raw [rows, raw_features], numbers in the units of the thresholds -> words [rows, word_count(features)].

        An image in the unit interval is taken for what it is where the thresholds are in bytes, and the other way
        round; what could be either, or is neither, is refused.
        """
        raw = np.asarray(raw)
        thresholds = self.scaled(self.check(raw))
        wide = raw.dtype.kind in "iu" and raw.dtype.itemsize > 2  # whole numbers that floats may not hold
        if raw.dtype != np.uint8 and not wide:
            with np.errstate(over="ignore"):
                raw = raw.astype(np.float32, copy=False)
        native = getattr(packing, "_native")  # noqa: B009 (None where it was not built)
        if native is None or wide:
            bits = raw[:, :, None] > thresholds.astype(np.float64 if wide else np.float32)
            return packing.pack(bits.reshape(len(raw), self.features))
        words = np.empty((len(raw), packing.word_count(self.features)), np.uint64)
        encode = native.encode_bytes if raw.dtype == np.uint8 else native.encode_floats
        encode(np.ascontiguousarray(raw), thresholds, words)
        return words

    def useful(self, words: np.ndarray) -> np.ndarray:
        """The bits that are not the same in all of these encoded rows, one of each threshold; all, where there is none.

        A column of few values repeats thresholds and a constant one tells nothing: no gate should be wired to those.
        """
        differ = np.bitwise_and.reduce(words) ^ np.bitwise_or.reduce(words)
        repeated = np.zeros(self.thresholds.shape, bool)
        repeated[:, 1:] = self.thresholds[:, 1:] == self.thresholds[:, :-1]
        found = np.flatnonzero((packing.unpack(differ[None], self.features)[0] == 1) & ~repeated.ravel())
        return found if len(found) else np.arange(self.features)


def _finite_matrix(x: Any) -> np.ndarray:
    """x as float32 [rows, columns], which is what `encode` will compare."""
    matrix = np.asarray(x)
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "buif":
        raise HardwireError(
            f"thresholds are fitted to numbers [rows, raw_features], not {matrix.dtype} {list(matrix.shape)}"
        )
    with np.errstate(over="ignore"):
        matrix = matrix.astype(np.float32)
    if not np.isfinite(matrix).all():
        raise HardwireError("thresholds are fitted to finite numbers below 3.4e38; NaN, infinity or more found")
    return matrix


def _distinct(column: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a column in order, and the weight of each; none of weight 0."""
    values, place = np.unique(column, return_inverse=True)
    total = np.bincount(place, weights, len(values))
    return values[total > 0], total[total > 0]


def _quantiles(values: np.ndarray, weights: np.ndarray, bits: int) -> np.ndarray:
    cuts = np.arange(len(values) - 1) if len(values) <= bits + 1 else _equal_shares(weights, bits)
    below, above = values[cuts].astype(np.float64), values[cuts + 1]
    halfway = ((below + above) / 2).astype(np.float32)
    thresholds = np.where(halfway < above, halfway, values[cuts])
    return np.pad(thresholds, (0, bits - len(cuts)), "edge") if len(cuts) else np.repeat(values[:1], bits)


def _equal_shares(weights: np.ndarray, bits: int) -> np.ndarray:
    """Places 0 .. len(weights) - 2, ascending, after which to cut so that all parts weigh about the same."""
    for _ in range(bits):
        share = weights.sum() / (bits + 1)
        if weights.max() <= share * (1 + 1e-9):
            break
        weights = np.minimum(weights, share)
    ends = np.cumsum(weights)
    wanted = ends[-1] * np.arange(1, bits + 1) / (bits + 1)
    cuts = np.searchsorted(ends, wanted * (1 - 1e-9))
    cuts = np.maximum.accumulate(cuts - np.arange(bits)) + np.arange(bits)  # each at least one after the one before
    result: np.ndarray = np.minimum(cuts, len(weights) - 1 - np.arange(bits, 0, -1))
    return result


def _equal_steps(values: np.ndarray, weights: np.ndarray, bits: int) -> np.ndarray:
    low, high = values[0].astype(np.float64), values[-1].astype(np.float64)
    result: np.ndarray = (low + (high - low) * np.arange(1, bits + 1) / (bits + 1)).astype(np.float32)
    return result


THRESHOLDS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "quantile": _quantiles,
    "uniform": _equal_steps,
}
