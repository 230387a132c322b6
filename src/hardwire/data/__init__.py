"""Datasets by name, verified by checksum, or from your own arrays and files: `hw.data.load("mnist-binary")`.

Surprising: a mistyped name is reported without importing torch. The catalogue of names needs only numpy; `Dataset` and
the classes around it are imported on first use.
"""

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.data import sets, store
from hardwire.data.catalog import ENTRIES, CatalogEntry, Images, entry_of, register
from hardwire.data.kinds import check_there, is_file, is_table, read_file
from hardwire.data.table_options import with_options

if TYPE_CHECKING:
    from hardwire.data.arrays import from_arrays as from_arrays
    from hardwire.data.augmentation import augment as augment
    from hardwire.data.dataset import Dataset as Dataset
    from hardwire.data.rows import Rows as Rows
    from hardwire.data.rows import Split as Split

__all__ = [
    "CatalogEntry",
    "Dataset",
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
    "with_options",
]
_NEEDS_TORCH = {
    "augment": "augmentation",
    "from_arrays": "arrays",
    "Dataset": "dataset",
    "Rows": "rows",
    "Split": "rows",
}
sets.register_all()


def __getattr__(name: str) -> Any:
    if name in _NEEDS_TORCH:
        return getattr(import_module(f"{__name__}.{_NEEDS_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> list[str]:
    """Lists the datasets that `load` and `fetch` know by name.

    Returns:
        The names, those with the least to download first.

    Example:
        >>> import hardwire as hw
        >>> hw.data.names()[:3]
        ['digits', 'mnist', 'mnist-binary']
    """
    return list(ENTRIES)


def check(name: str | PathLike[str]) -> None:
    """Checks that `load` knows this name or that this file exists; fast, and without importing torch.

    Args:
        name: A dataset or the path of a file, as for `load`.

    Raises:
        HardwireError: If there is no such dataset or file.

    Example:
        >>> import hardwire as hw
        >>> hw.data.check("digits")
    """
    if is_file(name):
        check_there(name)
    else:
        entry_of(str(name))


def fetch(name: str, repair: bool = False) -> Path | None:
    """Downloads the files of a dataset if they are missing, and verifies their checksums.

    Args:
        name: One of `names()`.
        repair: Download files with a wrong checksum again, instead of raising an error.

    Returns:
        The folder of the files, or None if the dataset needs none.

    Example:
        >>> import hardwire as hw
        >>> hw.data.fetch("digits") is None
        True
    """
    collection = entry_of(name).collection
    if collection is None:
        return None
    store.verify(collection, repair)
    return collection.folder


def load(name: str | PathLike[str], like: Any = None, whole: bool = False) -> "Dataset":
    """Loads a dataset by name, or from a file of your own.

    Args:
        name: One of `names()`, whose files are downloaded if they are missing ("mnist@3" has three thresholds per
            pixel); or the path of a file: an .npz, or a table and the column to predict, "flowers.csv#species" (.csv
            or .parquet; "flowers.csv@16#species" has 16 thresholds per column; `with_options` says how it is written).
        like: A network or circuit trained on a table. Another table is then read with its thresholds and labels.
        whole: Use all rows of a table as its test set.

    Returns:
        The dataset, with `.train`, `.validation` and `.test`.

    Raises:
        HardwireError: If the name is unknown, or the file is missing, damaged or not a dataset.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> data.inputs, data.classes, len(data.train), len(data.test)
        (320, 10, 1347, 450)
    """
    if is_table(name):
        return read_file(name, like=like, whole=whole)
    if is_file(name):
        return read_file(name)
    entry = entry_of(str(name))
    if entry.collection is not None:
        store.fetch_missing(entry.collection)
    return entry.load(str(name))
