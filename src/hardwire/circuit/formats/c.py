"""C99: one file and a header, no allocation, many images at once or one alone, with encoder, class sums and argmax.

The gates come as straight-line code, or as tables and a loop, which compile in a second where code would take minutes
(c_gates.py). `word` is how many images are taken at once: 64, 32 or 8, or 1 for small machines, where every value is
a single bit. Surprising: tables run only about a sixth slower than code, since code that runs once for 64 images has to
be fetched like data.
"""

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.formats.c_gates import FORMS, one_image, smallest_type, type_size
from hardwire.circuit.formats.header import about, interface
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.reading import DTYPES, Reading, described, reading_of
from hardwire.circuit.tools import compile_c, run
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole

TYPES = {kind: "float" if kind == "floats" else f"{dtype.name}_t" for kind, dtype in DTYPES.items()}
WORDS = (1, 8, 32, 64)
COLUMNS = 16  # that blocks.c compares at once
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
    word: int = 64,
) -> list[Path]:
    """Writes `path` (.c) and the header beside it. name: prefix of the functions, by default the file's; main: adds a
    program that reads a file of images; raw: what both read, by default what the encoder was made for (bits: a byte
    each); values: see `reading_of`; form: code or tables, by default code up to CODE_GATES gates; word: images at once,
    64, 32, 8, or 1 for small machines."""
    reading = reading_of(circuit, raw, values)
    if word not in WORDS:
        raise HardwireError(f"a word of {word!r} images is not made; choose 64, 32, 8 or 1")
    _ = circuit.answer_width  # an error where int32_t would not hold it
    if form is None:
        form = "code" if len(circuit.netlist.gate) <= CODE_GATES and word > 1 else "tables"
    if form not in FORMS or (form == "code" and word == 1):
        raise unknown_name("form of C", form, ["tables"] if word == 1 else FORMS)
    header = path.with_suffix(".h")
    if header == path:
        raise HardwireError(f"{path} is where the header of a C file goes; name the .c file")
    words = _words(circuit, name_for(path, name), reading, word)
    words |= one_image(circuit.netlist) if word == 1 else FORMS[form](circuit.netlist)
    words |= _encoder(reading, word) | _sizes(words, word) | {"form": form, "main": main, "header": header.name}
    words |= {"table_bytes": words["gate_bytes"] + words["output_bytes"] + words.get("threshold_bytes", 0)}
    declared, defined = render("circuit.h", **words), render("circuit.c", **words)
    write_whole(header, declared)
    write_whole(path, defined)
    return [path, header]


def _words(circuit: Circuit, name: str, reading: Reading, word: int) -> dict[str, Any]:
    """What the templates of exported files and of the programs around them share."""
    from hardwire import __version__

    bits = reading.kind == "bits"
    type_ = TYPES[reading.kind]
    return {
        "about": about(circuit, reading),
        "version": __version__,
        "digest": circuit.digest,
        "accuracy": circuit.about.accuracy,
        "name": name,
        "NAME": name.upper(),
        "word": word,
        "inputs": circuit.inputs,
        "classes": circuit.classes,
        "group": circuit.group,
        "planes": circuit.group.bit_length(),
        "label_planes": max(1, (circuit.classes - 1).bit_length()),
        "offset": None if circuit.number is None else circuit.number.offset,
        "exponent": None if circuit.number is None else circuit.number.exponent,
        "answers": "classes" if circuit.number is None else "answers",
        "encodes": not bits,
        "type": type_,
        "count": reading.count,
        "reader": "pack" if bits else "encode",
        "single": "_bits" if bits else "",
        "entries": [*([] if bits else [("", type_)]), ("_bits", "uint8_t")],
    }


