"""Trained circuits that come with the package, by name: `hw.load("digits-1k")`.

Each is a circuit file in this folder with an entry in `index.toml`, made by a recipe and one command. Surprising: a
file of that name in your folder comes first, so that a name never hides a file.
"""

import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.circuit import Circuit
from hardwire.errors import HardwireError, unknown_name
from hardwire.files.toml import parse_toml

if TYPE_CHECKING:
    from hardwire.network import LogicNetwork

__all__ = ["CircuitEntry", "entries", "load", "load_circuit", "names"]
_FOLDER = files("hardwire.zoo")
INDEX = "index.toml"


@dataclass(frozen=True)
class CircuitEntry:
    """A circuit that comes with the package.

    Attributes:
        name: Its name.
        data: The dataset it was trained on.
        accuracy: Its accuracy on the test set.
        gates: Its gates, simplified.
        recipe: The recipe that makes it.
        digest: What its function must have as a digest (`Circuit.digest`).
        title: One line that describes it.
    """

    name: str
    data: str
    accuracy: float
    gates: int
    recipe: str
    digest: str
    title: str = ""

    @property
    def file(self) -> str:
        """The name of its file in the package."""
        return f"{self.name}.circuit"


def entries() -> list[CircuitEntry]:
    """The circuits that come with the package.

    Returns:
        One entry per circuit.

    Example:
        >>> import hardwire as hw
        >>> hw.zoo.entries()[0].name
        'digits-100'
    """
    index = parse_toml((_FOLDER / INDEX).read_bytes(), INDEX)
    return [CircuitEntry(**entry) for entry in index.get("circuit", [])]


def names() -> list[str]:
    """The names of the circuits that come with the package.

    Returns:
        The names, as `hw.load` knows them.

    Example:
        >>> import hardwire as hw
        >>> "digits-1k" in hw.zoo.names()
        True
    """
    return [entry.name for entry in entries()]


def load(path: str | os.PathLike[str]) -> "Circuit | LogicNetwork | Any":
    """Loads a network from a model file, a circuit from a circuit file, or a circuit that comes with the package.

    The file may come from anybody: opening it runs no code, and needs little more memory than the file is long.

    Args:
        path: A file, or one of `hw.zoo.names()`.

    Returns:
        A `LogicNetwork`, in eval mode, if it is a model file; otherwise a `Circuit`.

    Raises:
        HardwireError: If there is no such file or name, or the file is damaged.

    Example:
        >>> import hardwire as hw
        >>> circuit = hw.load("digits-1k")
        >>> data = hw.data.load("digits")
        >>> float((circuit.predict(data.test.x) == data.test.y.numpy()).mean()) > 0.9
        True
    """
    from hardwire.circuit.file import is_circuit_file

    if _is_name(path):
        return load_circuit(path)
    if is_circuit_file(path):
        return Circuit.load(path)
    from hardwire import models

    return models.load(path)


def load_circuit(path: str | os.PathLike[str]) -> Circuit:
    """Loads the circuit of a circuit file or a model file, or one that comes with the package.

    Args:
        path: A file, or one of `hw.zoo.names()`.

    Returns:
        The circuit.

    Raises:
        HardwireError: If there is no such file or name, or the file is damaged.

    Example:
        >>> import hardwire as hw
        >>> hw.zoo.load_circuit("digits-1k").classes
        10
    """
    if not _is_name(path):
        return Circuit.load(path)
    entry = next(entry for entry in entries() if entry.name == os.fspath(path))
    with as_file(_FOLDER / entry.file) as file:
        circuit = Circuit.load(file)
    if circuit.digest != entry.digest:
        raise HardwireError(f"{entry.file} of this installation is not the circuit in {INDEX}; install hardwire again")
    return circuit


def _is_name(path: str | os.PathLike[str]) -> bool:
    """Whether this names a circuit of the package; a mistyped name without a suffix is an error that lists them."""
    try:
        if Path(path).expanduser().exists():
            return False
    except (OSError, ValueError):  # a path that cannot be: the reader of files says so
        return False
    text, known = os.fspath(path), names()
    if text not in known and Path(text).name == text and not Path(text).suffix:
        raise HardwireError(f"there is no file {text}; {unknown_name('circuit', text, known)}")
    return text in known
