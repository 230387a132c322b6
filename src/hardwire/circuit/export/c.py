"""C99: one file and a header, no allocation, 64 images at once or one alone, with encoder, class sums and argmax.

The gates come in one of two forms. "code": straight-line statements, cut into short functions (c_parts.py). "tables":
rows of numbers and a loop (c_tables.py), which compile in a second where code would take minutes. Surprising: tables
run only about a sixth slower, since code that runs once for 64 images has to be fetched like data.
"""

import os
from pathlib import Path

import numpy as np

from hardwire.circuit.export import c_template
from hardwire.circuit.export.c_parts import parts
from hardwire.circuit.export.c_tables import tables
from hardwire.circuit.export.c_template import fill, numbers
from hardwire.circuit.export.names import name_for
from hardwire.circuit.lower import raw_kind
from hardwire.circuit.netlist import Circuit
from hardwire.errors import unknown_name
from hardwire.files import write_whole

FORMS = {"code": parts, "tables": tables}
CODE_GATES = 20_000  # up to here code compiles in seconds; a third of a millisecond a gate


def write_c(
    circuit: Circuit,
    path: str | os.PathLike,
    *,
    name: str | None = None,
    main: bool = False,
    raw: str | None = None,
    form: str | None = None,
) -> None:
    """Writes `path` (.c) and the header beside it. name: prefix of the functions, by default the file's; main: adds a
    program that reads a file of images; raw: what that file holds, bits (a byte each), bytes or floats; form: code or
    tables, by default code up to CODE_GATES gates."""
    path = Path(path)
    name = name_for(path, name)
    header = path.with_suffix(".h")
    kind = raw_kind(circuit, raw)
    if form is None:
        form = "code" if len(circuit.netlist.gate) <= CODE_GATES else "tables"
    if form not in FORMS:
        raise unknown_name("form of C", form, FORMS)
    write_whole(header, c_header(circuit, name))
    write_whole(path, c_source(circuit, name, header.name, form, kind if main else None))


def c_header(circuit: Circuit, name: str) -> str:
    encoder = circuit.encoder
    values = {"name": name, "NAME": name.upper(), "inputs": circuit.inputs, "classes": circuit.classes}
    text = c_template.HEADER
    if encoder is not None:
        text += c_template.HEADER_ENCODER
        values["raw"] = encoder.raw_features
    return fill(text + c_template.HEADER_END, values)


def c_source(circuit: Circuit, name: str, header: str, form: str, main: str | None) -> str:
    """main: the kind of raw input that the program reads, or None for no program."""
    gates, slots, outputs = FORMS[form](circuit.netlist)
    values = {
        "name": name,
        "NAME": name.upper(),
        "header": header,
        "slots": slots,
        "group": circuit.group,
        "planes": circuit.group.bit_length(),
        "outputs": numbers(outputs),
    }
    pieces = [c_template.SOURCE, gates, c_template.SUMS]
    if circuit.encoder is not None:
        pieces.append(_encoder(circuit))
    if main is not None:
        values |= _reading(circuit, main)
        pieces.append(c_template.MAIN)
    return fill("".join(pieces), values)


def c_harness(circuit: Circuit, source: Path, name: str, raw: str) -> str:
    """A program around an exported file, for comparing what it computes."""
    values = {"source": source, "name": name, "inputs": circuit.inputs, "classes": circuit.classes}
    return fill(c_template.HARNESS, values | _reading(circuit, raw))


def c_timing(circuit: Circuit, name: str, blocks: int, rounds: int) -> str:
    """A program that times an exported file of that name on `blocks` times 64 images."""
    values = {"header": f"{name}.h", "name": name, "inputs": circuit.inputs, "blocks": blocks, "rounds": rounds}
    return fill(c_template.TIMING, values)


def _reading(circuit: Circuit, raw: str) -> dict:
    """How a program reads images of a kind: the type of a value, their number, and the functions that take them."""
    kinds = {
        "bits": ("uint8_t", "pack64", "predict_bits"),
        "bytes": ("uint8_t", "encode64", "predict"),
        "floats": ("float", "encode64_floats", "predict_floats"),
    }
    count = circuit.inputs if raw == "bits" else circuit.encoder.raw_features
    return dict(zip(("type", "reader", "single"), kinds[raw], strict=True)) | {"count": count}


def _encoder(circuit: Circuit) -> str:
    thresholds = circuit.encoder.thresholds
    shared = bool((thresholds == thresholds[0]).all())
    table = thresholds[0] if shared else thresholds.ravel()
    values = {
        "levels": circuit.encoder.levels,
        "stride": 0 if shared else circuit.encoder.levels,
        "thresholds": numbers([f"{np.format_float_scientific(value, unique=True, trim='0')}f" for value in table]),
        "threshold_count": len(table),
    }
    return fill(c_template.ENCODER, values)
