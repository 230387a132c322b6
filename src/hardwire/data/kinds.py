"""The kinds of files that `hw.data.load` reads, by suffix: a new kind is a function and a line of `KINDS`."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hardwire.errors import HardwireError, unknown_name

if TYPE_CHECKING:
    from hardwire.data.dataset import Dataset


def _npz(path: Path) -> "Dataset":
    from hardwire.data.npz import load_npz

    return load_npz(path)


KINDS: "dict[str, Callable[[Path], Dataset]]" = {".npz": _npz}


def is_file(name: str | PathLike[str]) -> bool:
    """Whether this is the path of a file of a known kind; a plain string of another ending is the name of a dataset."""
    suffix = Path(name).suffix.lower()
    if suffix not in KINDS and isinstance(name, PathLike):
        raise unknown_name("kind of file", Path(name).name, KINDS)
    return suffix in KINDS


def check_there(name: str | PathLike[str]) -> Path:
    """The path of a file that exists."""
    path = Path(name).expanduser()
    if not path.exists():
        raise HardwireError(f"there is no file {path}")
    return path


def read_file(name: str | PathLike[str]) -> "Dataset":
    """The dataset of a file."""
    return KINDS[Path(name).suffix.lower()](check_there(name))
