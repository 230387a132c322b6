"""`Bits`: a packed Boolean matrix for torch, the input format of binary datasets.

A feature takes one bit instead of four bytes, so CIFAR-10-Binary with 95,232 bits per image fits in memory. Surprising:
the words are int64, because torch has no arithmetic on uint64; read them as 64 bits without a sign.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data._utils.collate import default_collate_fn_map  # as torch's docs say for own types

from hardwire.bits import words as packing
from hardwire.errors import HardwireError, check_holds_values


class Bits:
    """A packed Boolean matrix [rows, features]; feature j of a row is bit j % 64 of word j // 64.

    Networks take it as input, DataLoaders collate it, and indexing it gives rows.

    Args:
        words: int64 [rows, ceil(features / 64)], with padding bits zero.
        features: The number of columns.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> bits = hw.Bits.pack(torch.tensor([[1, 0, 1], [0, 1, 1]]))
        >>> bits
        Bits(rows=2, features=3, device=cpu)
        >>> bits[1].unpack()
        tensor([[0., 1., 1.]])
    """

    __slots__ = ("features", "words")

    def __init__(self, words: torch.Tensor, features: int):
        if words.dtype != torch.int64 or words.ndim != 2 or words.shape[1] != packing.word_count(features):
            raise HardwireError(
                f"packed rows of {features} bits are int64 [rows, {packing.word_count(features)}], "
                f"not {words.dtype} {list(words.shape)}"
            )
        self.words = words
        self.features = features

    @classmethod
    def pack(cls, x: Any) -> "Bits":
        """Packs rows of 0 and 1.

        Args:
            x: Tensor or array [rows, features] of 0 and 1, or of False and True, of any dtype.
        """
        x = torch.as_tensor(x)
        if x.ndim != 2:
            raise HardwireError(f"Bits.pack takes a matrix [rows, features], not shape {list(x.shape)}")
        check_holds_values("the rows", x)
        if x.dtype != torch.bool:
            if not ((x == 0) | (x == 1)).all():
                raise HardwireError("Bits.pack takes only 0 and 1; threshold the values first, for example x > 0.5")
            x = x != 0
        return cls.from_numpy(packing.pack(x.cpu().numpy()), x.shape[1]).to(x.device)

    @classmethod
    def from_numpy(cls, words: np.ndarray, features: int) -> "Bits":
        """Wraps packed words without a copy.

        Args:
            words: uint64 [rows, ceil(features / 64)], with padding bits zero.
            features: The number of columns.
        """
        packing.check_words(words, features)
        return cls(torch.from_numpy(words.view(np.int64)), features)

    def numpy(self) -> np.ndarray:
        """The words as uint64 [rows, ceil(features / 64)]; on the CPU without a copy."""
        return self.words.cpu().numpy().view(np.uint64)

    def unpack(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Returns a tensor [rows, features] of 0 and 1.

        Args:
            dtype: Its type.
        """
        if self.words.device.type == "cpu":
            return torch.from_numpy(packing.unpack(self.numpy(), self.features)).to(dtype)
        return _unpack_by_shifts(self.words, self.features).to(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, features)."""
        return (self.words.shape[0], self.features)

    @property
    def device(self) -> torch.device:
        """The device of the words."""
        return self.words.device

    @property
    def nbytes(self) -> int:
        """How many bytes the words take."""
        return self.words.nbytes

    def to(self, device: torch.device | str | int) -> "Bits":
        """Returns the same rows on another device.

        Args:
            device: A torch device, such as "cuda".
        """
        return Bits(self.words.to(device), self.features)

    def __len__(self) -> int:
        return self.words.shape[0]

    def __getitem__(self, rows: Any) -> "Bits":
        """Selects rows by an int, a slice, a list, or a tensor of indices or booleans; always two-dimensional."""
        if isinstance(rows, tuple):
            raise HardwireError("Bits are indexed by rows only; unpack() them to reach single features")
        words = self.words[rows]
        return Bits(words.unsqueeze(0) if words.ndim == 1 else words, self.features)

    def __repr__(self) -> str:
        return f"Bits(rows={len(self)}, features={self.features}, device={self.device})"


def _collate(batch: Sequence[Bits], *, collate_fn_map: object = None) -> Bits:
    """The samples of a DataLoader as one matrix."""
    return Bits(torch.cat([bits.words for bits in batch]), batch[0].features)


default_collate_fn_map[Bits] = _collate


def _unpack_by_shifts(words: torch.Tensor, features: int) -> torch.Tensor:
    """Words on any device -> int64 [rows, features] of 0 and 1."""
    bits = (words.unsqueeze(-1) >> torch.arange(64, device=words.device)) & 1
    return bits.flatten(1)[:, :features]
