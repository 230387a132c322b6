"""What the shell offers after Tab: names of datasets, methods, circuits, recipes and formats, and files that fit.

`hardwire --install-completion` sets it up. Nothing here imports torch, so that Tab answers at once.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hardwire.methods import METHOD_VARIANTS, STRAIGHT_THROUGH

Complete = Callable[[str], list[str]]


def _completer(names: Callable[[], Iterable[str]], suffixes: tuple[str, ...] = ()) -> Complete:
    """A completion from names and from files with these suffixes."""

    def complete(incomplete: str) -> list[str]:
        matching = [name for name in names() if name.startswith(incomplete)]
        return [*matching, *_files(incomplete, suffixes)] if suffixes else matching

    return complete


def _files(incomplete: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Folders, and files with one of the suffixes, whose path begins with what was typed."""
    folder, _, name = incomplete.rpartition("/")
    start = folder + "/" if folder or incomplete.startswith("/") else ""
    try:
        entries = sorted(Path(start or ".").expanduser().iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(name) and (name.startswith(".") or not entry.name.startswith(".")):
            if entry.is_dir():
                yield f"{start}{entry.name}/"
            elif entry.suffix.lower() in suffixes:
                yield f"{start}{entry.name}"


def _dataset_names() -> list[str]:
    from hardwire.data import names

    return names()


def _recipe_names() -> list[str]:
    from hardwire.recipes import names

    return names()


def _circuit_names() -> list[str]:
    from hardwire.zoo import names

    return names()


def _raw_kinds() -> Iterable[str]:
    from hardwire.circuit.input_format import DTYPES

    return DTYPES


def _devices() -> Iterable[str]:
    from hardwire.circuit.nextpnr import DEVICES

    return DEVICES


def _boards() -> Iterable[str]:
    from hardwire.records.board import DATA

    return DATA


# repeated here because their own modules import torch; a test compares them
WIRINGS = ("random", "structured", "learned")
ENGINES = ("auto", "native", "reference")

datasets = _completer(_dataset_names, (".npz", ".csv", ".parquet"))
models = _completer(_circuit_names, (".safetensors", ".circuit"))
trained = _completer(tuple, (".safetensors",))
tables = _completer(tuple, (".csv", ".parquet"))
recipes = _completer(_recipe_names, (".toml",))
methods = _completer(lambda: METHOD_VARIANTS)
estimators = _completer(lambda: STRAIGHT_THROUGH)
wirings, engines = _completer(lambda: WIRINGS), _completer(lambda: ENGINES)
raw_kinds, devices, boards = _completer(_raw_kinds), _completer(_devices), _completer(_boards)


def exports(incomplete: str) -> list[str]:
    """What was typed, with every suffix that a circuit can be written to."""
    from hardwire.circuit.formats import formats

    stem, dot, suffix = incomplete.rpartition(".")
    name = stem if dot else incomplete
    return [f"{name}{known}" for known in formats() if name and known.startswith(f".{suffix}" if dot else ".")]
