"""Shapes and positions, for layers over images."""

import numpy as np
from numpy.typing import NDArray

from hardwire.errors import HardwireError, whole_number
from hardwire.layers.size import MOST_INPUTS


def image_shape(shape: object) -> tuple[int, int, int]:
    """(channels, height, width) as three whole numbers."""
    if not isinstance(shape, tuple | list) or len(shape) != 3:
        raise HardwireError(f"an image has the shape (channels, height, width), not {shape!r}")
    names = ("channels", "height", "width")
    channels, height, width = (whole_number(name, n) for name, n in zip(names, shape, strict=True))
    if channels * height * width > MOST_INPUTS:
        raise HardwireError(f"an image of {channels} x {height} x {width} has more than {MOST_INPUTS:,} values")
    return channels, height, width


def grid(
    shape: tuple[int, ...], stride: int, start: int = 0, stop: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The upper left corner of every position of (channels, rows, columns), row by row: two arrays [positions].

    With `start` and `stop` only of these positions.
    """
    _, rows, columns = shape
    positions = np.arange(start, rows * columns if stop is None else min(stop, rows * columns), dtype=np.int32)
    top, left = np.divmod(positions, np.int32(columns))
    return top * np.int32(stride), left * np.int32(stride)
