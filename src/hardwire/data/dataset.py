"""`Dataset` and `Split`: what training, measuring and circuit tests are fed with, checked once when it is made.

A binary set holds packed `Bits`, a continuous one float32 in [0, 1]. Surprising: the raw values of the files are not
kept. `Dataset.raw` reads them again, because a circuit test wants them once and CIFAR-10 is large enough already.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from hardwire.bits import Bits, Encoder
from hardwire.errors import HardwireError, unknown_name

SPLITS = ("train", "test")
Indices = torch.Tensor | np.ndarray | Sequence[int] | slice


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of any kind with a target each, as a loop runs over them: x, Bits or a tensor [rows, ...]; y [rows, ...]."""

    x: Bits | torch.Tensor
    y: torch.Tensor

    def __len__(self) -> int:
        return len(self.y)

    def batch(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        """The rows at `indices` (a tensor, a list or a slice) as (x, y)."""
        return self.x[indices], self.y[indices]


@dataclass(frozen=True, eq=False, repr=False)
class Split(Rows):
    """Rows of a classifier: x: Bits, or float32 [rows, features] in [0, 1];  y: int64 [rows], not negative."""

    def __post_init__(self) -> None:
        _check_labels(self.y)
        if not isinstance(self.x, Bits):
            _check_floats(self.x)
        if len(self.x) != len(self.y):
            raise HardwireError(f"{len(self.x)} rows of x but {len(self.y)} labels; each row needs one label")
        if 0 in self.x.shape:
            raise HardwireError(f"x of shape {list(self.x.shape)} is empty; give at least one row and one feature")

    def __repr__(self) -> str:
        kind = "bits" if isinstance(self.x, Bits) else "floats"
        return f"Split({len(self)} rows of {self.x.shape[1]} {kind})"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training and a test split, and how raw values became their bits.

    encoder: thresholds in the units of the raw values; `encoder.encode(raw(split))` are the bits a deployed circuit
    reads, also where x is continuous. image_shape: the shape of one raw row, such as (28, 28), or None.
    """

    name: str
    train: Split
    test: Split
    classes: int
    encoder: Encoder | None = None
    image_shape: tuple[int, ...] | None = None
    read_raw: Callable[[str], np.ndarray] | None = field(default=None, repr=False)

    def __post_init__(self):
        if isinstance(self.train.x, Bits) != isinstance(self.test.x, Bits):
            raise HardwireError(f"{self.name}: one split holds bits and the other floats; make both the same")
        if self.train.x.shape[1] != self.test.x.shape[1]:
            raise HardwireError(
                f"{self.name}: training rows have {self.train.x.shape[1]} features and test rows "
                f"{self.test.x.shape[1]}; both need the same"
            )
        self._check_label_range()
        self._check_encoder()

    def _check_label_range(self):
        for split in SPLITS:
            highest = int(getattr(self, split).y.max())
            if highest >= self.classes:
                raise HardwireError(
                    f"{self.name}: label {highest} in the {split} split is out of range; "
                    f"the labels of {self.classes} classes are 0 to {self.classes - 1}"
                )

    def _check_encoder(self):
        if self.encoder is not None and self.encoder.features != self.inputs:
            raise HardwireError(
                f"{self.name}: the encoder gives {self.encoder.features} bits, but the rows have {self.inputs}"
            )
        raw_features = self.inputs if self.encoder is None else self.encoder.raw_features
        if self.image_shape is not None and math.prod(self.image_shape) != raw_features:
            raise HardwireError(f"{self.name}: image shape {self.image_shape} does not hold {raw_features} raw values")

    @property
    def inputs(self) -> int:
        """Features of a row: what the network reads."""
        return self.train.x.shape[1]

    def raw(self, split: str) -> np.ndarray:
        """The values of "train" or "test" as the files hold them, [rows, raw_features]; read anew on every call."""
        if split not in SPLITS:
            raise unknown_name("split", split, SPLITS)
        if self.read_raw is None:
            raise HardwireError(f"{self.name} was made without a source of raw values; pass read_raw to Dataset")
        raw = self.read_raw(split)
        if len(raw) != len(getattr(self, split)):
            raise HardwireError(
                f"{self.name}: the file of the {split} split has changed since it was loaded; load again"
            )
        return raw


def _check_labels(y: torch.Tensor) -> None:
    if not isinstance(y, torch.Tensor) or y.dtype != torch.int64 or y.ndim != 1:
        found = f"{y.dtype} {list(y.shape)}" if isinstance(y, torch.Tensor) else type(y).__name__
        raise HardwireError(f"labels are an int64 tensor [rows], not {found}")
    if len(y) == 0:
        raise HardwireError("the split is empty; give at least one row")
    if y.min() < 0:
        raise HardwireError(f"label {int(y.min())} is out of range; labels count from 0")


def _check_floats(x: torch.Tensor) -> None:
    if not isinstance(x, torch.Tensor) or x.dtype != torch.float32 or x.ndim != 2:
        found = f"{x.dtype} {list(x.shape)}" if isinstance(x, torch.Tensor) else type(x).__name__
        raise HardwireError(f"x is Bits or a float32 tensor [rows, features], not {found}")
    if x.numel() == 0:
        return  # the emptiness has its own message
    low, high = torch.aminmax(x)  # either is NaN where x has one
    if not (low >= 0 and high <= 1):
        raise HardwireError(
            f"continuous x must lie in [0, 1] without NaN, but spans {low:g} to {high:g}; scale it, "
            "for example (x - x.min()) / (x.max() - x.min())"
        )
