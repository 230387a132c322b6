"""The datasets that come with hardwire: whatever a file of this folder calls `DATASETS` is known by name."""

from importlib import import_module
from pkgutil import iter_modules

from hardwire.data.catalog import Entry, register


def register_all() -> None:
    """Puts the sets of every file of this folder into the catalogue, those with the least to fetch first."""
    found: dict[str, Entry] = {}
    for module in iter_modules(__path__):
        found |= import_module(f"{__name__}.{module.name}").DATASETS
    for name in sorted(found, key=lambda name: _bytes(found[name])):
        register(name, found[name])


def _bytes(entry: Entry) -> int:
    return 0 if entry.collection is None else entry.collection.size
