"""`Bits`: a packed Boolean matrix as a torch citizen, the input format of binary datasets.

One bit per feature instead of four bytes: CIFAR-10-Binary, 95,232 bits an image, fits in memory. Surprising: the words
are int64 because torch has no arithmetic on uint64; read them as 64 bits without a sign.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data._utils.collate import default_collate_fn_map  # where torch's docs say to add types of one's own

from hardwire.bits import words as packing
from hardwire.errors import HardwireError


class Bits:
    """A Boolean matrix [rows, features]; feature j of a row is bit j % 64 of word j // 64.

    words: int64 [rows, ceil(features / 64)], padding bits zero.
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
        """From a tensor or array [rows, features] of 0 and 1 (or False and True), of any dtype."""
        x = torch.as_tensor(x)
        if x.ndim != 2:
            raise HardwireError(f"Bits.pack takes a matrix [rows, features], not shape {list(x.shape)}")
        if x.dtype != torch.bool:
            if not ((x == 0) | (x == 1)).all():
                raise HardwireError("Bits.pack takes only 0 and 1; threshold the values first, for example x > 0.5")
            x = x != 0
        return cls.from_numpy(packing.pack(x.cpu().numpy()), x.shape[1]).to(x.device)

    @classmethod
    def from_numpy(cls, words: np.ndarray, features: int) -> "Bits":
        """Takes packed uint64 words without a copy."""
        packing.check_words(words, features)
        return cls(torch.from_numpy(words.view(np.int64)), features)

    def numpy(self) -> np.ndarray:
        """The words as uint64 [rows, ceil(features / 64)], without a copy where they are on the CPU."""
        return self.words.cpu().numpy().view(np.uint64)

    def unpack(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """[rows, features] of 0 and 1."""
        if self.words.device.type == "cpu":
            return torch.from_numpy(packing.unpack(self.numpy(), self.features)).to(dtype)
        return _unpack_by_shifts(self.words, self.features).to(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.words.shape[0], self.features)

    @property
    def device(self) -> torch.device:
        return self.words.device

    @property
    def nbytes(self) -> int:
        return self.words.nbytes

    def to(self, device: torch.device | str | int) -> "Bits":
        return Bits(self.words.to(device), self.features)

    def __len__(self) -> int:
        return self.words.shape[0]

    def __getitem__(self, rows: Any) -> "Bits":
        """The chosen rows: an int, a slice, a list, or a tensor of indices or booleans. Always two-dimensional."""
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
