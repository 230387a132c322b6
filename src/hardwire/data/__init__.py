"""Datasets by name, verified by checksum, or from your own arrays and files: `hw.data.load("mnist-binary")`.

Surprising: a wrong name is found out without torch. What a name stands for is in the catalogue, which needs only numpy;
`Dataset` and its kin load on first use.
"""

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.data import sets, store
from hardwire.data.catalog import ENTRIES, Entry, Images, entry_of, register
from hardwire.data.kinds import check_there, is_file, is_table, read_file

if TYPE_CHECKING:
    from hardwire.data.arrays import from_arrays as from_arrays
    from hardwire.data.augmentation import augment as augment
    from hardwire.data.dataset import Dataset as Dataset
    from hardwire.data.dataset import Rows as Rows
    from hardwire.data.dataset import Split as Split

__all__ = [
    "Dataset",
    "Entry",
    "Images",
    "Rows",
    "Split",
    "augment",
    "check",
    "fetch",
    "from_arrays",
    "load",
    "names",
    "register",
]
_WITH_TORCH = {
    "augment": "augmentation",
    "from_arrays": "arrays",
    "Dataset": "dataset",
    "Rows": "dataset",
    "Split": "dataset",
}
sets.register_all()


def __getattr__(name: str) -> Any:
    if name in _WITH_TORCH:
        return getattr(import_module(f"{__name__}.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> list[str]:
    """The datasets that `load` and `fetch` know by name."""
    return list(ENTRIES)


def check(name: str | PathLike[str]) -> None:
    """Raises where `load` would find no dataset of this name, or no file of this path; at once, and without torch."""
    if is_file(name):
        check_there(name)
    else:
        entry_of(str(name))


def fetch(name: str, repair: bool = False) -> Path | None:
    """Makes sure that the files of a dataset are in the data folder and right; gives their folder (None: no files).

    repair: files whose checksum is wrong are fetched again; otherwise they are an error.
    """
    collection = entry_of(name).collection
    if collection is None:
        return None
    store.verify(collection, repair)
    return collection.folder


def load(name: str | PathLike[str], like: Any = None, whole: bool = False) -> "Dataset":
    """A dataset by name (see `names`; "mnist@3" has three thresholds a pixel), its files fetched where they are
    missing; or the path of a file: an .npz, or a table and the column to predict, "flowers.csv#species" (.csv or
    .parquet; "flowers.csv@16#species" has 16 thresholds a column).

    like: a network or circuit that was made of a table, whose thresholds and labels another table is read with.
    whole: all rows of a table are its test set.
    """
    if is_table(name):
        return read_file(name, like=like, whole=whole)
    if is_file(name):
        return read_file(name)
    entry = entry_of(str(name))
    if entry.collection is not None:
        store.fetch_missing(entry.collection)
    return entry.load(str(name))