def _sizes(words: dict[str, Any], word: int) -> dict[str, Any]:
    output_type = smallest_type(0, max(*words["outputs"], words["inputs"]))
    return {
        "output_type": output_type,
        "output_bytes": len(words["outputs"]) * type_size(output_type),
        "stack_bytes": words["slots"] * max(1, word // 8),
    }


def _encoder(reading: Reading, word: int) -> dict[str, Any]:
    """The tables that values are compared with: [levels][columns], or [columns][levels] for one image alone."""
    if reading.thresholds is None:
        return {}
    whole, bytewise = reading.kind != "floats", reading.value_bits == 8 and word > 1
    table: npt.NDArray[Any] = reading.keys if whole else reading.thresholds.astype(np.float32)
    if bytewise and reading.signed:
        table = table + 128
    always = []
    if whole and word > 1:  # compared in the type of the values, which does not hold what is below all of them
        lowest = 0 if bytewise else np.iinfo(DTYPES[reading.kind]).min
        always = np.flatnonzero(table.ravel() < lowest).tolist()
        table = np.maximum(table, lowest)
    shared = bool((table == table[0]).all())
    columns = COLUMNS if shared else len(table) + -len(table) % COLUMNS
    if word > 1:
        table = (table[:1].repeat(columns, axis=0) if shared else np.pad(table, ((0, columns - len(table)), (0, 0)))).T
    elif shared:
        table = table[:1]
    type_ = smallest_type(int(table.min()), int(table.max())) if whole else "float"
    return {
        "levels": reading.thresholds.shape[1],
        "columns": columns,
        "shared": shared,
        "bytewise": bytewise,
        "signed": reading.signed,
        "always": always,
        "thresholds": [[str(key) if whole else _float(key) for key in row] for row in table],
        "threshold_type": type_,
        "threshold_bytes": table.size * type_size(type_),
    }


def _float(value: np.float32) -> str:
    return f"{np.format_float_scientific(value, unique=True, trim='0')}f"


def c_timing(circuit: Circuit, name: str, reading: Reading, blocks: int, rounds: int) -> str:
    """A program that times an exported file of that name on `blocks` times 64 images."""
    return render("timing.c", **_words(circuit, name, reading, 64), header=f"{name}.h", blocks=blocks, rounds=rounds)


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Compiles the file with a small program around it, once for each kind that it reads."""
    name, word, text = _header_of(path, circuit)
    said = interface(text)
    bits = reading_of(circuit, "bits")
    own = reading_of(circuit, raw) if said is None else described(circuit, said)

    def answers(reading: Reading, rows: npt.NDArray[Any]) -> Answers:
        with tempfile.TemporaryDirectory() as folder:
            program, images, found = Path(folder, "program"), Path(folder, "images"), Path(folder, "answers")
            harness = program.with_suffix(".c")
            harness.write_text(render("harness.c", **_words(circuit, name, reading, word), source=path.resolve()))
            compile_c([harness], program, "-O1")
            np.ascontiguousarray(rows, DTYPES[reading.kind]).tofile(images)
            run([str(program), str(images), str(found)], "the compiled file", folder)
            answer = np.fromfile(found, np.int32).reshape(len(rows), circuit.classes + 1)
        return Answers(answer[:, -1].astype(np.int64), answer[:, :-1])

    return Readback((bits,) if own.kind == "bits" else (own, bits), answers)


def _header_of(path: Path, circuit: Circuit) -> tuple[str, int, str]:
    """The prefix of the functions, the images at once and the text of the header, whose sizes must be the model's."""
    header = path.with_suffix(".h")
    text = header.read_text(errors="replace") if header.is_file() else ""
    name = re.search(r"int (\w+)_predict_bits\(", text)
    word = re.search(r"#define \w+_WORD (\d{1,2})$", text, flags=re.MULTILINE)
    if name is None or word is None or int(word[1]) not in WORDS:
        raise HardwireError(f"{header} is missing or not written by hardwire; a C export is a .c file and its header")
    for what, size in {"INPUTS": circuit.inputs, "CLASSES": circuit.classes}.items():
        if not re.search(rf"#define \w+_{what} {size}$", text, flags=re.MULTILINE):
            raise HardwireError(f"{header} is of another model: its {what} is not {size}")
    return name[1], int(word[1]), text


register(".c", title="C99", write=write, read=read)
