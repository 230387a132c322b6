"""C99: one file and a header, no allocation, 64 images at once or one alone, with encoder, class sums and argmax.

The gates are straight-line code, cut into short functions by c_parts.py so that compilers can digest it; the constant
text of the file is in c_template.py.
"""

import os
from pathlib import Path

import numpy as np

from hardwire.circuit.export import c_template
from hardwire.circuit.export.c_parts import Parts, split
from hardwire.circuit.export.names import name_for
from hardwire.circuit.file import write_whole
from hardwire.circuit.lower import raw_kind
from hardwire.circuit.netlist import Circuit


def write_c(
    circuit: Circuit, path: str | os.PathLike, *, name: str | None = None, main: bool = False, raw: str | None = None
) -> None:
    """Writes `path` (.c) and the header beside it. name: prefix of the functions, by default the file's; main: adds a
    program that reads a file of images; raw: what that file holds, bits (a byte each), bytes or floats."""
    path = Path(path)
    name = name_for(path, name)
    header = path.with_suffix(".h")
    kind = raw_kind(circuit, raw)
    write_whole(header, c_header(circuit, name))
    write_whole(path, c_source(circuit, name, header.name, kind if main else None))


def c_header(circuit: Circuit, name: str) -> str:
    encoder = circuit.encoder
    values = {"name": name, "NAME": name.upper(), "inputs": circuit.inputs, "classes": circuit.classes}
    text = c_template.HEADER
    if encoder is not None:
        text += c_template.HEADER_ENCODER
        values["raw"] = encoder.raw_features
    return _fill(text + c_template.HEADER_END, values)


def c_source(circuit: Circuit, name: str, header: str, main: str | None) -> str:
    """main: the kind of raw input that the program reads, or None for no program."""
    parts = split(circuit.netlist)
    values = {
        "name": name,
        "NAME": name.upper(),
        "header": header,
        "slots": parts.slots,
        "group": circuit.group,
        "planes": circuit.group.bit_length(),
        "outputs": _numbers(parts.outputs),
    }
    pieces = [c_template.SOURCE, *parts.functions, _calls(parts), c_template.SUMS]
    if circuit.encoder is not None:
        pieces.append(_encoder(circuit))
    if main is not None:
        kinds = {"bits": ("uint8_t", "pack64", "INPUTS"), "bytes": ("uint8_t", "encode64", "RAW")}
        kinds["floats"] = ("float", "encode64_floats", "RAW")
        values["type"], values["reader"], count = kinds[main]
        values["count"] = f"{name.upper()}_{count}"
        pieces.append(c_template.MAIN)
    return _fill("".join(pieces), values)


def _fill(text: str, values: dict) -> str:
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def _numbers(values: list) -> str:
    lines = [", ".join(map(str, values[start : start + 16])) for start in range(0, len(values), 16)]
    return ",\n    ".join(lines)


def _calls(parts: Parts) -> str:
    if not parts.functions:  # wires alone
        return c_template.NO_GATES
    names = _numbers([f"part_{i}" for i in range(len(parts.functions))])
    return _fill(c_template.GATES, {"part_count": len(parts.functions), "parts": names})


def _encoder(circuit: Circuit) -> str:
    thresholds = circuit.encoder.thresholds
    shared = bool((thresholds == thresholds[0]).all())
    table = thresholds[0] if shared else thresholds.ravel()
    values = {
        "levels": circuit.encoder.levels,
        "stride": 0 if shared else circuit.encoder.levels,
        "thresholds": _numbers([f"{np.format_float_scientific(value, unique=True, trim='0')}f" for value in table]),
        "threshold_count": len(table),
    }
    return _fill(c_template.ENCODER, values)
