"""Rows with their targets: `Rows` of any kind, `Split` of a classifier, `NumberSplit` of a predicted number,
`SequenceSplit` of sequences with a label after each step.

A split checks its rows once, when it is made.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import torch

from hardwire.bits import Bits
from hardwire.errors import HardwireError

VALIDATION_SHARE = 1 / 6  # of the training rows: 10,000 of MNIST's 60,000
Indices = torch.Tensor | np.ndarray | Sequence[int] | slice | int


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with one target each; a torch `DataLoader` can read them, since `rows[3]` is one row with its target.

    Args:
        x: Bits, or a tensor [rows, ...].
        y: Targets, a tensor [rows, ...].
    """

    x: Bits | torch.Tensor
    y: torch.Tensor
    _by_row: ClassVar[tuple[str, ...]] = ("x", "y")

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        return self.x[indices], self.y[indices]

    def batch(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        """Selects rows for training; a subclass may augment them here.

        Args:
            indices: A tensor, an array, a list or a slice of row numbers.

        Returns:
            Their (x, y).
        """
        return self.x[indices], self.y[indices]

    def part(self, rows: slice) -> Self:
        """A view of these rows: nothing is copied or checked again."""
        part = copy.copy(self)
        for name in self._by_row:
            object.__setattr__(part, name, getattr(self, name)[rows])
        return part

    def hold_out(self, share: float = VALIDATION_SHARE) -> tuple[Self, Self]:
        """Splits off the last rows for validation.

        Args:
            share: Share of the rows to split off, rounded down, but at least one row.

        Returns:
            The first rows and the last rows, as views.
        """
        if not 0 < share < 1:
            raise HardwireError(f"validation={share} is not a share of the training rows; use one such as 0.2")
        start = first_held_out(len(self), share)
        if start == 0:
            raise HardwireError("one row is too few to split off validation rows; give at least two")
        first, last = self.part(slice(start)), self.part(slice(start, None))
        unseen = set(last.y.tolist()) - set(first.y.tolist()) if _are_labels(self.y) else ()
        if unseen:
            raise HardwireError(
                f"the last {len(last):,} rows, taken for validation, contain class {min(unseen)}, which the other rows "
                "lack; perhaps the rows are sorted: shuffle them first, or give validation rows of your own"
            )
        return first, last


@dataclass(frozen=True, eq=False, repr=False)
class Split(Rows):
    """Rows of a classifier.

    Args:
        x: Bits, or float32 [rows, features] in [0, 1].
        y: Labels, int64 [rows], counted from 0.

    Raises:
        HardwireError: If the rows are empty, or x and y do not fit together.

    Example:
        >>> import torch
        >>> import hardwire as hw
        >>> hw.data.Split(hw.Bits.pack(torch.eye(4)), torch.tensor([0, 1, 0, 1]))
        Split(4 rows of 4 bits)
    """

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
    """Rows of a network that predicts a number: y is float64 [rows]."""

    def _check_targets(self) -> None:
        if self.y.dtype != torch.float64 or self.y.ndim != 1 or not torch.isfinite(self.y).all():
            raise HardwireError(f"numbers are a float64 tensor [rows], all finite, not {self.y.dtype}")


@dataclass(frozen=True, eq=False, repr=False)
class SequenceSplit(Split):
    """Rows that are sequences, with a label after each of their steps.

    Args:
        x: As in `Split`: the steps of a row one after the other.
        y: The label after the last step.
        step_labels: The labels after each step, int64 [rows, steps]; the last column is y.
    """

    step_labels: torch.Tensor
    _by_row: ClassVar[tuple[str, ...]] = ("x", "y", "step_labels")


def first_held_out(rows: int, share: float) -> int:
    """The number of the first row that is held out."""
    return rows - max(1, int(round(rows * share, 6)))


def _are_labels(y: torch.Tensor) -> bool:
    return y.ndim == 1 and y.dtype == torch.int64


def _check_labels(y: torch.Tensor) -> None:
    if not isinstance(y, torch.Tensor) or not _are_labels(y):
        raise HardwireError(f"labels are an int64 tensor [rows], not {_described(y)}")
    if len(y) == 0:
        raise HardwireError("the split is empty; give at least one row")
    if y.min() < 0:
        raise HardwireError(f"label {int(y.min())} is out of range; labels are counted from 0")


def _check_floats(x: torch.Tensor) -> None:
    if not isinstance(x, torch.Tensor) or x.dtype != torch.float32 or x.ndim != 2:
        raise HardwireError(f"x is Bits or a float32 tensor [rows, features], not {_described(x)}")
    if x.numel() == 0:
        return  # an empty x has its own message
    low, high = torch.aminmax(x)  # both are NaN if x has one
    if not (low >= 0 and high <= 1):
        raise HardwireError(
            f"continuous x must lie in [0, 1] without NaN, but spans {low:g} to {high:g}; give thresholds that "
            "turn it into bits, such as hw.Encoder.fit(x_train).thresholds (scaling would lose most of the information)"
        )


def _described(value: object) -> str:
    """The dtype and shape of a tensor, or the type of anything else."""
    return f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
