"""The file formats of circuits: a table by suffix, each with a writer and, optionally, a reader.

A format is one module of this folder that calls `register`. Nothing else lists them, and your own module can register
more in the same way. The keyword-only arguments of a writer are its options; any other option is an error. A reader
returns a `Readback`, which `hardwire.circuit.verify` compares with the model.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.input_format import InputFormat
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError, unknown_name


@dataclass(frozen=True)
class Answers:
    """What a model or a file answers for n images.

    Attributes:
        classes: int64 [n], classes, or numbers in whole steps.
        scores: int32 [n, classes], if the file gives them.
    """

    classes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Readback:
    """What a file computes, as a reader found it.

    Attributes:
        input_formats: What the file reads, one or several.
        answers: Function from one of the input formats and rows of it to the file's answers.
        pair: Netlists of the model and of the file over the bits of the first input format, for files a solver can
            compare.
    """

    input_formats: tuple[InputFormat, ...]
    answers: Callable[[InputFormat, npt.NDArray[Any]], Answers]
    pair: tuple[Netlist, Netlist] | None = None


Writer = Callable[..., Iterable[Path]]  # (circuit, path, **options) -> the files written
Reader = Callable[[Circuit, Path, str | None], Readback]  # (model, path, input kind if the file does not say it)


@dataclass(frozen=True)
class Format:
    """A registered file format: its name for messages, its writer and its reader; and whether these take look-up tables
    as they are, or get the two-input view of them."""

    title: str
    write: Writer
    read: Reader | None = None
    tables: bool = False

    def view(self, circuit: Circuit) -> Circuit:
        """Returns the circuit as the writer and the reader take it."""
        return circuit if self.tables else circuit.as_gates()

    @property
    def options(self) -> list[str]:
        """Names of the writer's keyword-only arguments."""
        parameters = inspect.signature(self.write).parameters.values()
        return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


_FORMATS: dict[str, Format] = {}


def register(*suffixes: str, title: str, write: Writer, read: Reader | None = None, tables: bool = False) -> None:
    """Adds a file format, or replaces one.

    Args:
        *suffixes: File suffixes with their dot, such as ".txt".
        title: What the format is called in messages.
        write: Function of (circuit, path, **options) that writes the file and returns every path written.
        read: Function of (model, path, raw) that returns a `Readback`; without one, `verify` refuses the format.
        tables: Whether both take circuits of look-up tables; if not, they get these as two-input gates.

    Example:
        >>> def write(circuit, path, *, loud=False):
        ...     path.write_text(f"{circuit}{'!' * loud}")
        ...     return [path]
        >>> register(".txt", title="a line of text", write=write)
        >>> circuit.export("model.txt", loud=True)  # doctest: +SKIP
    """
    _FORMATS.update(dict.fromkeys(suffixes, Format(title, write, read, tables)))


def formats() -> dict[str, Format]:
    """Returns all formats by suffix; the built-in ones are loaded on first use."""
    _load_built_in()
    return _FORMATS


@cache
def _load_built_in() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def format_of(suffix: str) -> Format:
    """Returns the format of a suffix."""
    known = formats()
    if suffix not in known:
        raise unknown_name("ending", suffix, known)
    return known[suffix]


def write(circuit: Circuit, path: Path, suffix: str | None, options: Mapping[str, Any]) -> list[Path]:
    """Writes `circuit` to `path` in the format of `suffix`, by default the path's own."""
    suffix = path.suffix if suffix is None else suffix
    chosen = format_of(suffix)
    for name in options:
        if name not in chosen.options:
            options_of_format = ", ".join(chosen.options) or "none"
            raise HardwireError(f"{suffix} files have no option {name!r}; theirs are: {options_of_format}")
    return list(chosen.write(chosen.view(circuit), path, **options))
