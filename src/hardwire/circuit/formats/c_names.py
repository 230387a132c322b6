"""What the header of a C export says of a table: columns, texts and classes by name, and how raw numbers are quantized.

All of it is constants and inline functions, so that a program pays for what it uses. Surprising: names are written with
everything unusual as octal escapes, so that a column called `*/ system(` is a string and nothing else.
"""

import re
import string
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.bits.units import RANGES
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.input_format import InputFormat

_PLAIN = frozenset(string.ascii_letters + string.digits + "_.,:;()+-=<>#&|!@^[]{}$~")


def table_words(circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns the template values of names and of `quantize`.

    Args:
        circuit: The circuit, with the names of its columns if it was trained on a table.
        input_format: What the file reads.
    """
    columns = circuit.columns
    names = () if columns is None else columns.names
    labels = () if columns is None or circuit.number is not None else columns.labels or ()
    texts = {} if columns is None else columns.texts
    at = {name: place for place, name in enumerate(names)}
    return {
        "column_names": list(map(quoted, names)),
        "column_codes": codes("COLUMN", names),
        "class_names": list(map(quoted, labels)),
        "class_codes": codes("CLASS", labels),
        "text_codes": [
            (at[name], _others(columns, name), codes(f"TEXT_{macro(name)}", known)) for name, known in texts.items()
        ],
    } | _quantizer(circuit, input_format)


def _others(columns: Columns | None, name: str) -> str:
    """Says what the value is for other texts and for a missing one."""
    if columns is None:
        return ""
    known = columns.codes(name)
    return f"{known.other} for any other text, {known.missing} for a missing one"


def quoted(value: object) -> str:
    """Returns a C string of a name."""
    text, before = "", ""
    for sign in str(value):
        plain = sign in _PLAIN or (sign == " " and before not in ("", " "))
        text += sign if plain else "".join(f"\\{byte:03o}" for byte in sign.encode(errors="replace"))
        before = sign
    return f'"{text}"'


def macro(value: object) -> str:
    """Returns a name as a part of a C constant."""
    return re.sub(r"\W+", "_", str(value), flags=re.ASCII).strip("_").upper() or "_"


def codes(prefix: str, values: Any) -> list[str]:
    """Returns a constant for each value, by its place; two that would be the same have their place behind them."""
    made = [f"{prefix}_{macro(value)}" for value in values]
    return [name if made.count(name) == 1 else f"{name}_{place}" for place, name in enumerate(made)]


def _quantizer(circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns what `quantize` computes: the nearest whole number, halves down, clipped; for NaN the lowest."""
    encoder = circuit.encoder
    if encoder is None or input_format.kind == "bits":
        return {"quantizes": False}
    point, count = input_format.point, input_format.count
    low, high = (0, 0) if point is None else RANGES[input_format.kind]
    affine = point is not None and not ((point.scale == 1).all() and (point.offset == 0).all())
    return {
        "quantizes": True,
        "real": "float" if encoder.kind == "floats" else "int32_t",
        "whole": point is not None,
        "low": low,
        "high": high,
        "scales": _spread(point.scale, count) if point is not None and affine else [],
        "offsets": _spread(point.offset, count) if point is not None and affine else [],
    }


def _spread(values: npt.NDArray[np.float64], count: int) -> list[str]:
    return [repr(x) for x in np.broadcast_to(values, count).tolist()]
