"""The kinds of files that `hw.data.load` reads, by suffix: a new kind is a function and a line of `KINDS`.

Behind the path of a table stands the column to predict, and before it, if wanted, the thresholds of each column:
"flowers.csv#species", "flowers.csv@16#species". So a table, too, is named by one text, as all datasets are.
"""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.errors import HardwireError, unknown_name

if TYPE_CHECKING:
    from hardwire.data.dataset import Dataset


def _npz(path: Path) -> "Dataset":
    from hardwire.data.npz import load_npz

    return load_npz(path)


def _table(path: Path, **options: Any) -> "Dataset":
    from hardwire.data.table import load_table

    return load_table(path, **options)


KINDS: "dict[str, Callable[..., Dataset]]" = {".npz": _npz, ".csv": _table, ".parquet": _table}
TABLES = tuple(suffix for suffix, read in KINDS.items() if read is _table)


def split_name(name: str | PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The path of a file, and what is asked of it behind: target and levels of a table, if they are there."""
    path, _, target = str(name).partition("#")
    before, _, levels = path.rpartition("@")
    asked: dict[str, Any] = {"target": target} if target else {}
    if before and Path(before).suffix.lower() in KINDS:
        if not levels.isdecimal() or int(levels) < 1:
            raise HardwireError(f"{name} asks for {levels!r} thresholds of each column; use a number such as 16")
        path, asked = before, asked | {"levels": int(levels)}
    return Path(path), asked


def is_file(name: str | PathLike[str]) -> bool:
    """Whether this is the path of a file of a known kind; a plain string of another ending is the name of a dataset."""
    path, _ = split_name(name)
    suffix = path.suffix.lower()
    if suffix not in KINDS and isinstance(name, PathLike):
        raise unknown_name("kind of file", path.name, KINDS)
    return suffix in KINDS


def is_table(name: str | PathLike[str]) -> bool:
    return split_name(name)[0].suffix.lower() in TABLES


def check_there(name: str | PathLike[str]) -> Path:
    """The path of a file that exists."""
    path = split_name(name)[0].expanduser()
    if not path.exists():
        raise HardwireError(f"there is no file {path}")
    return path


def read_file(name: str | PathLike[str], **options: Any) -> "Dataset":
    """The dataset of a file; options: those of its kind."""
    path, (_, asked) = check_there(name), split_name(name)
    suffix = path.suffix.lower()
    if asked and suffix not in TABLES:
        raise HardwireError(f"{path} is no table, so it has no column to name; leave out what stands behind {suffix}")
    return KINDS[suffix](path, **asked, **options)
