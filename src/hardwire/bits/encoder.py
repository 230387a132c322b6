"""The thermometer code that turns raw values into bits. It is saved with a model and written into every export.

Needs numpy only. Surprising: fitted thresholds lie halfway between two values of the training data, so that rounding
a value cannot move it across a threshold. Categories, one bit a level, are differences of two such bits: a circuit
makes them with a gate each, so that exports compare with thresholds and nothing else.
"""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardwire.bits import words as packing
from hardwire.bits.units import check_kind, kind_of, units_of
from hardwire.errors import HardwireError, shown, unknown_name, whole_number
from hardwire.files import parse_json


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns raw values into bits: bit r * levels + l of a row is 1 where raw[r] > thresholds[r, l].

    NaN is below every threshold. In a column of categories the bit is 1 only if the value is not above the next
    threshold as well, so that at most one bit of the column is 1.

    Args:
        thresholds: float32 [raw_features, levels], in the units of the raw data (0 to 255 for image bytes).
        kind: The kind of raw values: bits, bytes, int8, int16, int32 or floats.
        maximum: The raw value that is 1 in the unit interval (255 for image bytes), or None.
        categories: The numbers of the columns of categories.

    Example:
        >>> import hardwire as hw
        >>> import numpy as np
        >>> encoder = hw.Encoder(np.array([[64.0, 128.0, 192.0]]), kind="bytes", maximum=255)
        >>> encoder.encode(np.array([[100], [200]], np.uint8))
        array([[1],
               [7]], dtype=uint64)
    """

    thresholds: np.ndarray
    kind: str = "floats"
    maximum: float | None = None
    categories: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        thresholds = np.ascontiguousarray(self.thresholds, np.float32)
        if thresholds.ndim != 2 or 0 in thresholds.shape:
            raise HardwireError(f"thresholds are [raw_features, levels], not {list(thresholds.shape)}")
        if not np.isfinite(thresholds).all():
            raise HardwireError("thresholds must be finite numbers")
        check_kind(self.kind, self.maximum)
        object.__setattr__(self, "thresholds", thresholds)
        categories = tuple(self.categories)
        if not all(type(column) is int and 0 <= column < len(thresholds) for column in categories):
            raise HardwireError(
                f"categories are numbers of columns, 0 to {len(thresholds) - 1}, not {shown(categories)}"
            )
        object.__setattr__(self, "categories", tuple(sorted(set(categories))))

    @classmethod
    def uniform(cls, raw_features: int, levels: int, maximum: float, kind: str | None = None) -> "Encoder":
        """Equal steps: the `levels` interior points of `levels + 1` equal parts of [0, maximum], for every feature.

        Args:
            raw_features: The number of raw values.
            levels: Thresholds for each.
            maximum: The largest raw value.
            kind: The kind of raw values; by default bytes for a maximum of 255, and floats otherwise.

        Example:
            >>> import hardwire as hw
            >>> hw.Encoder.uniform(1, levels=3, maximum=255).thresholds
            array([[ 63.75, 127.5 , 191.25]], dtype=float32)
        """
        steps = maximum * np.arange(1, levels + 1) / (levels + 1)
        kind = kind or ("bytes" if maximum == 255 else "floats")
        return cls(np.tile(steps.astype(np.float32), (raw_features, 1)), kind, maximum)

    def units(self) -> str:
        """The kind and the maximum as JSON, for a file that holds the thresholds."""
        categories = {"categories": self.categories} if self.categories else {}
        return json.dumps({"kind": self.kind, "maximum": self.maximum, **categories})

    @classmethod
    def restored(cls, thresholds: np.ndarray, units: str | None) -> "Encoder":
        """The encoder of a file that holds its thresholds and its units."""
        if units is None:
            raise HardwireError("its encoder does not say what its raw values are; write the file again")
        stated = parse_json(units, "the units of its encoder")
        if not isinstance(stated, dict) or set(stated) - {"categories"} != {"kind", "maximum"}:
            raise HardwireError(f"the units of its encoder are damaged: {units[:40]!r}")
        categories = stated.get("categories", [])
        if not isinstance(categories, list):
            raise HardwireError(f"the categories of its encoder are damaged: {categories!r:.40}")
        return cls(thresholds, stated["kind"], stated["maximum"], tuple(categories))

    @classmethod
    def fit(
        cls,
        x: Any,
        bits: int = 8,
        how: str = "quantile",
        weights: Any = None,
        *,
        codes: Mapping[int, int] | None = None,
        categories: Sequence[int] = (),
        present: Sequence[int] = (),
        names: Sequence[str] | None = None,
    ) -> "Encoder":
        """Places thresholds by data.

        A column with few different values gets a threshold between each two of them, and repeats the last one. NaN is
        left out. A column whose values float32 merges, such as 1.7e9 + 0..49, is named in a warning.

        Args:
            x: Numbers [rows, raw_features].
            bits: Thresholds for each column.
            how: "quantile" for equal shares of the rows between thresholds (a value that alone fills more than a share
                counts as one), or "uniform" for equal steps from the lowest to the highest value.
            weights: The weight of each row, [rows]; a row of weight 2 counts as two rows.
            codes: For each column of codes 0 .. n - 1 the number n; it gets a threshold below each code.
            categories: The columns of codes that get one bit a code.
            present: Columns that get a threshold more, below all values: its bit is 0 where there is none. It lies
                below the lowest value by the range of the column (or by 1), so that few bits can hold it.
            names: The names of the columns, for warnings.

        Returns:
            The encoder, with thresholds in the units of x.

        Example:
            >>> import hardwire as hw
            >>> hw.Encoder.fit([[1.0], [2.0], [3.0], [10.0]], bits=3).thresholds
            array([[1.5, 2.5, 6.5]], dtype=float32)
        """
        whole_number("bits", bits)
        if how not in THRESHOLDS:
            raise unknown_name("way to place thresholds", how, THRESHOLDS)
        kind, given = kind_of(np.asarray(x)), np.asarray(x)
        x = _finite_matrix(x)
        weights = np.ones(len(x)) if weights is None else np.asarray(weights, np.float64)
        if weights.shape != (len(x),) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise HardwireError(f"weights are {len(x)} numbers of at least 0, not all 0: one for each row of x")
        codes = {} if codes is None else codes
        columns = []
        for number, column in enumerate(x.T):
            if number in codes:
                columns.append(np.arange(max(1, codes[number])) - np.float32(0.5))
                continue
            _warn_of_merged(given[:, number], column, names[number] if names else f"number {number}")
            values, weight = _distinct(column, weights)
            cuts = THRESHOLDS[how](values, weight, bits)
            columns.append(np.concatenate([_below_all(values), cuts]) if number in present else cuts)
        levels = max(map(len, columns))
        padded = [np.pad(column, (0, levels - len(column)), "edge") for column in columns]
        return cls(np.stack(padded), kind, categories=tuple(categories))

    def plain(self) -> "Encoder":
        """The same thresholds without categories, as circuits compare with them."""
        return replace(self, categories=()) if self.categories else self

    def plain_bits(self, words: np.ndarray) -> np.ndarray:
        """Encoded rows [rows, words] as the encoder without categories makes them."""
        if not self.categories:
            return words
        bits = packing.unpack(words, self.features).reshape(len(words), *self.thresholds.shape)
        for column in self.categories:
            bits[:, column] = np.maximum.accumulate(bits[:, column, ::-1], axis=1)[:, ::-1]
        return packing.pack(bits.reshape(len(words), self.features))

    def _exact(self, words: np.ndarray) -> np.ndarray:
        """Clears the bit of a category where the next bit of its column is 1."""
        mask = np.zeros(self.thresholds.shape, np.uint8)
        mask[list(self.categories), :-1] = 1
        following = words >> np.uint64(1)
        following[:, :-1] |= words[:, 1:] << np.uint64(63)
        exact: np.ndarray = words & ~(following & packing.pack(mask.reshape(1, -1)))
        return exact

    @property
    def raw_features(self) -> int:
        """The number of raw values of a row."""
        return len(self.thresholds)

    @property
    def levels(self) -> int:
        """The number of thresholds of a raw value."""
        return int(self.thresholds.shape[1])

    @property
    def features(self) -> int:
        """The number of bits of an encoded row."""
        return self.thresholds.size

    def check(self, raw: np.ndarray) -> tuple[float, float]:
        """Raises if raw values do not fit this encoder; returns their units, as `units_of` does."""
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
        """Encodes raw values as packed bits.

        Images in the unit interval are recognised where the thresholds are in bytes, and the other way round. Arrays
        that could be either, or are neither, are refused.

        Args:
            raw: Numbers [rows, raw_features] in the units of the thresholds.

        Returns:
            Packed words, uint64 [rows, ceil(features / 64)].
        """
        words = self._above(np.asarray(raw))
        return self._exact(words) if self.categories else words

    def _above(self, raw: np.ndarray) -> np.ndarray:
        """Packed words of which thresholds each raw value is above."""
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
        """The indices of bits worth wiring: those that differ between these encoded rows, each threshold once.

        A column with few values repeats thresholds, and a constant column has no information. Where no bit differs, all
        are returned.
        """
        differ = np.bitwise_and.reduce(words) ^ np.bitwise_or.reduce(words)
        repeated = np.zeros(self.thresholds.shape, bool)
        repeated[:, 1:] = self.thresholds[:, 1:] == self.thresholds[:, :-1]
        repeated[list(self.categories)] = False  # there the last of equal ones has the bit, and the others never change
        useful = np.flatnonzero((packing.unpack(differ[None], self.features)[0] == 1) & ~repeated.ravel())
        return useful if len(useful) else np.arange(self.features)


def _finite_matrix(x: Any) -> np.ndarray:
    """x as float32 [rows, columns], which is what `encode` will compare."""
    matrix = np.asarray(x)
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "buif":
        raise HardwireError(
            f"thresholds are fitted to numbers [rows, raw_features], not {matrix.dtype} {list(matrix.shape)}"
        )
    with np.errstate(over="ignore"):
        matrix = matrix.astype(np.float32)
    if np.isinf(matrix).any():
        raise HardwireError("thresholds are fitted to finite numbers below 3.4e38; x holds infinity or more")
    return matrix


def _warn_of_merged(given: np.ndarray, column: np.ndarray, name: str) -> None:
    """Warns of a column of which float32, with its 24 bits, tells apart less than half as many values as there are."""
    if given.dtype.itemsize < 4 or given.dtype == np.float32:
        return
    values, kept = (len(np.unique(part[~np.isnan(part)])) for part in (given.astype(np.float64), column))
    if kept < values / 2:
        low = np.nanmin(given)
        warnings.warn(
            f"column {name} has {values:,} different values, of which float32 tells apart {kept:,}; subtract a number "
            f"such as {low:.10g} from it first",
            stacklevel=3,
        )


def _below_all(values: np.ndarray) -> np.ndarray:
    """A threshold as far below the lowest value as the highest is above it, and at least 1."""
    low, high = values[0].astype(np.float64), values[-1].astype(np.float64)
    just_below = np.nextafter(values[0], np.float32(-np.inf))  # where float32 cannot tell 1 less
    return np.array([min(low - max(1.0, high - low), just_below)], np.float32)


def _distinct(column: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a column in order, and the weight of each; none of weight 0. Without values, a 0."""
    there = ~np.isnan(column)
    values, place = np.unique(column[there], return_inverse=True)
    total = np.bincount(place, weights[there], len(values))
    if not total.any():
        return np.zeros(1, np.float32), np.ones(1)
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
