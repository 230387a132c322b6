"""C99: one file and a header, no allocation, many images at once or one at a time, with encoder, sums and argmax.

The gates are straight-line code, or tables and a loop, which compile in a second where code would take minutes
(c_gates.py). `word` is the number of images at once: 64, 32 or 8, or 1 for small machines, where every value is a
single bit. Surprising: tables are only about a sixth slower than code, since code that runs once for 64 images has to
be fetched like data.
"""

from pathlib import Path

import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.c_gates import FORMS, single_image
from hardwire.circuit.formats.c_read import read
from hardwire.circuit.formats.c_words import WORDS, file_words
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.input_format import input_format_of
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_together

CODE_GATES = 20_000  # code compiles in seconds up to here: a third of a millisecond per gate


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
) -> list[Path]:
    """Writes a C file and its header.

    Args:
        circuit: The circuit.
        path: The .c file; the header has the same name.
        name: Prefix of the functions, by default the file's name.
        main: Add a program that reads a file of images.
        raw: What it reads, by default what the encoder was made for; bits are one byte each.
        values: See `hardwire.circuit.input_format.input_format_of`.
        form: "code" or "tables"; by default code up to CODE_GATES gates.
        word: Images at once: 64, 32 or 8, or 1 for small machines.
    """
    input_format = input_format_of(circuit, raw, values)
    if word not in WORDS:
        raise HardwireError(f"{word!r} images at once are not supported; choose 64, 32, 8 or 1")
    _ = circuit.answer_width  # an error if int32_t cannot hold it
    if form is None:
        form = "code" if len(circuit.netlist.gate) <= CODE_GATES and word > 1 else "tables"
    if form not in FORMS or (form == "code" and word == 1):
        raise unknown_name("form of C", form, ["tables"] if word == 1 else FORMS)
    header = path.with_suffix(".h")
    if header == path:
        raise HardwireError(f"{path} is the name of the header; name the .c file")
    gates = single_image(circuit.netlist) if word == 1 else FORMS[form](circuit.netlist)
    words = file_words(circuit, name_for(path, name), input_format, word, gates, main=main, header=header.name)
    write_together({header: render("circuit.h", **words), path: render("circuit.c", **words)})
    return [path, header]


register(".c", title="C99", write=write, read=read)
