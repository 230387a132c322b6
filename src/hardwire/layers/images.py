"""What layers over images share: shapes and positions."""

import numpy as np
from numpy.typing import NDArray

from hardwire.errors import HardwireError, whole_number


def image_shape(shape: object) -> tuple[int, int, int]:
    """(channels, height, width) as three whole numbers."""
    if not isinstance(shape, tuple | list) or len(shape) != 3:
        raise HardwireError(f"an image has the shape (channels, height, width), not {shape!r}")
    names = ("channels", "height", "width")
    channels, height, width = (whole_number(name, n) for name, n in zip(names, shape, strict=True))
    return channels, height, width


def grid(shape: tuple[int, ...], stride: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The upper left corner of every position of (channels, rows, columns), row by row: two arrays [positions]."""
    _, rows, columns = shape
    top, left = np.divmod(np.arange(rows * columns), columns)
    return top * stride, left * stride
