"""Seeds and streams: every random tensor is drawn from its own stream, identified by a seed and a path.

The path says what the numbers are for, such as "logic.wire_logits". Seed and path are hashed (BLAKE2b, 128 bits) into
the key of a counter-based generator (Philox4x64-10), so two streams have nothing in common, however close their seeds
and however similar their paths. Modules that create other modules derive a seed for each with `child_seed`. Gumbel
noise has its own counters, in `hardwire.noise`.
"""

import hashlib
from numbers import Integral

import numpy as np
import torch

from hardwire.errors import HardwireError

SEED_BITS = 63  # what an int64 tensor of a saved state holds


def generator(seed: int, path: str) -> np.random.Generator:
    """A generator of the random numbers for one purpose.

    Args:
        seed: A whole number of at least 0, of any size.
        path: What the numbers are for. Each purpose has its own.

    Returns:
        A numpy generator at the start of the stream of this seed and path.

    Example:
        >>> from hardwire.randomness import generator
        >>> first = generator(0, "logic.logits").random(3)
        >>> (first == generator(0, "logic.logits").random(3)).all()
        np.True_
        >>> (first == generator(0, "logic.wire_logits").random(3)).any()
        np.False_
    """
    return np.random.Generator(np.random.Philox(key=_digest(seed, path, b"stream", 16)))


def normal(seed: int, path: str, *shape: int) -> torch.Tensor:
    """Standard normal numbers, float32 of this shape, from the stream of this seed and path."""
    return torch.from_numpy(generator(seed, path).standard_normal(shape, np.float32))


def child_seed(seed: int, path: str) -> int:
    """Derives the seed of a part: 63 bits that depend on every bit of the seed and of the path.

    Args:
        seed: The seed of the whole.
        path: The position of the part in the whole, such as "layers.3".

    Returns:
        A whole number below 2**63.

    Example:
        >>> from hardwire.randomness import child_seed
        >>> child_seed(0, "layers.0") == child_seed(0, "layers.1")
        False
    """
    return _digest(seed, path, b"seed", 8) >> (64 - SEED_BITS)


def check_seed(seed: int | None) -> int:
    """Returns the seed, or for None a new one from torch's generator, so that torch.manual_seed applies."""
    if seed is None:
        return int(torch.randint(2**SEED_BITS - 1, (), device="cpu").item())
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**SEED_BITS:
        raise HardwireError(f"seed {seed!r} is not a whole number from 0 to 2**{SEED_BITS} - 1")
    return int(seed)


def _digest(seed: int, path: str, purpose: bytes, size: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise HardwireError(f"seed {seed!r} is not a whole number of at least 0")
    # digits, then a space: no two pairs of seed and path give the same text
    text = f"{int(seed)} {path}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=size, person=purpose).digest(), "little")
