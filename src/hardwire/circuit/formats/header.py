"""The header of every exported file, and how `verify` reads it back.

One line of it is for machines: `hardwire-interface:` followed by what the file reads, as JSON.
"""

import json
import re
from typing import Any

from hardwire.bits import Encoder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.input_format import DTYPES, InputFormat
from hardwire.circuit.provenance import Provenance
from hardwire.circuit.table_netlist import TableNetlist
from hardwire.errors import HardwireError

LICENSE = "MIT-0"  # of generated code: free to use in any way, without a notice
LONGEST = 1 << 22  # characters of the line for machines; a scale and an offset for each of 50,000 columns fit
_MARK = "hardwire-interface: "


def header_lines(circuit: Circuit, input_format: InputFormat, *more: str) -> list[str]:
    """Returns the lines of a header, without comment signs.

    Args:
        circuit: The circuit.
        input_format: What the file reads.
        *more: Lines about the particular format.
    """
    from hardwire import __version__

    known = circuit.provenance
    origin = ", ".join(
        [
            f"circuit {circuit.digest}",
            *([f"of model {_plain(known.model)}"] if known.model else []),
            *([f"trained on {_plain(known.dataset)}"] if known.dataset else []),
            *([f"{100 * known.accuracy:.2f}% of {_test_set(known)}"] if known.accuracy is not None else []),
        ]
    )
    numbers = circuit.statistics()
    return [
        f"SPDX-License-Identifier: {LICENSE}",
        f"Written by hardwire {__version__}: {_kind(circuit)} of {_parts(circuit)}.",
        f"{origin}.",
        f"{numbers.gates:,} {numbers.made_of}, depth {numbers.depth}; {circuit.inputs:,} input bits, {circuit.classes} "
        f"{'class' if circuit.classes == 1 else 'classes'} of {circuit.group:,} outputs.",
        _answer(circuit),
        f"Reads {input_format.count:,} {_meaning(circuit, input_format)}.",
        *more,
        _MARK + json.dumps(input_format.describe() | _scale(circuit)),
    ]


def _test_set(known: Provenance) -> str:
    return "its test set" if known.tested_on is None else f"the test set of {_plain(known.tested_on)}"


def _scale(circuit: Circuit) -> dict[str, int]:
    return {} if circuit.number is None else {"exponent": circuit.number.exponent}


def _plain(text: str) -> str:
    """Makes a text of unknown origin harmless: it can neither end a comment nor start a line, nor be a trigraph."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return re.sub(r"\?(?=\?)", "? ", printable.replace("*/", "* /").replace("/*", "/ *"))


def _kind(circuit: Circuit) -> str:
    return "a classifier" if circuit.number is None else "a number"


def _parts(circuit: Circuit) -> str:
    if isinstance(circuit.netlist, TableNetlist):
        return f"look-up tables of up to {max(circuit.netlist.arity.max(initial=0), 2)} inputs"
    return "two-input logic gates"


def _answer(circuit: Circuit) -> str:
    if circuit.number is None:
        return "A score is the number of true outputs of a class; the highest wins, ties go to the lowest class."
    return (
        f"The answer is the number of true outputs {circuit.number.offset:+d}, {circuit.answer_width} bits with sign, "
        f"and stands for answer * 2^{circuit.number.exponent}."
    )


def span_of(encoder: Encoder | None) -> str:
    """Describes the range of raw values, if they have one."""
    return f" from 0 to {encoder.maximum:g}" if encoder is not None and encoder.maximum else ""


def _meaning(circuit: Circuit, input_format: InputFormat) -> str:
    if input_format.thresholds is None:
        return "bits"
    span = span_of(circuit.encoder)
    if input_format.kind == "floats":
        return f"IEEE single precision values{span}; NaN is below every threshold"
    assert input_format.point is not None
    if (input_format.point.scale == 1).all() and (input_format.point.offset == 0).all():
        return f"values of {DTYPES[input_format.kind].name}{span}"
    fitted = f"; no value of {input_format.fitted:,} rows changes its side, others may" if input_format.fitted else ""
    return (
        f"values q of {DTYPES[input_format.kind].name}, which stand for offset + scale * q{span}, given below{fitted}"
    )


def interface(text: str) -> dict[str, Any] | None:
    """Returns what a file says it reads, or None if it says nothing."""
    return marked(text, _MARK)


def marked(text: str, mark: str) -> dict[str, Any] | None:
    """Returns the JSON object after a mark, to the end of its line; None if the mark is missing."""
    at = text.find(mark)
    if at < 0:
        return None
    line = text[at + len(mark) : at + len(mark) + LONGEST].partition("\n")[0]
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise HardwireError(f"its line {mark!r} is damaged")
    return value
