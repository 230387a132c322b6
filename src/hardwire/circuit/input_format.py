"""What an exported circuit reads: its input bits, or raw values of one of five types that it compares with thresholds.

By default a circuit reads the type its encoder was made for. Another type is accepted only if every value that can
occur stays on the same side of every threshold; otherwise the export is refused, naming the column. Surprising: all
types are compared as whole numbers, floats too, because the bit patterns of IEEE numbers sort like the numbers once
the sign bit is handled. NaN is below every threshold, here and in every export.
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
class InputFormat:
    """The type of an export's input values and how they become the circuit's input bits.

    Attributes:
        kind: One of DTYPES.
        inputs: Input bits of the circuit.
        thresholds: float64 [raw_features, levels]; None for bits.
        point: How real values become whole numbers, for the integer kinds.
        fitted: On how many rows of values the fixed point was checked, if it is right for those values only.
    """

    kind: str
    inputs: int
    thresholds: npt.NDArray[np.float64] | None = None
    point: FixedPoint | None = None
    fitted: int = 0

    @property
    def count(self) -> int:
        """Number of values of an image."""
        return self.inputs if self.thresholds is None else len(self.thresholds)

    @property
    def value_bits(self) -> int:
        """Number of bits of a value."""
        return 1 if self.kind == "bits" else DTYPES[self.kind].itemsize * 8

    @property
    def width(self) -> int:
        """Number of bits of an image."""
        return self.count * self.value_bits

    @property
    def signed(self) -> bool:
        """Whether values have a sign bit."""
        return self.kind.startswith("int")

    @property
    def keys(self) -> Keys:
        """int64 [raw_features, levels]: a bit is true where `order` of its value is greater than this."""
        assert self.thresholds is not None
        if self.point is not None:
            return self.point.keys(self.thresholds)
        return self.order(self.thresholds.astype(np.float32))

    def quantize(self, values: npt.ArrayLike, units: tuple[float, float] = (1, 1)) -> npt.NDArray[Any]:
        """Converts real values [n, raw_features] to the export's type.

        Args:
            values: The values.
            units: Their units, as `units_of` returns them.
        """
        real = np.asarray(values)
        with np.errstate(over="ignore"):
            real = real.astype(np.float64 if real.dtype.kind in "iu" else np.float32).astype(np.float64)
            real = real * units[1] / units[0]
            if self.point is not None:
                return self.point.quantize(real).astype(DTYPES[self.kind])
            return real.astype(DTYPES[self.kind])

    def order(self, rows: npt.NDArray[Any]) -> Keys:
        """Maps values to whole numbers in the same order; both zeros become one, and NaN comes before everything."""
        if self.kind != "floats":
            return rows.astype(np.int64)
        positive = np.where(rows == 0, np.float32(0), rows)  # the pattern of -0.0 sorts before that of 0.0
        pattern = positive.astype("<f4").view("<u4").astype(np.int64)
        keys = np.where(pattern >> 31 == 1, 0xFFFFFFFF - pattern, pattern + 0x80000000)
        return np.where(np.isnan(rows), -1, keys)

    def bits(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Returns the circuit's input bits, uint8 [n, inputs], for rows of the export's type."""
        if self.thresholds is None:
            return np.ascontiguousarray(rows, np.uint8)
        above = self.order(rows)[:, :, None] > self.keys
        return above.reshape(len(rows), self.inputs).view(np.uint8)

    def rows(self, circuit: Circuit, images: npt.ArrayLike) -> npt.NDArray[Any]:
        """Converts images (raw values if the circuit has an encoder, else 0 and 1) to rows of the export's type."""
        if self.kind == "bits":
            if circuit.encoder is None:
                return np.ascontiguousarray(images, np.uint8)
            return unpack(circuit.encoder.encode(np.asarray(images)), circuit.inputs)
        encoder, raw = _encoder(circuit, self.kind), np.asarray(images)
        return np.ascontiguousarray(self.quantize(raw, units_of(raw, encoder.kind, encoder.maximum)))

    def to_bits(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Returns the bits of rows, uint8 [n, width], lowest bit of a value first."""
        if self.kind == "bits":
            return rows
        return np.unpackbits(np.ascontiguousarray(rows, DTYPES[self.kind]).view(np.uint8), axis=1, bitorder="little")

    def from_bits(self, bits: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """The inverse of `to_bits`."""
        if self.kind == "bits":
            return bits
        return np.packbits(bits, axis=1, bitorder="little").view(DTYPES[self.kind])

    def describe(self) -> dict[str, Any]:
        """Returns what a file states about its input, for `input_format_from`."""
        if self.point is None:
            return {"reads": self.kind}
        return {"reads": self.kind, "scale": _short(self.point.scale), "offset": _short(self.point.offset)}


def _short(values: npt.NDArray[np.float64]) -> float | list[float]:
    """Returns one number if all are equal, else all of them."""
    every: list[float] = values.tolist()
    return every[0] if len(set(every)) == 1 else every


def input_format_from(circuit: Circuit, description: dict[str, Any]) -> InputFormat:
    """Returns the input format that a file of this model describes."""
    try:
        kind = description["reads"]
        if (
            circuit.number is not None
            and description.get("exponent", circuit.number.exponent) != circuit.number.exponent
        ):
            raise HardwireError(f"its numbers are steps of 2^{description['exponent']!r:.20}: it is of another model")
        if kind == "bits":
            return InputFormat(kind, circuit.inputs)
        if circuit.encoder is None:
            raise HardwireError(f"it reads {kind!r:.20}, but this model has no encoder: it is of another model")
        thresholds = circuit.encoder.thresholds.astype(np.float64)
        point = FixedPoint(kind, description["scale"], description["offset"]) if "scale" in description else None
        if kind not in DTYPES or (point is None) != (kind == "floats") or _columns(point) - {1, len(thresholds)}:
            raise KeyError
    except HardwireError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError):
        raise HardwireError(f"it does not say what it reads: {description!r:.80}") from None
    return InputFormat(kind, circuit.inputs, thresholds, point)


def _columns(point: FixedPoint | None) -> set[int]:
    return set() if point is None else {len(point.scale), len(point.offset)}


def input_format_of(circuit: Circuit, raw: str | None = None, values: npt.ArrayLike | None = None) -> InputFormat:
    """Chooses what an export reads.

    Args:
        circuit: The circuit to export.
        raw: One of DTYPES; by default what the encoder was made for.
        values: Raw values [rows, raw_features] that will occur, if they are coarser than the encoder's type. Each of
            them stays on the same side of every threshold.

    Raises:
        HardwireError: If the type cannot hold a threshold; the message names the column.
    """
    kind = default_kind(circuit) if raw is None else raw
    if kind not in DTYPES:
        raise unknown_name("kind of raw input", kind, DTYPES)
    if kind == "bits":
        return InputFormat(kind, circuit.inputs)
    encoder = _encoder(circuit, kind)
    thresholds = encoder.thresholds.astype(np.float64)
    if encoder.kind == kind:  # holds every value by definition, and a threshold that no value crosses does no harm
        point = None if kind == "floats" else FixedPoint(kind, np.ones(1), np.zeros(1))
    else:
        below, above = _neighbours(thresholds, encoder.kind, values)
        if kind == "floats":
            _check_floats(thresholds, below, above)
            point = None
        else:
            natural = 1 / 255 if encoder.maximum == 1 else 1.0
            point = fixed_point.fit(
                kind, thresholds, below, above, natural if encoder.kind in RANGES or kind == "bytes" else None
            )
    fitted = 0 if values is None or encoder.kind == kind else len(np.asarray(values))
    return InputFormat(kind, circuit.inputs, thresholds, point, fitted)


def default_kind(circuit: Circuit) -> str:
    """Returns the type the encoder was made for, or bits if there is none."""
    return "bits" if circuit.encoder is None else circuit.encoder.kind


def _encoder(circuit: Circuit, kind: str) -> Encoder:
    if circuit.encoder is None:
        raise HardwireError(f"this circuit has no encoder to read {kind}; export it with raw='bits'")
    return circuit.encoder


def _neighbours(
    thresholds: npt.NDArray[np.float64], made_for: str, values: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Returns the greatest value up to each threshold and the least above it that can occur; infinite if none can."""
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
        raise HardwireError("values must be rows of numbers") from None


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
    """Refuses thresholds that floats cannot separate: not every whole number past 2^24 is a float."""
    wrong = (below.astype(np.float32) > thresholds) | (above.astype(np.float32) <= thresholds)
    if wrong.any():
        column, level = np.argwhere(wrong)[0].tolist()
        raise HardwireError(
            f"column {column}: floats cannot tell {above[column, level]:.0f} from the threshold "
            f"{thresholds[column, level]:.0f}; export it with raw='int32'"
        )
