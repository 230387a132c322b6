"""The files that a circuit is written to: one table by suffix, each with a writer and, where it has one, a reader.

A format is one module of this folder that calls `register`; nothing else lists them, and a user's own module registers
its own in the same way. The keyword arguments of a writer are its options: any other is an error. What a reader makes
of a file is a `Readback`, which `hardwire.circuit.verify` compares with the model.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.reading import Reading
from hardwire.errors import HardwireError, unknown_name


@dataclass(frozen=True)
class Answers:
    """What a model or a file says of some images: classes int64 [n], scores int32 [n, classes] where it gives them."""

    classes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Readback:
    """What a file computes.

    readings: what it reads, one or several; answers: of a reading and rows of it; pair: netlists of the model and of
    the file over the bits of the first reading, where it is logic that a solver can compare.
    """

    readings: tuple[Reading, ...]
    answers: Callable[[Reading, npt.NDArray[Any]], Answers]
    pair: tuple[Netlist, Netlist] | None = None


Writer = Callable[..., Iterable[Path]]  # circuit, path, and options as keywords -> the files that were written
Reader = Callable[[Circuit, Path, str | None], Readback]  # model, path, what it reads where it does not say so


@dataclass(frozen=True)
class Format:
    title: str
    write: Writer
    read: Reader | None = None

    @property
    def options(self) -> list[str]:
        parameters = inspect.signature(self.write).parameters.values()
        return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


_FORMATS: dict[str, Format] = {}


def register(*suffixes: str, title: str, write: Writer, read: Reader | None = None) -> None:
    """Adds a format to the table, or replaces one."""
    _FORMATS.update(dict.fromkeys(suffixes, Format(title, write, read)))


def formats() -> dict[str, Format]:
    """All formats by suffix; ours are loaded on first use."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _FORMATS


def format_of(suffix: str) -> Format:
    known = formats()
    if suffix not in known:
        raise unknown_name("ending", suffix, known)
    return known[suffix]


def write(circuit: Circuit, path: Path, suffix: str | None, options: Mapping[str, Any]) -> list[Path]:
    """Writes `circuit` to `path` in the format of `suffix`, by default that of the path."""
    suffix = path.suffix if suffix is None else suffix
    chosen = format_of(suffix)
    for name in options:
        if name not in chosen.options:
            takes = ", ".join(chosen.options) or "none"
            raise HardwireError(f"{suffix} files have no option {name!r}; theirs are: {takes}")
    return list(chosen.write(circuit, path, **options))
