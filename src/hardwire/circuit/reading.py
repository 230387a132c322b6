"""What an exported circuit reads: its input bits, or raw values in one of five types that it compares with thresholds.

By default it reads what the encoder was made for. Any other type is checked to hold every threshold: a value that can
occur stays on its side, or the export is refused with the column that is too fine. Surprising: all types are compared
as whole numbers, floats too, because the bit patterns of IEEE numbers sort like the numbers once the sign is dealt
with; NaN is below every threshold, here and in every export.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder, unpack
from hardwire.bits.units import RANGES, units_of
from hardwire.circuit import fixed_point
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.fixed_point import FixedPoint
from hardwire.errors import HardwireError, unknown_name

DTYPES: dict[str, np.dtype[Any]] = {  # of one value, by kind
    "bits": np.dtype(np.uint8),
    "bytes": np.dtype(np.uint8),
    "int8": np.dtype(np.int8),
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "floats": np.dtype("<f4"),
}
INFINITY = 0xFF800000  # the key of +infinity; above it are only NaNs
Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reading:
    """kind: one of DTYPES; inputs: bits of the circuit; thresholds: float64 [raw_features, levels], None for bits;
    point: how real values become whole numbers, where they do; fitted: to how many rows of values, if only to them."""

    kind: str
    inputs: int
    thresholds: npt.NDArray[np.float64] | None = None
    point: FixedPoint | None = None
    fitted: int = 0

    @property
    def count(self) -> int:
        """Values of one image."""
        return self.inputs if self.thresholds is None else len(self.thresholds)

    @property
    def value_bits(self) -> int:
        """Bits of one value."""
        return 1 if self.kind == "bits" else DTYPES[self.kind].itemsize * 8

    @property
    def width(self) -> int:
        """Bits of one image."""
        return self.count * self.value_bits

    @property
    def signed(self) -> bool:
        return self.kind.startswith("int")

    @property
    def keys(self) -> Keys:
        """int64 [raw_features, levels]: a bit is true where the order of its value is more than this."""
        assert self.thresholds is not None
        if self.point is not None:
            return self.point.keys(self.thresholds)
        return self.order(self.thresholds.astype(np.float32))

    def quantize(self, values: npt.ArrayLike, units: tuple[float, float] = (1, 1)) -> npt.NDArray[Any]:
        """Real values [n, raw_features] as the export reads them; units: of the values, as `units_of` gives them."""
        real = np.asarray(values)
        with np.errstate(over="ignore"):
            real = real.astype(np.float64 if real.dtype.kind in "iu" else np.float32).astype(np.float64)
            real = real * units[1] / units[0]
            if self.point is not None:
                return self.point.quantize(real).astype(DTYPES[self.kind])
            return real.astype(DTYPES[self.kind])

    def order(self, rows: npt.NDArray[Any]) -> Keys:
        """Values as whole numbers that sort as they do; both zeros are one, NaN is below everything."""
        if self.kind != "floats":
            return rows.astype(np.int64)
        positive = np.where(rows == 0, np.float32(0), rows)  # as -0.0 sorts before 0.0, and must not
        pattern = positive.astype("<f4").view("<u4").astype(np.int64)
        keys = np.where(pattern >> 31 == 1, 0xFFFFFFFF - pattern, pattern + 0x80000000)
        return np.where(np.isnan(rows), -1, keys)

    def bits(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The circuit's input bits uint8 [n, inputs] of rows as the export reads them."""
        if self.thresholds is None:
            return np.ascontiguousarray(rows, np.uint8)
        above = self.order(rows)[:, :, None] > self.keys
        return above.reshape(len(rows), self.inputs).view(np.uint8)

    def rows(self, circuit: Circuit, images: npt.ArrayLike) -> npt.NDArray[Any]:
        """Images (raw values where the circuit has an encoder, 0 and 1 where it has none) as the export reads them."""
        if self.kind == "bits":
            if circuit.encoder is None:
                return np.ascontiguousarray(images, np.uint8)
            return unpack(circuit.encoder.encode(np.asarray(images)), circuit.inputs)
        encoder, raw = _encoder(circuit, self.kind), np.asarray(images)
        return np.ascontiguousarray(self.quantize(raw, units_of(raw, encoder.kind, encoder.maximum)))

    def to_bits(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Rows as the bits that enter logic, uint8 [n, width], lowest bit of a value first."""
        if self.kind == "bits":
            return rows
        return np.unpackbits(np.ascontiguousarray(rows, DTYPES[self.kind]).view(np.uint8), axis=1, bitorder="little")

    def from_bits(self, bits: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """The inverse of `to_bits`."""
        if self.kind == "bits":
            return bits
        return np.packbits(bits, axis=1, bitorder="little").view(DTYPES[self.kind])

    def describe(self) -> dict[str, Any]:
        """What a file has to say of it, for `described`."""
        if self.point is None:
            return {"reads": self.kind}
        return {"reads": self.kind, "scale": _short(self.point.scale), "offset": _short(self.point.offset)}


def _short(values: npt.NDArray[np.float64]) -> float | list[float]:
    """One number where all are the same."""
    every: list[float] = values.tolist()
    return every[0] if len(set(every)) == 1 else every


def described(circuit: Circuit, description: dict[str, Any]) -> Reading:
    """The reading that a file describes, of this model."""
    try:
        kind = description["reads"]
        if (
            circuit.number is not None
            and description.get("exponent", circuit.number.exponent) != circuit.number.exponent
        ):
            raise HardwireError(f"its numbers are steps of 2^{description['exponent']!r:.20}: it is of another model")
        if kind == "bits":
            return Reading(kind, circuit.inputs)
        if circuit.encoder is None:
            raise HardwireError(f"it reads {kind!r:.20}, but this model has no encoder: it is of another model")
        thresholds = circuit.encoder.thresholds.astype(np.float64)
        point = FixedPoint(kind, description["scale"], description["offset"]) if "scale" in description else None
        if kind not in DTYPES or (point is None) != (kind == "floats") or _columns(point) - {1, len(thresholds)}:
            raise KeyError
    except HardwireError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError):
        raise HardwireError(f"it does not say what it reads: {str(description)[:80]}") from None
    return Reading(kind, circuit.inputs, thresholds, point)


def _columns(point: FixedPoint | None) -> set[int]:
    return set() if point is None else {len(point.scale), len(point.offset)}


def reading_of(circuit: Circuit, raw: str | None = None, values: npt.ArrayLike | None = None) -> Reading:
    """The reading of kind `raw`, by default what the encoder was made for. values: raw values [rows, raw_features] that
    will occur, where they are coarser than the encoder's kind; none of them changes its side of a threshold."""
    kind = default_kind(circuit) if raw is None else raw
    if kind not in DTYPES:
        raise unknown_name("kind of raw input", kind, DTYPES)
    if kind == "bits":
        return Reading(kind, circuit.inputs)
    encoder = _encoder(circuit, kind)
    thresholds = encoder.thresholds.astype(np.float64)
    made_for = kind if encoder.kind == "unknown" else encoder.kind
    if made_for == kind:  # holds every value by definition, and a threshold that no value crosses does no harm
        point = None if kind == "floats" else FixedPoint(kind, np.ones(1), np.zeros(1))
    else:
        below, above = _neighbours(thresholds, made_for, values)
        if kind == "floats":
            _check_floats(thresholds, below, above)
            point = None
        else:
            natural = 1 / 255 if encoder.maximum == 1 else 1.0
            point = fixed_point.fit(
                kind, thresholds, below, above, natural if made_for in RANGES or kind == "bytes" else None
            )
    fitted = 0 if values is None or made_for == kind else len(np.asarray(values))
    return Reading(kind, circuit.inputs, thresholds, point, fitted)


def default_kind(circuit: Circuit) -> str:
    """What the encoder was made for; bits where there is none."""
    if circuit.encoder is None:
        return "bits"
    if circuit.encoder.kind == "unknown":
        raise HardwireError(
            "this file is of an older version and does not say what its raw values are; say it with raw= (--raw): "
            + ", ".join(DTYPES)
        )
    return circuit.encoder.kind


def raw_kind(circuit: Circuit) -> str:
    """The same; floats, which hold the others, where an old file does not say it."""
    return "floats" if circuit.encoder is not None and circuit.encoder.kind == "unknown" else default_kind(circuit)


def _encoder(circuit: Circuit, kind: str) -> Encoder:
    if circuit.encoder is None:
        raise HardwireError(f"this circuit has no encoder to read {kind}; export it with raw='bits'")
    return circuit.encoder


def _neighbours(
    thresholds: npt.NDArray[np.float64], made_for: str, values: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The greatest value up to each threshold and the least over it, of those that can occur; infinite: none."""
    if values is not None:
        below, above = _neighbours_among(thresholds, _reals(values))
    elif made_for in RANGES:
        low, high = RANGES[made_for]
        below, above = np.floor(thresholds), np.floor(thresholds) + 1
        below, above = (
            np.where(below < low, -np.inf, np.minimum(below, high)),
            np.where(above > high, np.inf, np.maximum(above, low)),
        )
    else:
        below, above = thresholds, np.nextafter(thresholds.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return below, above


def _reals(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(values, np.float32).astype(np.float64)
    except (TypeError, ValueError):
        raise HardwireError("values are rows of numbers that will occur") from None


def _neighbours_among(
    thresholds: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if values.ndim != 2 or values.shape[1] != len(thresholds):
        raise HardwireError(f"values are raw values [rows, {len(thresholds)}], not {list(values.shape)}")
    below, above = np.full_like(thresholds, -np.inf), np.full_like(thresholds, np.inf)
    for column, cuts in enumerate(thresholds):
        known = np.unique(values[:, column])  # sorted; a NaN comes last, and is no value
        known = known[~np.isnan(known)]
        if not len(known):
            raise HardwireError(f"column {column} of the values has no number in it; give rows that will occur")
        place = np.searchsorted(known, cuts, side="right")
        below[column][place > 0] = known[place[place > 0] - 1]
        above[column][place < len(known)] = known[place[place < len(known)]]
    return below, above


def _check_floats(
    thresholds: npt.NDArray[np.float64], below: npt.NDArray[np.float64], above: npt.NDArray[np.float64]
) -> None:
    """Whole numbers past 2^24 are not all floats."""
    wrong = (below.astype(np.float32) > thresholds) | (above.astype(np.float32) <= thresholds)
    if wrong.any():
        column, level = np.argwhere(wrong)[0].tolist()
        raise HardwireError(
            f"column {column}: floats cannot tell {above[column, level]:.0f} from the threshold "
            f"{thresholds[column, level]:.0f}; export it with raw='int32'"
        )
