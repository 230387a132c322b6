"""Augmentation of packed images: each image of a training batch is flipped and shifted at random.

Measurements read `x` and see the original images; only `batch`, which training calls, changes them. Surprising: the
random numbers are a function of the seed and the row numbers of the batch, so a resumed run sees the same images and
needs no saved generator.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hardwire.bits import Bits, pack, unpack
from hardwire.data.dataset import Dataset
from hardwire.data.rows import Indices, Split
from hardwire.errors import HardwireError, whole_number

PixelBits: TypeAlias = NDArray[np.uint8]  # [rows, channels, height, width, levels]


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
        images = unpack(x.numpy(), x.features).reshape(len(x), *self.shape, self.levels)
        moved = self._shifted(images, rng) if self.shift else images
        if self.flip:
            mirrored = rng.random(len(x)) < 0.5
            moved[mirrored] = moved[mirrored][:, :, :, ::-1]
        return Bits.from_numpy(pack(moved.reshape(len(x), -1)), x.features), y

    def _shifted(self, images: PixelBits, rng: np.random.Generator) -> PixelBits:
        """Cuts each image out of a copy of itself with a wider border, at a random position."""
        _, height, width = self.shape
        down, right = (rng.integers(0, 2 * self.shift + 1, len(images)) for _ in range(2))
        ring = (self.shift, self.shift)
        wide = np.pad(images, ((0, 0), (0, 0), ring, ring, (0, 0)), mode="edge")
        # rows of pixels with all their levels, so that a cut copies whole rows
        lines = wide.reshape(*wide.shape[:3], -1)
        cuts = sliding_window_view(lines, (height, width * self.levels), axis=(2, 3))
        moved: PixelBits = cuts[np.arange(len(images)), :, down, right * self.levels]
        return moved.reshape(images.shape)


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


def _generator(seed: int, indices: Indices) -> np.random.Generator:
    """A random generator seeded by the seed and the row numbers of a batch."""
    rows = indices.numpy() if isinstance(indices, torch.Tensor) else np.atleast_1d(np.asarray(indices))
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=16, key=seed.to_bytes(8, "little")).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
