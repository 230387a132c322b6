"""Reads an exported C file back without compiling or running it: what its tables and expressions compute.

The numbers are taken from the text, the file is written again from them with the exporter's own templates, and the two
texts must be equal line by line. So every line is ours or refused, and only gates, thresholds and sums are left to be
compared with the model. Surprising: a file that is right but was edited by hand is refused too.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits.units import RANGES
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.fixed_point import FixedPoint
from hardwire.circuit.formats import Answers, Readback
from hardwire.circuit.formats.c_mixed import read_mixed
from hardwire.circuit.formats.c_netlist import Result, read_code, read_single_image, read_tables
from hardwire.circuit.formats.c_row_read import read_row
from hardwire.circuit.formats.c_text import CText, Line
from hardwire.circuit.formats.c_words import COLUMNS, WORDS, bytewise, file_words
from hardwire.circuit.formats.header import interface
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import read_text, render
from hardwire.circuit.input_format import InputFormat, input_format_from, input_format_of
from hardwire.circuit.lower import encoded
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError

_PART = re.compile(r"static void part_\d{1,9}\((?:word \*v|const \w{1,9} \*raw, sum \*s(?:, word \*v)?)\)")


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Reads a C file and its header as a circuit; nothing in them is executed."""
    header = path.with_suffix(".h")
    if not header.is_file():
        raise HardwireError(f"cannot read {header}: no such file; a C export is a .c file and its header")
    declared = read_text(header)
    h, c = CText(header, declared), CText(path, read_text(path))
    described = interface(declared)
    own = input_format_of(circuit, raw) if described is None else input_format_from(circuit, described)
    name = name_for(path, h.match(r"int (\w{1,200}?)_predict(?:_bits)?\(const \w{1,9} \*\w{3,4}\);"))
    word = h.number(f"{name.upper()}_WORD")
    if word not in WORDS:
        raise h.refused(f"it takes {word} images at once, where an export takes 64, 32, 8 or 1")
    _check_sizes(circuit, h, c, name.upper())
    netlist, theirs, gates = _gates(circuit, own, c, word)
    main = c.has("#include <stdio.h>\n")
    words = file_words(circuit, name, theirs, word, gates, main=main, header=header.name, stated=own)
    words |= _facts(h, name.upper())
    h.check_equal(render("circuit.h", **words))
    c.check_equal(render("circuit.c", **words))
    other = replace(circuit, netlist=netlist, encoder=None)
    return _readback(circuit, other, own, theirs, bits=gates["form"] not in ("row", "mixed"))


def _check_sizes(circuit: Circuit, h: CText, c: CText, prefix: str) -> None:
    """Raises an error if the file is of a model with other sizes."""
    sizes = {
        "input bits": (h.number(f"{prefix}_INPUTS"), circuit.inputs),
        "classes": (h.number(f"{prefix}_CLASSES"), circuit.classes),
        "outputs of each class": (c.number("GROUP"), circuit.group),
    }
    if circuit.number is not None:
        sizes["as the offset of its numbers"] = c.number("OFFSET"), circuit.number.offset
        sizes["as the exponent of its numbers"] = h.number(f"{prefix}_EXPONENT"), circuit.number.exponent
    for what, (size, expected) in sizes.items():
        if size != expected:
            raise HardwireError(f"{c.path} is of another model: it has {size} {what}, and the model has {expected}")


def _facts(h: CText, prefix: str) -> dict[str, Any]:
    """Returns what the header states beside sizes: it changes nothing that the file computes."""
    facts: dict[str, Any] = {
        "version": h.match(rf'#define {prefix}_VERSION "([\w.+-]{{1,40}})"'),
        "digest": h.match(rf'#define {prefix}_DIGEST "([0-9a-f]{{32}})"'),
        "accuracy": None,
    }
    if h.has(f"#define {prefix}_ACCURACY "):
        facts["accuracy"] = float(
            h.match(rf"#define {prefix}_ACCURACY (\d\.\d{{1,24}}|\d(?:\.\d{{1,24}})?e-\d{{1,3}})")
        )
    return facts


