"""Damaged files for fuzz tests; HARDWIRE_FUZZ sets how many each test makes, HARDWIRE_FUZZ_TOOLS how many for tools."""

import os
from collections.abc import Iterator

import numpy as np

MUTATIONS = int(os.environ.get("HARDWIRE_FUZZ", "600"))
TOOL_MUTATIONS = int(os.environ.get("HARDWIRE_FUZZ_TOOLS", "15"))


def mutations(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Bytes changed, bits flipped, pieces cut out, repeated, moved or replaced by numbers that are too large."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(int(generator.integers(1, 4))):
            at = int(generator.integers(0, len(changed) + 1))
            end = min(len(changed), at + int(generator.integers(1, 12)))
            kind = generator.integers(0, 6 if generator.integers(0, 8) == 0 else 5)
            if kind == 0 and at < len(changed):
                changed[at] ^= 1 << int(generator.integers(0, 8))
            elif kind == 1 and at < len(changed):
                changed[at] = int(generator.integers(0, 256))
            elif kind == 2:
                del changed[at:end]
            elif kind == 3:
                changed[at:at] = changed[at:end]
            elif kind == 4:
                changed[at:at] = str(int(10.0 ** generator.integers(0, 30))).encode()
            else:
                changed = changed[:at]
        if changed != content:
            yield bytes(changed)
