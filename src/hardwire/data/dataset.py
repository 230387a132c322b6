"""`Dataset` and `Split`: what training, measuring and circuit tests are fed with, checked once when it is made.

A binary set holds packed `Bits`, a continuous one float32 in [0, 1]. Surprising: `validation` is the last part of
`train`, a view of the same rows, until `with_validation` takes it out: who never validates trains on everything, as the
paper does. The raw values of the files are not kept; `Dataset.raw` reads them again.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import torch

from hardwire.bits import Bits, Columns, Encoder
from hardwire.errors import HardwireError, unknown_name

SPLITS = ("train", "test")
SHARE = 1 / 6  # of the training rows that validation takes: 10,000 of MNIST's 60,000
Indices = torch.Tensor | np.ndarray | Sequence[int] | slice | int


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of any kind with a target each, as a loop runs over them: x, Bits or a tensor [rows, ...]; y [rows, ...].

    It is also what a torch `DataLoader` takes: it has a length, and `rows[3]` is a row with its target.
    """

    x: Bits | torch.Tensor
    y: torch.Tensor

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        return self.x[indices], self.y[indices]

    def batch(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        """The rows at `indices` (a tensor, a list or a slice) as (x, y)."""
        return self.x[indices], self.y[indices]

    def part(self, rows: slice) -> Self:
        """These rows as a view: nothing is copied, nor checked again."""
        part = copy.copy(self)
        for name in ("x", "y"):
            object.__setattr__(part, name, getattr(self, name)[rows])
        return part

    def hold_out(self, share: float = SHARE) -> tuple[Self, Self]:
        """All but the last rows, and the last ones: this share of them, rounded down, at least one."""
        if not 0 < share < 1:
            raise HardwireError(f"validation={share} is not a share of the training rows; use one such as 0.2")
        start = _first_held_out(len(self), share)
        if start == 0:
            raise HardwireError("one row is too few to take validation rows out; give at least two")
        first, last = self.part(slice(start)), self.part(slice(start, None))
        unseen = set(last.y.tolist()) - set(first.y.tolist()) if _are_labels(self.y) else ()
        if unseen:
            raise HardwireError(
                f"the last {len(last):,} rows, taken for validation, hold the class {min(unseen)}, which the others "
                "lack; perhaps the rows are sorted: shuffle them first, or give validation rows of your own"
            )
        return first, last


@dataclass(frozen=True, eq=False, repr=False)
class Split(Rows):
    """Rows of a classifier: x: Bits, or float32 [rows, features] in [0, 1];  y: int64 [rows], not negative."""

    def __post_init__(self) -> None:
        self._check_targets()
        if not isinstance(self.x, Bits):
            _check_floats(self.x)
        if len(self.x) != len(self.y):
            raise HardwireError(f"{len(self.x)} rows of x but {len(self.y)} labels; each row needs one label")
        if 0 in self.x.shape:
            raise HardwireError(f"x of shape {list(self.x.shape)} is empty; give at least one row and one feature")

    def _check_targets(self) -> None:
        _check_labels(self.y)

    def __repr__(self) -> str:
        kind = "bits" if isinstance(self.x, Bits) else "floats"
        return f"Split({len(self)} rows of {self.x.shape[1]} {kind})"


@dataclass(frozen=True, eq=False, repr=False)
class NumberSplit(Split):
    """Rows of a network that computes a number: y is float64 [rows]."""

    def _check_targets(self) -> None:
        if self.y.dtype != torch.float64 or self.y.ndim != 1 or not torch.isfinite(self.y).all():
            raise HardwireError(f"numbers are a float64 tensor [rows], all finite, not {self.y.dtype}")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training and a test split, and how raw values became their bits.

    encoder: thresholds in the units of the raw values; `encoder.encode(raw(split))` are the bits a deployed circuit
    reads, also where x is continuous. image_shape: the shape of one raw row, such as (28, 28), or None. held_out:
    validation rows that are not in train, where there are some. columns: what raw values and classes are called in a
    table. number: instead of classes, the range of the number that is the target.
    """

    name: str
    train: Split
    test: Split
    classes: int
    encoder: Encoder | None = None
    image_shape: tuple[int, ...] | None = None
    read_raw: Callable[[str], np.ndarray] | None = field(default=None, repr=False)
    held_out: Split | None = None
    columns: Columns | None = None
    number: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        self._check_fit("test", self.test)
        if self.held_out is not None:
            self._check_fit("validation", self.held_out)
        if self.number is None:
            self._check_label_range()
        self._check_encoder()

    def _check_fit(self, name: str, split: Split) -> None:
        if isinstance(self.train.x, Bits) != isinstance(split.x, Bits):
            raise HardwireError(f"{self.name}: one split holds bits and the other floats; make both the same")
        if self.train.x.shape[1] != split.x.shape[1]:
            raise HardwireError(
                f"{self.name}: training rows have {self.train.x.shape[1]} features and {name} rows "
                f"{split.x.shape[1]}; both need the same"
            )

    def _check_label_range(self) -> None:
        for name in ("train", "test", "validation"):
            highest = int(getattr(self, name).y.max())
            if highest >= self.classes:
                raise HardwireError(
                    f"{self.name}: label {highest} in the {name} split is out of range; "
                    f"the labels of {self.classes} classes are 0 to {self.classes - 1}"
                )

    def _check_encoder(self) -> None:
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

    def useful_inputs(self) -> list[int] | None:
        """The inputs that a network of a table should wire; None: all."""
        if self.columns is None or self.encoder is None or not isinstance(self.train.x, Bits):
            return None
        useful: list[int] = self.encoder.useful(self.train.x.numpy()).tolist()
        return useful

    @property
    def validation(self) -> Split:
        """Rows to choose on: those held out, or else the last sixth of train, which `with_validation` takes out."""
        return (
            self.train.part(slice(_first_held_out(len(self.train), SHARE), None))
            if self.held_out is None
            else self.held_out
        )

    def with_validation(self, share: float | None = None) -> "Dataset":
        """The dataset whose `train` lacks the rows of `validation`; with a share, so much of the end of train.

        Rows are not copied. Where validation rows of their own were given, and no share, nothing changes.
        """
        if self.held_out is not None and share is None:
            return self
        train, validation = self.train.hold_out(SHARE if share is None else share)
        read, rows = self.read_raw, len(train)

        def read_raw(split: str) -> np.ndarray:
            assert read is not None
            parts = {"train": ("train", slice(rows)), "validation": ("train", slice(rows, None))}
            source, part = parts.get(split, (split, slice(None)))
            return read(source)[part]

        return replace(self, train=train, held_out=validation, read_raw=None if read is None else read_raw)

    def raw(self, split: str) -> np.ndarray:
        """The values of a split ("train", "validation" or "test") as the files hold them, [rows, raw_features]; read
        anew on every call."""
        known = (*SPLITS, "validation")
        if split not in known:
            raise unknown_name("split", split, known)
        if self.read_raw is None:
            raise HardwireError(f"{self.name} was made without a source of raw values; pass read_raw to Dataset")
        if split == "validation" and self.held_out is None:
            return self.raw("train")[-len(self.validation) :]
        raw = self.read_raw(split)
        if len(raw) != len(getattr(self, split)):
            raise HardwireError(
                f"{self.name}: the file of the {split} split has changed since it was loaded; load again"
            )
        return raw


def _first_held_out(rows: int, share: float) -> int:
    return rows - max(1, int(round(rows * share, 6)))


def _are_labels(y: torch.Tensor) -> bool:
    return y.ndim == 1 and y.dtype == torch.int64


def _check_labels(y: torch.Tensor) -> None:
    if not isinstance(y, torch.Tensor) or not _are_labels(y):
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
            f"continuous x must lie in [0, 1] without NaN, but spans {low:g} to {high:g}; give thresholds that "
            "make bits of it, such as hw.Encoder.fit(x_train).thresholds (scaling it would lose most of it)"
        )
