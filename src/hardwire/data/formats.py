"""The two file formats of the named datasets: IDX (MNIST and similar) and the binary batches of CIFAR-10.

Both functions get the whole content of a file, so the bytes they parse are the bytes whose checksum was verified.
Surprising: IDX is big-endian, but its values here are bytes, so only the header needs care.
"""

import math
import struct

import numpy as np

from hardwire.errors import HardwireError

CIFAR_PIXELS = 3 * 32 * 32
_IDX_BYTES = 0x08  # the type code of unsigned bytes, the only one in use


def parse_idx(content: bytes) -> np.ndarray:
    """Parses an IDX file of bytes into uint8 [rows] (labels) or [rows, 28, 28] (images), as its header says."""
    if len(content) < 4 or content[:3] != bytes([0, 0, _IDX_BYTES]) or len(content) < 4 + 4 * content[3]:
        raise HardwireError(f"not an IDX file of bytes: it starts with {content[:4].hex() or 'nothing'}")
    axes = content[3]
    shape = struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes])
    if len(content) != 4 + 4 * axes + math.prod(shape):
        raise HardwireError(f"this IDX file promises the shape {list(shape)}, but it has {len(content)} bytes")
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def parse_cifar(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Parses a CIFAR-10 batch into images uint8 [rows, 3072] (red, green, blue plane by row), labels uint8 [rows]."""
    if len(content) % (1 + CIFAR_PIXELS):
        raise HardwireError(
            f"the size of a CIFAR-10 batch is a multiple of {1 + CIFAR_PIXELS} bytes; this file has {len(content)}"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + CIFAR_PIXELS)
    return records[:, 1:], records[:, 0]
