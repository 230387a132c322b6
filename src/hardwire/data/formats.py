"""The two file formats of the named datasets: IDX (MNIST and its kin) and the binary batches of CIFAR-10.

Both functions take the whole content of a file, so that the bytes that are parsed are the bytes whose checksum was
compared. Surprising: an IDX file is big-endian, but its values here are bytes, so only the header needs care.
"""

import math
import struct

import numpy as np

from hardwire.errors import HardwireError

CIFAR_PIXELS = 3 * 32 * 32
_IDX_BYTES = 0x08  # the type code of unsigned bytes, the only one in use


def parse_idx(content: bytes) -> np.ndarray:
    """An IDX file of bytes -> uint8 of the shape its header gives: [rows] for labels, [rows, 28, 28] for images."""
    if len(content) < 4 or content[:3] != bytes([0, 0, _IDX_BYTES]) or len(content) < 4 + 4 * content[3]:
        raise HardwireError(f"not an IDX file of bytes: it starts with {content[:4].hex() or 'nothing'}")
    axes = content[3]
    shape = struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes])
    if len(content) != 4 + 4 * axes + math.prod(shape):
        raise HardwireError(f"this IDX file promises the shape {list(shape)} but its length is {len(content)} bytes")
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def parse_cifar(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """A CIFAR-10 binary batch -> images uint8 [rows, 3072] (red, green, blue plane by row), labels uint8 [rows]."""
    if len(content) % (1 + CIFAR_PIXELS):
        raise HardwireError(
            f"a CIFAR-10 batch is a multiple of {1 + CIFAR_PIXELS} bytes long, this file has {len(content)}"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + CIFAR_PIXELS)
    return records[:, 1:], records[:, 0]
