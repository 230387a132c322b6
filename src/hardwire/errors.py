"""The one exception a user is meant to see: what was given, what the rule is, and the way out, in one line.

It is a ValueError, so library users can catch it as one; the command line prints it without a traceback.
"""

import difflib
from collections.abc import Iterable
from numbers import Integral


class HardwireError(ValueError):
    """A mistake that the person at the keyboard can mend."""


class MissingPackage(HardwireError, ImportError):
    """A part of hardwire is used whose packages are not installed."""


_EXTRAS = {  # package -> the extra of hardwire that brings it
    **dict.fromkeys(("jinja2", "rich", "typer"), "cli"),
    **dict.fromkeys(("filelock", "matplotlib", "pooch", "scipy", "sklearn", "torch"), "train"),
    **dict.fromkeys(("aigverse", "pyosys"), "circuit"),
    "pandas": "tables",
    "pyarrow": "parquet",
    "ray": "ray",
    "tensorboard": "tensorboard",
}


def missing_package(error: ModuleNotFoundError, what: str) -> ImportError:
    """What to raise where `what` failed for want of a package: how to install it, or the error itself."""
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return error
    extra = _EXTRAS[package]
    return MissingPackage(f"{what} needs {package}, which is not installed; run: pip install 'hardwire[{extra}]'")


def whole_number(kind: str, value: object, least: int = 1) -> int:
    """The value as an int; fractions are refused, not rounded, and True is not 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise HardwireError(f"{kind} {value!r} is not a whole number of at least {least}")
    return int(value)


def check_new(kind: str, name: str, known: Iterable[str]) -> None:
    """Raises where a registry has the name already."""
    if name in known:
        raise HardwireError(f"there is a {kind} {name} already; choose another name")


def unknown_name(kind: str, name: object, known: Iterable[str]) -> HardwireError:
    """The error for a name that is not in a registry; it suggests the nearest one and lists them all."""
    known = list(known)
    nearest = _nearest(name, known) if isinstance(name, str) else None
    suggestion = f"did you mean {nearest}? " if nearest else ""
    return HardwireError(f"unknown {kind} {name!r}; {suggestion}choose one of: {', '.join(known)}")


def _nearest(name: str, known: list[str]) -> str | None:
    """The known name that was probably meant: one that is spelled nearly so, or else one that begins so."""
    by_lower = {other.lower(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    close = close or [lower for lower in by_lower if name and lower.startswith(name.lower())]
    return by_lower[close[-1]] if close else None
