"""The values of the C templates: names, sizes, tables of thresholds, and which C type holds what.

Both directions use them: `c.py` writes a circuit with them, and `c_read.py` writes a file again from what it has read,
to see that nothing else is in it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.c_gates import smallest_type, type_size
from hardwire.circuit.formats.c_names import table_words
from hardwire.circuit.formats.header import header_lines
from hardwire.circuit.formats.text import render
from hardwire.circuit.input_format import DTYPES, InputFormat

TYPES = {kind: "float" if kind == "floats" else f"{dtype.name}_t" for kind, dtype in DTYPES.items()}
WORDS = (1, 8, 32, 64)
TABLE_CODE = 1_000  # bytes of the functions that walk tables for one image
COLUMNS = 16  # compared at once by blocks.c


def file_words(
    circuit: Circuit,
    name: str,
    input_format: InputFormat,
    word: int,
    gates: dict[str, Any],
    *,
    main: bool,
    header: str,
    stated: InputFormat | None = None,
) -> dict[str, Any]:
    """Returns the values of the templates circuit.h and circuit.c.

    Args:
        circuit: The circuit.
        name: Prefix of the functions.
        input_format: What the file reads.
        word: Images at once.
        gates: The gates, from `c_gates.py`.
        main: Whether there is a program.
        header: Name of the header file.
        stated: What the header says of the input, if the thresholds of `input_format` were read from a file.
    """
    words = interface_words(circuit, name, input_format, word) | gates
    words |= {"main": main, "header": header} | table_words(circuit, stated or input_format)
    if gates["form"] == "row":
        return words
    words |= _encoder(input_format, word) | _sizes(words, word)
    table_bytes = words["gate_bytes"] + words["output_bytes"] + words.get("threshold_bytes", 0)
    words |= {"table_bytes": table_bytes}
    if gates["form"] == "mixed":
        words |= {
            "code_bytes": gates["code_bytes"] + table_bytes + TABLE_CODE,
            "stack_bytes": gates["stack_bytes"] + gates["walked_bytes"],
        }
    return words


def c_timing(circuit: Circuit, name: str, input_format: InputFormat, blocks: int, rounds: int) -> str:
    """Returns a program that times an exported file of that name on `blocks` times 64 images."""
    words = interface_words(circuit, name, input_format, 64)
    return render("timing.c", **words, header=f"{name}.h", blocks=blocks, rounds=rounds)


def bytewise(input_format: InputFormat, word: int) -> bool:
    """Whether values are compared as unsigned bytes, many at once."""
    return input_format.value_bits == 8 and word > 1


def interface_words(circuit: Circuit, name: str, input_format: InputFormat, word: int) -> dict[str, Any]:
    """Returns the values that exported files and the programs around them share."""
    from hardwire import __version__

    bits = input_format.kind == "bits"
    type_ = TYPES[input_format.kind]
    return {
        "comment": header_lines(circuit, input_format),
        "version": __version__,
        "digest": circuit.digest,
        "accuracy": circuit.provenance.accuracy,
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
        "count": input_format.count,
        "reader": "pack" if bits else "encode",
        "single": "_bits" if bits else "",
        "entries": [*([] if bits else [("", type_)]), ("_bits", "uint8_t")],
    }


def _sizes(words: dict[str, Any], word: int) -> dict[str, Any]:
    """Returns the sizes of the tables and the stack."""
    output_type = smallest_type(0, max(*words["outputs"], words["inputs"]))
    return {
        "output_type": output_type,
        "output_bytes": len(words["outputs"]) * type_size(output_type),
        "stack_bytes": words["slots"] * max(1, word // 8),
    }


def _encoder(input_format: InputFormat, word: int) -> dict[str, Any]:
    """Returns the tables that values are compared with: [levels][columns], or [columns][levels] for single images."""
    if input_format.thresholds is None:
        return {}
    whole, in_bytes = input_format.kind != "floats", bytewise(input_format, word)
    table: npt.NDArray[Any] = input_format.keys if whole else input_format.thresholds.astype(np.float32)
    if in_bytes and input_format.signed:
        table = table + 128
    always = []
    if whole and word > 1:  # compared in the type of the values, which cannot hold a threshold below all of them
        lowest = 0 if in_bytes else np.iinfo(DTYPES[input_format.kind]).min
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
        "levels": input_format.thresholds.shape[1],
        "columns": columns,
        "shared": shared,
        "bytewise": in_bytes,
        "signed": input_format.signed,
        "always": always,
        "thresholds": [[str(key) if whole else _float(key) for key in row] for row in table],
        "threshold_type": type_,
        "threshold_bytes": table.size * type_size(type_),
    }


def _float(value: np.float32) -> str:
    return f"{np.format_float_scientific(value, unique=True, trim='0')}f"
