"""C99: one file and a header, no allocation, 64 images at once or one alone, with encoder, class sums and argmax.

The gates come in one of two forms (c_gates.py): straight-line code, or tables and a loop, which compile in a second
where code would take minutes. Surprising: tables run only about a sixth slower, since code that runs once for 64 images
has to be fetched like data.
"""

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.formats.c_gates import FORMS
from hardwire.circuit.formats.header import about, interface
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.reading import DTYPES, Reading, described, reading_of
from hardwire.circuit.tools import compile_c, run
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole

TYPES = {kind: "float" if kind == "floats" else f"{dtype.name}_t" for kind, dtype in DTYPES.items()}
CODE_GATES = 20_000  # up to here code compiles in seconds; a third of a millisecond a gate


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    main: bool = False,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
    form: str | None = None,
) -> list[Path]:
    """Writes `path` (.c) and the header beside it. name: prefix of the functions, by default the file's; main: adds a
    program that reads a file of images; raw: what both read, by default what the encoder was made for (bits: a byte
    each); values: see `reading_of`; form: code or tables, by default code up to CODE_GATES gates."""
    reading = reading_of(circuit, raw, values)
    name = name_for(path, name)
    _ = circuit.answer_width  # an error where int32_t would not hold it
    header = path.with_suffix(".h")
    words = _words(circuit, name, reading)
    if form is None:
        form = "code" if len(circuit.netlist.gate) <= CODE_GATES else "tables"
    if form not in FORMS:
        raise unknown_name("form of C", form, FORMS)
    write_whole(header, render("circuit.h", **words))
    words |= _encoder(reading) | FORMS[form](circuit.netlist)
    write_whole(path, render("circuit.c", **words, header=header.name, form=form, main=main))
    return [path, header]


def _words(circuit: Circuit, name: str, reading: Reading) -> dict[str, Any]:
    """What the templates of exported files and of the programs around them share."""
    bits = reading.kind == "bits"
    return {
        "name": name,
        "NAME": name.upper(),
        "inputs": circuit.inputs,
        "classes": circuit.classes,
        "group": circuit.group,
        "planes": circuit.group.bit_length(),
        "offset": None if circuit.number is None else circuit.number.offset,
        "exponent": None if circuit.number is None else circuit.number.exponent,
        "about": about(circuit, reading),
        "encodes": not bits,
        "type": TYPES[reading.kind],
        "count": reading.count,
        "reader": "pack64" if bits else "encode64",
        "single": "predict_bits" if bits else "predict",
    }


def _encoder(reading: Reading) -> dict[str, Any]:
    """The table that values are compared with: floats, or whole numbers from one below the lowest value on."""
    if reading.thresholds is None:
        return {}
    if reading.kind == "floats":
        table: npt.NDArray[Any] = reading.thresholds.astype(np.float32)
        texts = [f"{np.format_float_scientific(value, unique=True, trim='0')}f" for value in table.ravel()]
        type_ = "float"
    else:
        table = reading.keys
        type_ = {8: "int16_t", 16: "int32_t", 32: "int64_t"}[reading.value_bits]
        texts = [str(key) for key in table.ravel()]
    shared = bool((table == table[0]).all())
    levels = table.shape[1]
    return {
        "levels": levels,
        "stride": 0 if shared else levels,
        "thresholds": texts[:levels] if shared else texts,
        "threshold_type": type_,
    }


def c_timing(circuit: Circuit, name: str, blocks: int, rounds: int) -> str:
    """A program that times an exported file of that name on `blocks` times 64 images."""
    words = _words(circuit, name, reading_of(circuit, "bits"))
    return render("timing.c", **words, header=f"{name}.h", blocks=blocks, rounds=rounds)


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Compiles the file with a small program around it, once for each kind that it reads."""
    name, text = _header_of(path, circuit)
    said = interface(text)
    bits = reading_of(circuit, "bits")
    own = reading_of(circuit, raw) if said is None else described(circuit, said)

    def answers(reading: Reading, rows: npt.NDArray[Any]) -> Answers:
        with tempfile.TemporaryDirectory() as folder:
            program, images, found = Path(folder, "program"), Path(folder, "images"), Path(folder, "answers")
            harness = program.with_suffix(".c")
            harness.write_text(render("harness.c", **_words(circuit, name, reading), source=path.resolve()))
            compile_c([harness], program, "-O1")
            np.ascontiguousarray(rows, DTYPES[reading.kind]).tofile(images)
            run([str(program), str(images), str(found)], "the compiled file", folder)
            answer = np.fromfile(found, np.int32).reshape(len(rows), circuit.classes + 1)
        return Answers(answer[:, -1].astype(np.int64), answer[:, :-1])

    return Readback((bits,) if own.kind == "bits" else (own, bits), answers)


def _header_of(path: Path, circuit: Circuit) -> tuple[str, str]:
    """The prefix of the functions and the text of the header, whose sizes must be the model's."""
    header = path.with_suffix(".h")
    text = header.read_text(errors="replace") if header.is_file() else ""
    found = re.search(r"void (\w+)_scores64\(", text)
    if found is None:
        raise HardwireError(f"{header} is missing or not written by hardwire; a C export is a .c file and its header")
    for what, size in {"INPUTS": circuit.inputs, "CLASSES": circuit.classes}.items():
        if not re.search(rf"#define \w+_{what} {size}$", text, flags=re.MULTILINE):
            raise HardwireError(f"{header} is of another model: its {what} is not {size}")
    return found[1], text


register(".c", title="C99", write=write, read=read)
