"""Checks of single values in a study's description: each gets the key and the value, and returns the value or raises.

They are what an `Axis` is given as its `check`. Surprising: numbers have an upper bound too, since a description may
come from a stranger, and TOML has integers of any length.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from hardwire.errors import HardwireError, unknown_name, whole_number

MOST = 2**63 - 1  # what SQLite and the noise generators hold
LONGEST_TEXT = 300  # characters of a name or a path


def one_of(noun: str, known: Callable[[], Mapping[str, Any]] | Mapping[str, Any]) -> Callable[[str, object], str]:
    """Makes a check for names out of a list.

    Args:
        noun: What a name stands for, for the error message.
        known: The names, or a function that returns them, for names that are costly to list.

    Returns:
        A check for an `Axis`.

    Example:
        >>> colour = one_of("colour", {"red": 1, "blue": 2})
        >>> colour("colours", "red")
        'red'
    """

    def check(key: str, value: object) -> str:
        names = known() if callable(known) else known
        if not isinstance(value, str) or value not in names:
            raise unknown_name(noun, shortened(value) if isinstance(value, str) else value, names)
        return value

    return check


def whole(least: int) -> Callable[[str, object], int]:
    """Makes a check for whole numbers of at least `least`.

    Example:
        >>> whole(1)("depths", 3)
        3
    """

    def check(key: str, value: object) -> int:
        if isinstance(value, int) and value > MOST:
            raise HardwireError(f"{key}: {_size(value)} is more than {MOST:,}, the largest number here")
        return whole_number(f"{key}:", value, least)

    return check


def positive(key: str, value: object) -> float:
    """Checks for a positive number, and returns it as a float.

    Example:
        >>> positive("taus", 2)
        2.0
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > MOST:
        raise HardwireError(f"{key}: {_size(value)} is more than {MOST:,}, the largest number here")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise HardwireError(f"{key}: {shortened(repr(value))} is not a positive number")
    return float(value)


def printable(key: str, value: object) -> str:
    """Checks for a name: text that is not empty, not endless, and without control characters.

    Example:
        >>> printable("datasets", "digits")
        'digits'
    """
    if not isinstance(value, str) or not value:
        raise HardwireError(f"{key}: {shortened(repr(value))} is not a name in quotes")
    if len(value) > LONGEST_TEXT or not value.isprintable():
        raise HardwireError(
            f"{key}: {shortened(repr(value))} is not a printable name of up to {LONGEST_TEXT} characters"
        )
    return value


def switch(key: str, value: object) -> int:
    """Checks for true or false, and returns 1 or 0.

    Example:
        >>> switch("validation", True)
        1
    """
    if not isinstance(value, bool):
        raise HardwireError(f"{key}: {shortened(repr(value))} is not true or false")
    return int(value)


def shortened(text: str, most: int = 80) -> str:
    """Returns the beginning of a text, for messages."""
    return text if len(text) <= most else f"{text[:most]}..."


def _size(value: int) -> str:
    """A number that may be too long to print."""
    return f"{value:,}" if value < 10**30 else f"a number of {value.bit_length():,} bits"