def _gates(circuit: Circuit, own: InputFormat, c: CText, word: int) -> tuple[Netlist, InputFormat, dict[str, Any]]:
    """Returns the gates as a netlist, the file's thresholds, and the template values that write both again."""
    try:
        if c.has("static void part_0(const "):
            slots = c.number("SLOTS") if c.has("#define SLOTS ") else 0
            if not c.has("#define WALKED "):
                return read_row(circuit, own, _parts(c), slots)
            theirs = own if own.kind == "bits" else _input_format(own, c, word)
            walked = c.number("WALKED")
            netlist, words = read_mixed(circuit, theirs, _parts(c), slots, _image_tables(c), _outputs(c), walked)
            return netlist, theirs, words
        theirs = own if own.kind == "bits" else _input_format(own, c, word)
        netlist, words = _table_or_code(circuit, c, word)
    except HardwireError:  # which is a ValueError as well, and says all this already
        raise
    except ValueError as error:
        raise c.refused(str(error)) from None
    return netlist, theirs, words


def _table_or_code(circuit: Circuit, c: CText, word: int) -> Result:
    outputs = _outputs(c)
    if len(outputs) != len(circuit.gates.outputs):
        raise ValueError(f"its table of outputs has {len(outputs)} entries in place of {len(circuit.gates.outputs)}")
    if word == 1:
        return read_single_image(circuit.inputs, *_image_tables(c), outputs)
    slots = c.number("SLOTS")
    if c.has("static void (*const parts[])"):
        return read_code(circuit.inputs, _parts(c), slots, outputs)
    tables = c.numbers(r"gates\[\]\[3\]"), c.numbers(r"runs\[\]\[2\]")
    return read_tables(circuit.inputs, *tables, slots, outputs)


def _outputs(c: CText) -> list[int]:
    outputs: list[int] = c.numbers(r"outputs\[\w{1,250} \* (?:GROUP|WALKED)\]").tolist()
    return outputs


def _image_tables(c: CText) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the tables of gates and runs for one image at a time."""
    return c.numbers(r"gates\[\]\[2\]"), c.numbers(r"runs\[\]\[2\]")


def _parts(c: CText) -> list[list[Line]]:
    """Returns the lines of the functions that compute gates."""
    parts: list[list[Line]] = []
    inside = False
    for number, line in c.lines:
        if inside and line == "}":
            inside = False
        elif inside and line != "{" and not line.startswith("(void)"):
            parts[-1].append((number, line))
        elif _PART.fullmatch(line):
            inside = True
            parts.append([])
    return parts


def _input_format(own: InputFormat, c: CText, word: int) -> InputFormat:
    """Returns the input format with the file's thresholds in place of the model's."""
    assert own.thresholds is not None
    count, levels = own.thresholds.shape
    declaration = r"thresholds\[LEVELS\]\[\d{1,9}\]" if word > 1 else r"thresholds\[\]\[\d{1,9}\]"
    table = _floats(c, declaration) if own.kind == "floats" else c.numbers(declaration).astype(np.float64)
    shared = levels * (COLUMNS if word > 1 else 1)
    every = levels * (count + (-count % COLUMNS if word > 1 else 0))
    if table.size not in (shared, every):
        raise HardwireError(f"{c.path} is of another model: its thresholds are not those of {count} x {levels} bits")
    table = table.reshape(levels, -1).T if word > 1 else table.reshape(-1, levels)
    table = table[:count] if table.size == every else table[:1].repeat(count, axis=0)
    if own.kind == "floats":
        return replace(own, thresholds=table)
    lowest = RANGES[own.kind][0]
    if bytewise(own, word) and own.signed:
        table = table + lowest
    if re.search(r"^static const \w{1,9} always\[\] = ", c.text, flags=re.MULTILINE):
        below = np.isin(np.arange(table.size), c.numbers(r"always\[\]")).reshape(table.shape)
        table = np.where(below, lowest - 1, table)
    return replace(own, thresholds=table, point=FixedPoint(own.kind, np.ones(1), np.zeros(1)))


def _floats(c: CText, declaration: str) -> npt.NDArray[np.float64]:
    try:
        values = np.array([float(value.removesuffix("f")) for value in c.values(declaration)], np.float32)
    except ValueError:
        values = np.array([np.nan], np.float32)
    if not np.isfinite(values).all():
        raise c.refused("its thresholds are not numbers")
    return values.astype(np.float64)


def _readback(circuit: Circuit, other: Circuit, own: InputFormat, theirs: InputFormat, bits: bool) -> Readback:
    def answers(input_format: InputFormat, rows: npt.NDArray[Any]) -> Answers:
        scores = other.scores(rows if input_format.kind == "bits" else theirs.bits(rows))
        return Answers(other.answers(scores), scores)

    if own.kind == "bits":
        return Readback((own,), answers, (circuit.gates, other.gates))
    pair = encoded(circuit, own), encoded(other, theirs)
    return Readback((own, input_format_of(circuit, "bits")) if bits else (own,), answers, pair)
