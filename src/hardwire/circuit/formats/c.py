"""C99: one file and a header, no allocation, many images at once or one at a time, with encoder, sums and argmax.

The gates are straight-line code, or tables and a loop, which compile in a second where code would take minutes
(c_gates.py). `word` is the number of images at once: 64, 32 or 8, or 1 for small machines, where every value is a
single bit. Surprising: tables are only about a sixth slower than code, since code that runs once for 64 images has to
be fetched like data.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.c_gates import FORMS, single_image
from hardwire.circuit.formats.c_mixed import mixed_words
from hardwire.circuit.formats.c_read import read
from hardwire.circuit.formats.c_row import row_words
from hardwire.circuit.formats.c_words import TABLE_CODE, WORDS, file_words
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.input_format import InputFormat, input_format_of
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_together

CODE_GATES = 20_000  # code compiles in seconds up to here: a third of a millisecond per gate
FLASH = 1 << 14  # bytes that code for a small machine may take unless told otherwise: half of the smallest usual flash


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    main: bool = False,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
    form: str | None = None,
    word: int = 64,
    flash: int | None = None,
) -> list[Path]:
    """Writes a C file and its header.

    Args:
        circuit: The circuit.
        path: The .c file; the header has the same name.
        name: Prefix of the functions, by default the file's name.
        main: Add a program that reads a file of images.
        raw: What it reads, by default what the encoder was made for; bits are one byte each.
        values: See `hardwire.circuit.input_format.input_format_of`.
        form: "code" or "tables"; by default code up to CODE_GATES gates, and for small machines what `flash` says.
        word: Images at once: 64, 32 or 8, or 1 for small machines.
        flash: Bytes of flash that the functions may take on a small machine: code if it fits, else as much code as
            does and tables for the rest, else tables. None: code if it takes up to 16 KB, else tables.
    """
    input_format = input_format_of(circuit, raw, values)
    if word not in WORDS:
        raise HardwireError(f"{word!r} images at once are not supported; choose 64, 32, 8 or 1")
    _ = circuit.answer_width  # an error if int32_t cannot hold it
    if form is not None and form not in FORMS:
        raise unknown_name("form of C", form, FORMS)
    if flash is not None and (word > 1 or form is not None):
        raise HardwireError("flash= chooses the form for small machines: it goes with word=1, and without form=")
    header = path.with_suffix(".h")
    if header == path:
        raise HardwireError(f"{path} is the name of the header; name the .c file")
    function = name_for(path, name)

    def words_for(gates: dict[str, Any]) -> dict[str, Any]:
        return file_words(circuit, function, input_format, word, gates, main=main, header=header.name)

    if word == 1:
        words = _small(circuit, input_format, form, flash, words_for)
    else:
        form = form or ("code" if circuit.gates.size <= CODE_GATES else "tables")
        words = words_for(FORMS[form](circuit.gates))
    write_together({header: render("circuit.h", **words), path: render("circuit.c", **words)})
    return [path, header]


def _small(
    circuit: Circuit,
    input_format: InputFormat,
    form: str | None,
    flash: int | None,
    words_for: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """Returns the template values for small machines: the fastest form that is asked for, or that fits the flash."""
    if form != "tables":
        words = words_for(row_words(circuit, input_format))
        if form == "code" or words["code_bytes"] <= (FLASH if flash is None else flash):
            return words
    tables = words_for(single_image(circuit.gates))
    least = tables["table_bytes"] + TABLE_CODE
    if flash is not None and least > flash:
        raise HardwireError(
            f"{flash:,} bytes of flash cannot hold this circuit: it takes {least:,} as tables and "
            f"{words['code_bytes']:,} as code; simplify or shrink it, or train a smaller one"
        )
    mixed = None if flash is None else _mixed(circuit, input_format, flash, words_for)
    return tables if mixed is None else mixed


def _mixed(
    circuit: Circuit, input_format: InputFormat, flash: int, words_for: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any] | None:
    """Returns the template values for as much code as the flash holds beside tables; None if it holds none."""
    best = None
    low, high = 1, circuit.group  # outputs of each class that tables compute
    while low < high:
        walked = (low + high) // 2
        words = words_for(mixed_words(circuit, input_format, walked))
        if words["code_bytes"] <= flash:
            best, high = words, walked
        else:
            low = walked + 1
    return best


register(".c", title="C99", write=write, read=read)
