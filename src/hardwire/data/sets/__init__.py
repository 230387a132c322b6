"""The datasets that come with hardwire: each module of this package has a dictionary `DATASETS`."""

from importlib import import_module
from pkgutil import iter_modules

from hardwire.data.catalog import CatalogEntry, register


def register_all() -> None:
    """Puts the datasets of every module into the catalogue, those with the least to download first."""
    datasets: dict[str, CatalogEntry] = {}
    for module in iter_modules(__path__):
        datasets |= import_module(f"{__name__}.{module.name}").DATASETS
    for name in sorted(datasets, key=lambda name: _bytes(datasets[name])):
        register(name, datasets[name])


def _bytes(entry: CatalogEntry) -> int:
    return 0 if entry.collection is None else entry.collection.size
