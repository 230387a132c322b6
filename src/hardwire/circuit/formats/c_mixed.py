"""One image at a time, partly as code and partly as tables: for flash that is too small for code alone.

Of each class the first outputs are computed by straight-line code (c_row.py), and the last ones by tables that are
walked (c_gates.py). Surprising: a gate that both parts read is in both, since walking a table for a single gate of the
code would cost more than computing it twice; networks are shallow, so there are few.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.c_gates import single_image
from hardwire.circuit.formats.c_netlist import read_single_image
from hardwire.circuit.formats.c_row import column_keys, limits, row_code_words, row_parts
from hardwire.circuit.formats.c_row_read import read_row
from hardwire.circuit.formats.c_text import Line
from hardwire.circuit.input_format import InputFormat
from hardwire.circuit.netlist import Netlist


def mixed_words(circuit: Circuit, input_format: InputFormat, walked: int) -> dict[str, Any]:
    """Returns the template values; walked: of each class the last outputs, which tables compute."""
    netlist, group = circuit.gates, circuit.group
    places = np.arange(len(netlist.outputs)).reshape(circuit.classes, group)
    code, tables = (
        replace(netlist, outputs=netlist.outputs[part.ravel()])
        for part in (places[:, : group - walked], places[:, group - walked :])
    )
    lines = row_parts(replace(circuit, netlist=code), input_format)
    return _merged(row_code_words(*lines, circuit, input_format), single_image(tables), walked)


def _merged(row: dict[str, Any], tables: dict[str, Any], walked: int) -> dict[str, Any]:
    own = {"form": "mixed", "walked": walked, "functions": row["functions"] + 1, "walked_bytes": tables["slots"]}
    return tables | row | own


def read_mixed(
    circuit: Circuit,
    theirs: InputFormat,
    parts: list[list[Line]],
    slots: int,
    tables: tuple[Any, Any],
    outputs: list[int],
    walked: int,
) -> tuple[Netlist, dict[str, Any]]:
    """Returns the gates and the template values that write them again; theirs: the format with the file's thresholds.

    Raises:
        ValueError: If the file holds something else than what an export has.
    """
    if not 0 < walked < circuit.group or len(outputs) != walked * circuit.classes:
        raise ValueError(f"its tables have {len(outputs)} outputs, and {walked} of each class")
    code, stated, row = read_row(circuit, theirs, parts, slots, circuit.group - walked)
    low, high = limits(theirs.kind)
    walks, compares = (np.clip(column_keys(kind), low - 1, high) for kind in (theirs, stated))
    if not np.array_equal(walks, compares):
        raise ValueError("its code and its tables compare with different thresholds")
    rest, words = read_single_image(circuit.inputs, *tables, outputs)
    builder = Builder(circuit.inputs)
    first, last = (
        np.reshape(builder.embed(netlist, range(circuit.inputs)), (circuit.classes, -1)) for netlist in (code, rest)
    )
    return builder.netlist(np.hstack([first, last]).ravel().tolist()), _merged(row, words, walked)
