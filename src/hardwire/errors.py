"""The one exception a user is meant to see: what was given, what the rule is, and the way out, in one line.

It is a ValueError, so library users can catch it as one; the command line prints it without a traceback.
"""


class HardwireError(ValueError):
    """A mistake that the person at the keyboard can mend."""


def unknown_name(kind: str, name: object, known) -> HardwireError:
    """The error for a name that is not in a registry; it lists the names that are."""
    return HardwireError(f"unknown {kind} {name!r}; choose one of: {', '.join(known)}")
