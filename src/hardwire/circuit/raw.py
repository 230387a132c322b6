"""What an exported circuit reads: its input bits, or raw values that its own encoder compares with thresholds.

Surprising: floats are compared as integers, since the bit patterns of IEEE numbers sort like the numbers once the sign
is dealt with.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder, unpack
from hardwire.circuit.circuit import Circuit
from hardwire.errors import HardwireError, unknown_name

RAW_BITS = {"bits": 1, "bytes": 8, "floats": 32}  # bits of one value
RAW_TYPES = {"bits": np.uint8, "bytes": np.uint8, "floats": np.float32}


def raw_kind(circuit: Circuit, raw: str | None) -> str:
    """Checks `raw`; not given, it is bytes where there is an encoder and bits where there is none."""
    if raw is None:
        raw = "bits" if circuit.encoder is None else "bytes"
    if raw not in RAW_BITS:
        raise unknown_name("kind of raw input", raw, RAW_BITS)
    if raw != "bits":
        encoder_of(circuit, raw)
    return raw


def encoder_of(circuit: Circuit, raw: str) -> Encoder:
    if circuit.encoder is None:
        raise HardwireError(f"this circuit has no encoder to read {raw}; export it with raw='bits'")
    return circuit.encoder


def raw_count(circuit: Circuit, raw: str) -> int:
    """Values of one image as it enters the exported circuit."""
    return circuit.inputs if raw == "bits" else encoder_of(circuit, raw).raw_features


def raw_width(circuit: Circuit, raw: str) -> int:
    """Bits of one image as it enters the exported circuit."""
    return raw_count(circuit, raw) * RAW_BITS[raw]


def images_of(circuit: Circuit, data: Any, split: str = "test") -> npt.NDArray[Any]:
    """A dataset's images as `verify` and testbenches take them: raw values where the circuit has an encoder, else 0
    and 1 [n, inputs]."""
    if circuit.encoder is not None:
        return np.asarray(data.raw(split))
    x = getattr(data, split).x
    return np.asarray(x.unpack() if hasattr(x, "features") else x > 0.5).astype(np.uint8)


def as_rows(circuit: Circuit, raw: str, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Images (raw values where the circuit has an encoder, 0 and 1 where it has none) as rows of kind `raw`."""
    if raw == "bits" and circuit.encoder is not None:
        return unpack(circuit.encoder.encode(images), circuit.inputs)
    return np.ascontiguousarray(images, RAW_TYPES[raw])


def row_bits(raw: str, rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Rows of kind `raw` as the bits that enter an export, uint8 [n, raw_width], lowest bit of a value first."""
    if raw == "bits":
        return np.ascontiguousarray(rows, np.uint8)
    little = np.ascontiguousarray(rows, np.dtype(RAW_TYPES[raw]).newbyteorder("<")).view(np.uint8)
    return np.unpackbits(little, axis=1, bitorder="little")


def bit_rows(raw: str, bits: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """The inverse of `row_bits`."""
    if raw == "bits":
        return bits
    return np.packbits(bits, axis=1, bitorder="little").view(np.dtype(RAW_TYPES[raw]).newbyteorder("<"))


def keys_of(encoder: Encoder, raw: str) -> npt.NDArray[np.int64]:
    """int64 [raw_features, levels]: value > threshold means key of value > this; -1 is always."""
    if raw == "bytes":
        return np.clip(np.floor(encoder.thresholds.astype(np.float64)), -1, 255).astype(np.int64)
    # integers that sort like floats do; both zeros count as +0
    pattern = (encoder.thresholds + np.float32(0)).view(np.uint32).astype(np.int64)
    return np.where(pattern >> 31 == 1, 0xFFFFFFFF - pattern, pattern + 0x80000000)
