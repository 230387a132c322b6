"""Packed Boolean matrices as numpy words.

A row of `features` bits is `word_count(features)` unsigned 64-bit words: feature j is bit j % 64 of word j // 64, and
padding bits are zero. This package does not need torch, so that a circuit can run where torch is not installed. Each
function uses the native module where it was built, and numpy otherwise.
"""

import numpy as np

from hardwire.build import native as _native
from hardwire.errors import HardwireError


def word_count(features: int) -> int:
    """How many 64-bit words hold `features` bits."""
    return (features + 63) // 64


def check_words(words: np.ndarray, features: int) -> None:
    """Raises HardwireError unless `words` is a well-formed packed matrix of `features` columns."""
    if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != word_count(features):
        raise HardwireError(
            f"packed rows of {features} bits are uint64 [rows, {word_count(features)}], "
            f"not {words.dtype} {list(words.shape)}"
        )
    if features % 64 and words.size and (words[:, -1] >> np.uint64(features % 64)).any():
        raise HardwireError(f"the padding bits past feature {features} must be zero")


def pack(x: np.ndarray) -> np.ndarray:
    """[rows, features] of bool or integers (nonzero is 1) -> words [rows, word_count(features)]."""
    x = np.ascontiguousarray(np.asarray(x) != 0).view(np.uint8)
    if x.ndim != 2:
        raise HardwireError(f"pack takes a matrix [rows, features], not an array of shape {list(x.shape)}")
    rows, features = x.shape
    if _native is None:
        padded = np.zeros((rows, word_count(features) * 8), np.uint8)
        packed = np.packbits(x, axis=1, bitorder="little")
        padded[:, : packed.shape[1]] = packed
        return padded.view("<u8").astype(np.uint64, copy=False)
    words = np.empty((rows, word_count(features)), np.uint64)
    _native.pack(x, words)
    return words


def unpack(words: np.ndarray, features: int) -> np.ndarray:
    """Words [rows, word_count(features)] -> uint8 [rows, features] of 0 and 1."""
    check_words(words, features)
    words = np.ascontiguousarray(words)
    if _native is None:
        return np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little", count=features)
    x = np.empty((words.shape[0], features), np.uint8)
    _native.unpack(words, x)
    return x


def transpose(words: np.ndarray, features: int) -> np.ndarray:
    """Words [rows, word_count(features)] -> words [features, word_count(rows)]: sample-major to feature-major."""
    check_words(words, features)
    if _native is None:
        return pack(unpack(words, features).T)
    out = np.empty((features, word_count(words.shape[0])), np.uint64)
    _native.transpose(np.ascontiguousarray(words), features, out)
    return out
