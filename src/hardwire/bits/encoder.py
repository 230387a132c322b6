"""The thermometer code that makes bits from raw values; it travels with a model into every export. Numpy only."""

from dataclasses import dataclass

import numpy as np

from hardwire.bits import words as packing
from hardwire.errors import HardwireError


@dataclass(frozen=True, eq=False)
class Encoder:
    """Raw values to bits: bit r * levels + l of a row says raw[r] > thresholds[r, l] (strictly).

    thresholds: float32 [raw_features, levels], in the units of the raw data (0 to 255 for image bytes).
    """

    thresholds: np.ndarray

    def __post_init__(self) -> None:
        thresholds = np.ascontiguousarray(self.thresholds, np.float32)
        if thresholds.ndim != 2 or 0 in thresholds.shape:
            raise HardwireError(f"thresholds are [raw_features, levels], not {list(thresholds.shape)}")
        if not np.isfinite(thresholds).all():
            raise HardwireError("thresholds must be finite numbers")
        object.__setattr__(self, "thresholds", thresholds)

    @classmethod
    def uniform(cls, raw_features: int, levels: int, maximum: float) -> "Encoder":
        """The interior points of `levels + 1` equal steps over [0, maximum], the same for every feature."""
        steps = maximum * np.arange(1, levels + 1) / (levels + 1)
        return cls(np.tile(steps.astype(np.float32), (raw_features, 1)))

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

    def encode(self, raw: np.ndarray) -> np.ndarray:
        """Raw [rows, raw_features], bytes or floats -> words [rows, word_count(features)]."""
        raw = np.asarray(raw)
        if raw.ndim != 2 or raw.shape[1] != self.raw_features:
            raise HardwireError(
                f"this encoder reads rows of {self.raw_features} raw values, not an array of {list(raw.shape)}"
            )
        if raw.dtype != np.uint8:
            raw = raw.astype(np.float32, copy=False)
            if not np.isfinite(raw).all():
                raise HardwireError("raw values must be finite numbers; NaN or infinity found")
        native = getattr(packing, "_native")  # noqa: B009 (None where it was not built)
        if native is None:
            bits = raw.astype(np.float32)[:, :, None] > self.thresholds
            return packing.pack(bits.reshape(len(raw), self.features))
        words = np.empty((len(raw), packing.word_count(self.features)), np.uint64)
        encode = native.encode_bytes if raw.dtype == np.uint8 else native.encode_floats
        encode(np.ascontiguousarray(raw), self.thresholds, words)
        return words
