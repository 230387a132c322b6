"""A circuit as a package for small machines: an Arduino library, a Zephyr module, or a module of MicroPython.

A package is a folder that its tools take as it is: the exported C and what they need around it, with an example.
Surprising: the module of MicroPython is Python, because only that runs on every board, and in CircuitPython too. It is
written from the same lines as the C, and CPython runs it as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import c
from hardwire.circuit.formats.c_names import table_words
from hardwire.circuit.formats.c_words import interface_words
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.python_row import python_words
from hardwire.circuit.formats.text import render
from hardwire.circuit.input_format import InputFormat, input_format_of
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_together


@dataclass(frozen=True)
class Package:
    """What a kind of package consists of.

    Attributes:
        source: Where the C file and its header go, in the folder; None where there is no C.
        files: The other files, by path in the folder, and the template that each is made from.
    """

    source: str | None
    files: Mapping[str, str]


PACKAGES = {
    "arduino": Package(
        "src",
        {
            "library.properties": "arduino/library.properties",
            "keywords.txt": "arduino/keywords.txt",
            "examples/Classify/Classify.ino": "arduino/Classify.ino",
        },
    ),
    "zephyr": Package(
        "src",
        {
            "zephyr/module.yml": "zephyr/module.yml",
            "zephyr/Kconfig": "zephyr/Kconfig",
            "zephyr/CMakeLists.txt": "zephyr/CMakeLists.txt",
            "samples/classify/CMakeLists.txt": "zephyr/sample.cmake",
            "samples/classify/prj.conf": "zephyr/prj.conf",
            "samples/classify/src/main.c": "zephyr/main.c",
        },
    ),
    "micropython": Package(
        None,
        {
            "{name}.py": "micropython/module.py.txt",
            "package.json": "micropython/package.json",
            "main.py": "micropython/main.py.txt",
        },
    ),
}


def write_package(
    circuit: Circuit,
    folder: str | PathLike[str],
    package: str,
    *,
    name: str | None = None,
    raw: str | None = None,
    values: Any = None,
    form: str | None = None,
    flash: int | None = None,
) -> list[Path]:
    """Writes a circuit as a package for small machines.

    Args:
        circuit: The circuit.
        folder: The folder to write; it is made if it is missing.
        package: "arduino", "zephyr" or "micropython".
        name: Prefix of the functions, by default the folder's name.
        raw: As for `hardwire.circuit.formats.c.write`.
        values: As for `hardwire.circuit.formats.c.write`.
        form: As for `hardwire.circuit.formats.c.write`; not for MicroPython.
        flash: As for `hardwire.circuit.formats.c.write`; not for MicroPython.

    Returns:
        Every file written.

    Example:
        >>> circuit.package("digits", "arduino", flash=16_000)  # doctest: +SKIP
    """
    if package not in PACKAGES:
        raise unknown_name("package", package, PACKAGES)
    folder, chosen = Path(folder), PACKAGES[package]
    if folder.suffix:
        raise HardwireError(f"{folder} is a file's name; a package is a folder: name it {folder.with_suffix('')}")
    name = name_for(folder, name)
    made: list[Path] = []
    if chosen.source is not None:
        source = folder / chosen.source
        source.mkdir(parents=True, exist_ok=True)
        made += c.write(
            circuit, source / f"{name}.c", name=name, raw=raw, values=values, word=1, form=form, flash=flash
        )
    elif form is not None or flash is not None:
        raise HardwireError("form= and flash= are for C; the module of MicroPython is Python")
    words = _words(circuit, name, input_format_of(circuit, raw, values), chosen.source is None)
    files = {folder / path.format(name=name): render(template, **words) for path, template in chosen.files.items()}
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_together(files)
    return [*made, *files]


def _words(circuit: Circuit, name: str, input_format: InputFormat, python: bool) -> dict[str, Any]:
    """Returns the values of the templates."""
    words = interface_words(circuit, name, input_format, 1) | table_words(circuit, input_format)
    words["real"] = words["real"] if words["quantizes"] else "uint8_t"
    if not python:
        return words
    columns = circuit.columns
    labels = () if columns is None or circuit.number is not None else columns.labels or ()
    return (
        words
        | python_words(circuit, input_format)
        | {
            "python_columns": ascii(() if columns is None else tuple(columns.names)),
            "python_texts": ascii(
                {} if columns is None else {key: tuple(known) for key, known in columns.texts.items()}
            ),
            "python_classes": ascii(tuple(labels)),
            "python_scale": f"({', '.join(words.get('scales', []))},)",
            "python_offset": f"({', '.join(words.get('offsets', []))},)",
        }
    )
