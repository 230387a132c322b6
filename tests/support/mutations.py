"""Damaged and hostile content for fuzz tests: bytes, words of a text, and values in nested data.

HARDWIRE_FUZZ sets how many files each test makes, HARDWIRE_FUZZ_TOOLS how many where each one starts another program.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

MUTATIONS = int(os.environ.get("HARDWIRE_FUZZ", "200"))
TOOL_MUTATIONS = int(os.environ.get("HARDWIRE_FUZZ_TOOLS", "15"))

HOSTILE_NUMBERS = [
    0, 1, -1, 2, 3, 7, 16, 255, 256, 65_535, 2**20, 2**24, 2**27, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53,
    2**63 - 1, 2**63, 2**64, 10**12, 10**18, 10**39, 10**300, 10**5000, 0.5, -0.5, 1e-45, 1e-300, 1e38, 1e39, 1e308,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
HOSTILE = [
    *HOSTILE_NUMBERS, None, True, False, "", "0", "a", "../../x", "\x00", "\u202e", "x" * 3000, "<script>", "é\n\r",
    [], {}, [1], [1, 2, 3], ["a"], [[]], [None], {"a": 1}, {"": []}, [10**30], [2**31] * 3, ["logic"] * 5,
]  # fmt: skip


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


def flipped_bits(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """The content with one bit flipped, at `count` different places, or at all if it has no more."""
    for place in np.random.default_rng(seed).permutation(8 * len(content))[:count].tolist():
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        yield bytes(changed)


def mutated_value(value: Any, rng: np.random.Generator) -> Any:
    """A copy of nested dicts and lists with one entry, anywhere in it, replaced, removed, renamed or repeated."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[int(rng.integers(len(value)))]
        action = rng.integers(12)
        if action == 0:
            return {name: entry for name, entry in value.items() if name != key}
        if action == 1:
            return {f"{name}x" if name == key else name: entry for name, entry in value.items()}
        if action == 2:
            return value | {str(rng.choice(["", "a", "x" * 999, "seed", "kind"])): hostile(rng)}
        return value | {key: mutated_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, action = int(rng.integers(len(value))), rng.integers(12)
        if action == 0:
            return value[:at] + value[at + 1 :]
        if action == 1:
            return value + [value[at]] * int(rng.choice([1, 2, 50]))
        if action == 2:
            return value[::-1]
        return [*value[:at], mutated_value(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.3:
        return value + int(rng.choice([-2, -1, 1, 2, 10]))
    if rng.random() < 0.05:
        return _nested(value, int(rng.choice([3, 30, 70, 150])))
    return hostile(rng)


def hostile(rng: np.random.Generator) -> Any:
    """A value that somebody may not have thought of."""
    return HOSTILE[int(rng.integers(len(HOSTILE)))]


def _nested(value: Any, depth: int) -> Any:
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def dump_json(value: Any) -> str:
    """JSON of any value, whole numbers of thousands of digits included."""
    return re.sub(r'"@(-?\d+)@"', r"\1", json.dumps(_mark_large(value)))


def _mark_large(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _mark_large(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_mark_large(entry) for entry in value]
    if isinstance(value, int) and abs(value) > 2**64:
        return f"@{digits(value)}@"
    return value


def digits(number: int) -> str:
    """A whole number in decimal. Beyond 4,300 digits str() refuses; ours are powers of ten, or close to them."""
    sign, number = ("-", -number) if number < 0 else ("", number)
    text = ""
    while number:
        number, low = divmod(number, 10**4000)
        text = (str(low).zfill(4000) if number else str(low)) + text
    return sign + (text or "0")


_TOKEN = re.compile(rb"\d+|\w+|[^\w\s]")


def token_mutations(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Text with one or two of its words, numbers or signs replaced by others or by hostile numbers, or lines moved."""
    rng = np.random.default_rng(seed)
    tokens = [match.span() for match in _TOKEN.finditer(content)]
    lines = content.splitlines(keepends=True)
    for _ in range(count):
        if rng.random() < 0.15:
            order = rng.permutation(len(lines)) if rng.random() < 0.3 else np.arange(len(lines))
            at = int(rng.integers(len(lines)))
            picked = [lines[i] for i in order]
            yield b"".join(picked[:at] + picked[at:] * int(rng.choice([0, 1, 2])))
            continue
        changed = bytearray(content)
        for start, end in sorted(
            (tokens[i] for i in rng.integers(len(tokens), size=int(rng.integers(1, 3)))), reverse=True
        ):
            low, high = tokens[int(rng.integers(len(tokens)))]
            number = HOSTILE_NUMBERS[int(rng.integers(len(HOSTILE_NUMBERS)))]
            new = (
                content[low:high]
                if rng.random() < 0.5
                else (digits(number) if isinstance(number, int) else str(number)).encode()
            )
            changed[start:end] = new
        yield bytes(changed)
