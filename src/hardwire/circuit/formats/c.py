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
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.raw import RAW_TYPES, raw_count, raw_kind
from hardwire.circuit.tools import compile_c, run
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole

CODE_GATES = 20_000  # up to here code compiles in seconds; a third of a millisecond a gate
ENTRIES = {  # by kind: the type of a value, the function that reads 64 images, the one that classifies one
    "bits": ("uint8_t", "pack64", "predict_bits"),
    "bytes": ("uint8_t", "encode64", "predict"),
    "floats": ("float", "encode64_floats", "predict_floats"),
}


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    main: bool = False,
    raw: str | None = None,
    form: str | None = None,
) -> list[Path]:
    """Writes `path` (.c) and the header beside it. name: prefix of the functions, by default the file's; main: adds a
    program that reads a file of images; raw: what that file holds, bits (a byte each), bytes or floats; form: code or
    tables, by default code up to CODE_GATES gates."""
    name = name_for(path, name)
    header = path.with_suffix(".h")
    words = _words(circuit, name, raw_kind(circuit, raw))
    if form is None:
        form = "code" if len(circuit.netlist.gate) <= CODE_GATES else "tables"
    if form not in FORMS:
        raise unknown_name("form of C", form, FORMS)
    write_whole(header, render("circuit.h", **words))
    words |= _encoder(circuit) | FORMS[form](circuit.netlist)
    write_whole(path, render("circuit.c", **words, header=header.name, form=form, main=main))
    return [path, header]


def _words(circuit: Circuit, name: str, kind: str) -> dict[str, Any]:
    """What the templates of exported files and of the programs around them share."""
    type_, reader, single = ENTRIES[kind]
    return {
        "name": name,
        "NAME": name.upper(),
        "inputs": circuit.inputs,
        "classes": circuit.classes,
        "group": circuit.group,
        "planes": circuit.group.bit_length(),
        "raw": None if circuit.encoder is None else circuit.encoder.raw_features,
        "type": type_,
        "reader": reader,
        "single": single,
        "count": raw_count(circuit, kind),
    }


def _encoder(circuit: Circuit) -> dict[str, Any]:
    if circuit.encoder is None:
        return {}
    thresholds = circuit.encoder.thresholds
    shared = bool((thresholds == thresholds[0]).all())
    table = thresholds[0] if shared else thresholds.ravel()
    return {
        "levels": circuit.encoder.levels,
        "stride": 0 if shared else circuit.encoder.levels,
        "thresholds": [f"{np.format_float_scientific(value, unique=True, trim='0')}f" for value in table],
        "threshold_count": len(table),
    }


def c_timing(circuit: Circuit, name: str, blocks: int, rounds: int) -> str:
    """A program that times an exported file of that name on `blocks` times 64 images."""
    words = _words(circuit, name, "bits")
    return render("timing.c", **words, header=f"{name}.h", blocks=blocks, rounds=rounds)


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Compiles the file with a small program around it, once for each kind that it reads."""
    name = _name_of(path, circuit)
    kinds = ("bits",) if circuit.encoder is None else ("bits", "bytes", "floats")

    def answers(kind: str, rows: npt.NDArray[Any]) -> Answers:
        with tempfile.TemporaryDirectory() as folder:
            program, images, found = Path(folder, "program"), Path(folder, "images"), Path(folder, "answers")
            harness = program.with_suffix(".c")
            harness.write_text(render("harness.c", **_words(circuit, name, kind), source=path.resolve()))
            compile_c([harness], program, "-O1")
            np.ascontiguousarray(rows, RAW_TYPES[kind]).tofile(images)
            run([str(program), str(images), str(found)], "the compiled file", folder)
            answer = np.fromfile(found, np.int32).reshape(len(rows), circuit.classes + 1)
        return Answers(answer[:, -1].astype(np.int64), answer[:, :-1])

    return Readback(kinds, answers)


def _name_of(path: Path, circuit: Circuit) -> str:
    """The prefix of the functions, from the header, whose sizes must be the model's."""
    header = path.with_suffix(".h")
    text = header.read_text(errors="replace") if header.is_file() else ""
    found = re.search(r"void (\w+)_scores64\(", text)
    if found is None:
        raise HardwireError(f"{header} is missing or not written by hardwire; a C export is a .c file and its header")
    sizes = {"INPUTS": circuit.inputs, "CLASSES": circuit.classes}
    if circuit.encoder is not None:
        sizes["RAW"] = circuit.encoder.raw_features
    for what, size in sizes.items():
        if not re.search(rf"#define \w+_{what} {size}$", text, flags=re.MULTILINE):
            raise HardwireError(f"{header} is of another model: its {what} is not {size}")
    return found[1]


register(".c", title="C99", write=write, read=read)
