"""The one exception a user is meant to see: what was given, what the rule is, and the way out, in one line.

It is a ValueError, so library users can catch it as one; the command line prints it without a traceback.
"""

from numbers import Integral


class HardwireError(ValueError):
    """A mistake that the person at the keyboard can mend."""


def whole_number(kind: str, value: object, least: int = 1) -> int:
    """The value as an int; fractions are refused, not rounded."""
    if not isinstance(value, Integral) or value < least:
        raise HardwireError(f"{kind} {value!r} is not a whole number of at least {least}")
    return int(value)


def unknown_name(kind: str, name: object, known) -> HardwireError:
    """The error for a name that is not in a registry; it lists the names that are."""
    return HardwireError(f"unknown {kind} {name!r}; choose one of: {', '.join(known)}")
