"""Augmentation of packed images: each image of a training batch is mirrored, moved, partly covered and made noisy.

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
from hardwire.errors import HardwireError, shown, whole_number

Words: TypeAlias = NDArray[np.uint64]  # [rows, words]
Steps: TypeAlias = NDArray[np.int64]  # [rows]
WORD = 64
_SHARE_DIGITS = 8  # binary digits of the share of inverted bits


@dataclass(frozen=True, eq=False, repr=False)
class Augmented(Split):
    """A split of packed images whose batches are augmented.

    shape: (channels, height, width) of the raw values, each `levels` bits. flip: mirror half of the images. shift:
    move each image by up to this many pixels in both directions, repeating the border. cutout: set a square of so many
    pixels a side to 0, at a random place, where it may reach beyond the border. noise: invert this share of the bits.
    """

    shape: tuple[int, int, int] = (1, 1, 1)
    levels: int = 1
    flip: bool = False
    shift: int = 0
    cutout: int = 0
    noise: float = 0.0
    seed: int = 0

    @property
    def augmentation(self) -> dict[str, Any]:
        """What a checkpoint records to tell this run from one without augmentation."""
        return {name: getattr(self, name) for name in ("flip", "shift", "cutout", "noise", "seed")}

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
        if self.cutout:
            self._cover(words, rng)
        if self.noise:
            words ^= _random_bits(words.shape, self.noise, rng) & self._masks[0]
        return Bits.from_numpy(words, x.features), y

    def _shift(self, words: Words, rng: np.random.Generator) -> None:
        """Moves the images, rows of words, by a random number of pixels in both directions."""
        down, right = (rng.integers(0, 2 * self.shift + 1, len(words)) - self.shift for _ in range(2))
        every, first_row, last_row, first_column, last_column = self._masks
        _move(words, down, self.shape[2] * self.levels, every, first_row, last_row)
        _move(words, right, self.levels, every, first_column, last_column)

    def _cover(self, words: Words, rng: np.random.Generator) -> None:
        """Sets a square of each image to 0; its centre is anywhere in the image."""
        covered = self._masks[0]
        for size, before in zip(self.shape[1:], self._before, strict=True):
            first = rng.integers(0, size, len(words)) - self.cutout // 2
            covered = covered & before[np.clip(first + self.cutout, 0, size)] & ~before[np.clip(first, 0, size)]
        words &= ~covered

    @functools.cached_property
    def _before(self) -> tuple[Words, Words]:
        """For each number from 0 to the height, the bits of so many rows from the top; the same of columns."""
        height, width = self.shape[1:]
        rows = [self._mask(slice(0, count)) for count in range(height + 1)]
        columns = [self._mask(slice(None), slice(0, count)) for count in range(width + 1)]
        return np.concatenate(rows), np.concatenate(columns)

    @functools.cached_property
    def _masks(self) -> tuple[Words, ...]:
        """The bits of an image, and those of its first and last rows and columns, as words."""
        rest = slice(None)
        return self._mask(), self._mask(0), self._mask(-1), self._mask(rest, 0), self._mask(rest, -1)

    def _mask(self, *place: slice | int) -> Words:
        """The bits of the pixels at a place of all channels, as words."""
        pixels = np.zeros((*self.shape, self.levels), np.uint8)
        pixels[(slice(None), *place)] = 1
        return pack(pixels.reshape(1, -1))


def augment(
    data: Dataset, flip: bool = False, shift: int = 0, seed: int = 0, *, cutout: int = 0, noise: float = 0.0
) -> Dataset:
    """Augments the training batches of a dataset of images; the other splits stay as they are.

    Args:
        data: A dataset of packed images with a known shape.
        flip: Mirror half of the images, left to right.
        shift: Move each image by up to this many pixels, vertically and horizontally.
        seed: Seed of the random choices.
        cutout: Set a square of this many pixels a side to 0, at a random place of each image.
        noise: Invert this share of the bits, below 0.5, in steps of 1/256.

    Returns:
        The same dataset with another training split.

    Raises:
        HardwireError: If the dataset holds no packed images, or an argument is out of range.

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
    cutout = whole_number("cutout", cutout, least=0)
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise < 0.5:
        raise HardwireError(f"noise is {shown(noise)}; it is the share of bits to invert, from 0 to below 0.5")
    if noise and round(noise * 2**_SHARE_DIGITS) == 0:
        raise HardwireError(f"noise {noise} is less than half of its smallest step, 1/256; use 0.004 or more")
    if data.image_shape is None or data.encoder is None or not isinstance(data.train.x, Bits):
        raise HardwireError(f"{data.name} holds no packed images with a known shape; only those can be augmented")
    height, width = data.image_shape[-2:]
    channels = data.encoder.raw_features // (height * width)
    if shift >= min(height, width):
        raise HardwireError(f"a shift of {shift} moves an image of {height} x {width} out of sight; use less")
    if cutout >= max(height, width):
        raise HardwireError(f"a cutout of {cutout} covers a whole image of {height} x {width}; use less")
    split = Augmented(
        data.train.x,
        data.train.y,
        (channels, height, width),
        data.encoder.levels,
        flip,
        shift,
        cutout,
        float(noise),
        seed,
    )
    return replace(data, train=split)


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


def _random_bits(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> Words:
    """Words of which each bit is 1 with a probability of `share`, in steps of 1/256.

    With r a random bit, (bits | r) and (bits & r) take a probability p to (1 + p) / 2 and p / 2: one digit of it.
    """
    digits, bits = round(share * 2**_SHARE_DIGITS), np.zeros(shape, np.uint64)
    for digit in range(_SHARE_DIGITS):
        random = rng.integers(0, 2**WORD, shape, np.uint64, endpoint=False)
        bits = bits | random if digits >> digit & 1 else bits & random
    return bits


def _generator(seed: int, indices: Indices) -> np.random.Generator:
    """A random generator seeded by the seed and the row numbers of a batch."""
    rows = indices.numpy() if isinstance(indices, torch.Tensor) else np.atleast_1d(np.asarray(indices))
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=16, key=seed.to_bytes(8, "little")).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
