"""The kinds of files that `hw.data.load` reads, by suffix: a new kind is one function and one line of `KINDS`.

The column to predict follows the path of a table; the number of thresholds per column and options of reading may stand
between them: "flowers.csv#species", "flowers.csv@16#species", "flowers.csv?decimal=%2C#species". So a table is named by
one string, as every dataset is.
"""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.data.table_options import TableOptions
from hardwire.errors import HardwireError, unknown_name

if TYPE_CHECKING:
    from hardwire.data.dataset import Dataset

MOST_THRESHOLDS = 4096  # per column: each is an input of the network, for every column of the table


def _npz(path: Path) -> "Dataset":
    from hardwire.data.npz import load_npz

    return load_npz(path)


def _table(path: Path, **options: Any) -> "Dataset":
    from hardwire.data.table import load_table

    return load_table(path, **options)


KINDS: "dict[str, Callable[..., Dataset]]" = {".npz": _npz, ".csv": _table, ".parquet": _table}
TABLES = tuple(suffix for suffix, read in KINDS.items() if read is _table)


def parse_count(text: str) -> int | None:
    """A whole number from 1 to 999,999,999, or None if the text is none; int() itself refuses very long digits."""
    fits = text.isascii() and text.isdecimal() and len(text) < 10
    return int(text) or None if fits else None


def split_name(name: str | PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """Splits a name into the path of a file and what follows that of a table: `target`, `levels` and `options`."""
    path, _, target = str(name).partition("#")
    options: dict[str, Any] = {"target": target} if target else {}
    front, mark, query = path.partition("?")
    if mark and any(Path(part).suffix.lower() in TABLES for part in (front, front.rpartition("@")[0])):
        path, options = front, options | {"options": TableOptions.parse(query)}
    before, _, levels = path.rpartition("@")
    if before and Path(before).suffix.lower() in KINDS:
        count = parse_count(levels)
        if count is None or count > MOST_THRESHOLDS:
            raise HardwireError(
                f"{before} is followed by @{levels[:40]}, the number of thresholds per column; use one from 1 to "
                f"{MOST_THRESHOLDS}, such as @16"
            )
        path, options = before, options | {"levels": count}
    return Path(path), options


def is_file(name: str | PathLike[str]) -> bool:
    """Whether this is the path of a file of a known kind; a string with another ending is the name of a dataset."""
    path, _ = split_name(name)
    suffix = path.suffix.lower()
    if suffix not in KINDS and isinstance(name, PathLike):
        raise unknown_name("kind of file", path.name, KINDS)
    return suffix in KINDS


def is_table(name: str | PathLike[str]) -> bool:
    """Whether this is the path of a table."""
    return split_name(name)[0].suffix.lower() in TABLES


def check_there(name: str | PathLike[str]) -> Path:
    """The path of a file, which must exist."""
    path = split_name(name)[0].expanduser()
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL in it
        raise HardwireError(f"{str(path)[:80]!r} cannot be the path of a file: {error}") from None
    if not exists:
        raise HardwireError(f"there is no file {path}")
    if path.is_dir():
        raise HardwireError(f"{path} is a folder, not a file")
    return path


def read_file(name: str | PathLike[str], **options: Any) -> "Dataset":
    """Loads the dataset of a file; options: those of its kind."""
    path, (_, named) = check_there(name), split_name(name)
    suffix = path.suffix.lower()
    if named and suffix not in TABLES:
        raise HardwireError(f"{path} is not a table, so it has no columns to name; leave out what follows {suffix}")
    return KINDS[suffix](path, **named, **options)
