"""Augmentation of packed images: each image of a training batch is flipped and shifted at random.

Measurements read `x` and see the original images; only `batch`, which training calls, changes them. Surprising: the
random numbers are a function of the seed and the row numbers of the batch, so a resumed run sees the same images and
needs no saved generator.
"""

import functools
import hashlib
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.bits import Bits, pack, unpack
from hardwire.data.dataset import Dataset
from hardwire.data.rows import Indices, Split
from hardwire.errors import HardwireError, whole_number

Words: TypeAlias = NDArray[np.uint64]  # [rows, words]
Steps: TypeAlias = NDArray[np.int64]  # [rows]
WORD = 64


@dataclass(frozen=True, eq=False, repr=False)
class Augmented(Split):
    """A split of packed images whose batches are augmented.

    shape: (channels, height, width) of the raw values, each `levels` bits. flip: mirror half of the images. shift:
    move each image by up to this many pixels in both directions, repeating the border.
    """

    shape: tuple[int, int, int] = (1, 1, 1)
    levels: int = 1
    flip: bool = False
    shift: int = 0
    seed: int = 0

    @property
    def augmentation(self) -> dict[str, Any]:
        """What a checkpoint records to tell this run from one without augmentation."""
        return {"flip": self.flip, "shift": self.shift, "seed": self.seed}

    def batch(self, indices: Indices) -> tuple[Bits | torch.Tensor, torch.Tensor]:
        x, y = super().batch(indices)
        assert isinstance(x, Bits)
        rng = _generator(self.seed, indices)
        words = x.numpy().copy()
        if self.shift:
            self._shift(words, rng)
        if self.flip:
            mirrored = rng.random(len(x)) < 0.5
            images = unpack(words[mirrored], x.features).reshape(-1, *self.shape, self.levels)
            words[mirrored] = pack(images[:, :, :, ::-1].reshape(len(images), x.features))
        return Bits.from_numpy(words, x.features), y

    def _shift(self, words: Words, rng: np.random.Generator) -> None:
        """Moves the images, rows of words, by a random number of pixels in both directions."""
        down, right = (rng.integers(0, 2 * self.shift + 1, len(words)) - self.shift for _ in range(2))
        every, first_row, last_row, first_column, last_column = self._masks
        _move(words, down, self.shape[2] * self.levels, every, first_row, last_row)
        _move(words, right, self.levels, every, first_column, last_column)

    @functools.cached_property
    def _masks(self) -> tuple[Words, ...]:
        """The bits of an image, and those of its first and last rows and columns, as words."""

        def mask(*place: slice | int) -> Words:
            pixels = np.zeros((*self.shape, self.levels), np.uint8)
            pixels[(slice(None), *place)] = 1
            return pack(pixels.reshape(1, -1))

        rest = slice(None)
        return mask(), mask(0), mask(-1), mask(rest, 0), mask(rest, -1)


def augment(data: Dataset, flip: bool = False, shift: int = 0, seed: int = 0) -> Dataset:
    """Augments the training batches of a dataset of images; the other splits stay as they are.

    Args:
        data: A dataset of packed images with a known shape.
        flip: Mirror half of the images, left to right.
        shift: Move each image by up to this many pixels, vertically and horizontally.
        seed: Seed of the random choices.

    Returns:
        The same dataset with another training split.

    Raises:
        HardwireError: If the dataset holds no packed images, or the shift is as large as the image.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.augment(hw.data.load("digits"), shift=1)
        >>> x, y = data.train.batch([0, 1, 2])
        >>> len(x)
        3
    """
    shift, seed = whole_number("shift", shift, least=0), whole_number("seed", seed, least=0)
    if seed >= 2**64:
        raise HardwireError(f"seed {seed} is too large; use one below 2**64")
    if data.image_shape is None or data.encoder is None or not isinstance(data.train.x, Bits):
        raise HardwireError(f"{data.name} holds no packed images with a known shape; only those can be augmented")
    height, width = data.image_shape[-2:]
    channels = data.encoder.raw_features // (height * width)
    if shift >= min(height, width):
        raise HardwireError(f"a shift of {shift} moves an image of {height} x {width} out of sight; use less")
    shape = (channels, height, width)
    return replace(data, train=Augmented(data.train.x, data.train.y, shape, data.encoder.levels, flip, shift, seed))


def _move(words: Words, steps: Steps, stride: int, every: Words, first: Words, last: Words) -> None:
    """Moves images in place, pixel by pixel, so that place p shows what was `steps` further on; the border repeats.

    stride: bits from a pixel to the next one in this direction. first, last: the pixels where the border lies.
    """
    for done in range(int(np.abs(steps).max(initial=0))):
        for sign, border in ((1, last), (-1, first)):
            rows = np.flatnonzero(sign * steps > done)
            own = words[rows]
            words[rows] = (_shift_bits(own, sign * stride) & (every ^ border)) | (own & border)


def _shift_bits(words: Words, places: int) -> Words:
    """Rows of bits in which bit i is what bit i + places was, or 0 where there is none."""
    whole, rest = divmod(abs(places), WORD)
    out = np.zeros_like(words)
    count = max(0, words.shape[1] - whole)
    here, there = np.uint64(rest), np.uint64(WORD - rest)
    if places > 0:
        out[:, :count] = words[:, whole:] >> here
        if rest:
            out[:, : max(0, count - 1)] |= words[:, whole + 1 :] << there
    else:
        out[:, whole:] = words[:, :count] << here
        if rest:
            out[:, whole + 1 :] |= words[:, : max(0, count - 1)] >> there
    return out


def _generator(seed: int, indices: Indices) -> np.random.Generator:
    """A random generator seeded by the seed and the row numbers of a batch."""
    rows = indices.numpy() if isinstance(indices, torch.Tensor) else np.atleast_1d(np.asarray(indices))
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=16, key=seed.to_bytes(8, "little")).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
