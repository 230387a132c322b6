"""Augmentation of packed images: every training batch comes out flipped and shifted, each image in its own way.

Measurements read `x` and see the images as they are; only `batch`, which training calls, changes them. Surprising:
chance is a function of the batch's row numbers and the seed, so that a resumed run sees the same images without any
state.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hardwire.bits import Bits, pack, unpack
from hardwire.data.dataset import Dataset, Indices, Split
from hardwire.errors import HardwireError, whole_number

Images: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, eq=False, repr=False)
class Augmented(Split):
    """A split of packed images whose batches are changed.

    shape: (channels, height, width) of the raw values, each `levels` bits. flip: mirror half of them. shift: move each
    by up to so many pixels in both directions, the border repeated.
    """

    shape: tuple[int, int, int] = (1, 1, 1)
    levels: int = 1
    flip: bool = False
    shift: int = 0
    seed: int = 0

    @property
    def augmentation(self) -> dict[str, Any]:
        """What tells a run with it from one without."""
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

    def _shifted(self, images: Images, rng: np.random.Generator) -> Images:
        """Each image cut out of itself with a wider border, at a place of its own."""
        _, height, width = self.shape
        down, right = (rng.integers(0, 2 * self.shift + 1, len(images)) for _ in range(2))
        ring = (self.shift, self.shift)
        wide = np.pad(images, ((0, 0), (0, 0), ring, ring, (0, 0)), mode="edge")
        # rows of pixels with all their levels, so that a cut copies whole rows
        lines = wide.reshape(*wide.shape[:3], -1)
        cuts = sliding_window_view(lines, (height, width * self.levels), axis=(2, 3))
        moved: Images = cuts[np.arange(len(images)), :, down, right * self.levels]
        return moved.reshape(images.shape)


def augment(data: Dataset, flip: bool = False, shift: int = 0, seed: int = 0) -> Dataset:
    """The dataset with a training split whose batches are flipped and shifted images; the other splits stay as they
    are.
    """
    shift = whole_number("shift", shift, least=0)
    if data.image_shape is None or data.encoder is None or not isinstance(data.train.x, Bits):
        raise HardwireError(f"{data.name} holds no packed images with a known shape; augmentation is for those")
    height, width = data.image_shape[-2:]
    channels = data.encoder.raw_features // (height * width)
    if shift >= min(height, width):
        raise HardwireError(f"a shift of {shift} moves an image of {height} x {width} out of sight; use less")
    shape = (channels, height, width)
    return replace(data, train=Augmented(data.train.x, data.train.y, shape, data.encoder.levels, flip, shift, seed))


def _generator(seed: int, indices: Indices) -> np.random.Generator:
    """Chance by the seed and the rows of a batch."""
    rows = indices.numpy() if isinstance(indices, torch.Tensor) else np.atleast_1d(np.asarray(indices))
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=16, key=seed.to_bytes(8, "little")).digest()
    return np.random.default_rng(np.frombuffer(digest, np.uint32))
