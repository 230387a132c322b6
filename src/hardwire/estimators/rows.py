"""A table as rows to train on: equal rows are merged into one with the sum of their weights, and sorted.

Surprising: so a row of weight 2 and the same row given twice train the same network to the last bit, whatever the order
of the rows, which is what scikit-learn means by a sample weight. Rows that no threshold separates are equal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hardwire.bits import Bits
from hardwire.data.rows import Rows


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """words: uint64 [rows, words], the bits of each row; target: float64 or int64 [rows]; weight: float64 [rows]."""

    words: npt.NDArray[np.uint64]
    target: npt.NDArray[Any]
    weight: npt.NDArray[Any]

    def distinct(self) -> "WeightedRows":
        """Merges equal rows, sorts them, and drops those of weight 0."""
        kept = self.weight > 0
        keys = np.column_stack([self.words[kept], self.target[kept].view(np.uint64)])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(group.ravel(), self.weight[kept])
        return WeightedRows(self.words[kept][first], self.target[kept][first], weight)

    def split(self, share: float, seed: int, by_target: bool) -> tuple["WeightedRows", "WeightedRows"]:
        """Splits off this share of the rows at random, for validation; by_target: of each target, rounded down."""
        order = np.random.default_rng(seed).permutation(len(self.target))
        group = np.unique(self.target, return_inverse=True)[1] if by_target else np.zeros(len(order), np.int64)
        counts = np.bincount(group)
        order = order[np.argsort(group[order], kind="stable")]  # by group, shuffled within each
        rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        held_out = np.zeros(len(order), bool)
        held_out[order[rank < np.repeat(counts * share, counts).astype(np.int64)]] = True
        return self[~held_out], self[held_out]

    def sample(self, count: int, seed: int) -> "WeightedRows":
        """So many rows at random, or all."""
        if len(self) <= count:
            return self
        chosen = np.zeros(len(self), bool)
        chosen[np.random.default_rng(seed).permutation(len(self))[:count]] = True
        return self[chosen]

    def __getitem__(self, rows: npt.NDArray[np.bool_]) -> "WeightedRows":
        return WeightedRows(self.words[rows], self.target[rows], self.weight[rows])

    def __len__(self) -> int:
        return len(self.target)

    def rows(self, features: int) -> Rows:
        """The rows for training: y [rows, 2] holds the target and the weight, which is 1 on average."""
        weight = self.weight / self.weight.mean()
        y = np.column_stack([self.target, weight])
        return Rows(Bits.from_numpy(np.ascontiguousarray(self.words), features), torch.from_numpy(y))
