"""What every exported file says of itself, and how `verify` reads it again.

One line of it is for machines: `hardwire-interface:` and what the file reads, as JSON.
"""

import json
import re
from typing import Any

from hardwire.bits import Encoder
from hardwire.circuit.circuit import About, Circuit
from hardwire.circuit.reading import DTYPES, Reading
from hardwire.errors import HardwireError

LICENSE = "MIT-0"  # of generated code: ours, and anyone may use it in any way, without a notice
_MARK = "hardwire-interface: "


def about(circuit: Circuit, reading: Reading, *more: str) -> list[str]:
    """The lines of a header, without the signs of a comment. more: what is particular to the format."""
    from hardwire import __version__

    known = circuit.about
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
        f"Written by hardwire {__version__}: {_kind(circuit)} of two-input logic gates.",
        f"{origin}.",
        f"{numbers.gates:,} gates, depth {numbers.depth}; {circuit.inputs:,} input bits, {circuit.classes} "
        f"{'class' if circuit.classes == 1 else 'classes'} of {circuit.group:,} outputs.",
        _answer(circuit),
        f"Reads {reading.count:,} {_meaning(circuit, reading)}.",
        *more,
        _MARK + json.dumps(reading.describe() | _scale(circuit)),
    ]


def _test_set(known: About) -> str:
    return "its test set" if known.tested_on is None else f"the test set of {_plain(known.tested_on)}"


def _scale(circuit: Circuit) -> dict[str, int]:
    return {} if circuit.number is None else {"exponent": circuit.number.exponent}


def _plain(text: str) -> str:
    """A text of unknown origin that can neither end a comment nor begin a line."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return printable.replace("*/", "* /").replace("/*", "/ *")


def _kind(circuit: Circuit) -> str:
    return "a classifier" if circuit.number is None else "a number"


def _answer(circuit: Circuit) -> str:
    if circuit.number is None:
        return "A score is the number of true outputs of a class; the highest wins, ties go to the lowest class."
    return (
        f"The answer is the number of true outputs {circuit.number.offset:+d}, {circuit.answer_width} bits with sign, "
        f"and stands for answer * 2^{circuit.number.exponent}."
    )


def span_of(encoder: Encoder | None) -> str:
    """The range of raw values in words, where they have one."""
    return f" from 0 to {encoder.maximum:g}" if encoder is not None and encoder.maximum else ""


def _meaning(circuit: Circuit, reading: Reading) -> str:
    if reading.thresholds is None:
        return "bits"
    span = span_of(circuit.encoder)
    if reading.kind == "floats":
        return f"IEEE single precision values{span}; NaN is below every threshold"
    assert reading.point is not None
    if (reading.point.scale == 1).all() and (reading.point.offset == 0).all():
        return f"values of {DTYPES[reading.kind].name}{span}"
    fitted = f"; no value of {reading.fitted:,} rows changes its side, others may" if reading.fitted else ""
    return f"values q of {DTYPES[reading.kind].name}, which stand for offset + scale * q{span}, given below{fitted}"


def interface(text: str) -> dict[str, Any] | None:
    """What a file says that it reads; None where it says nothing."""
    found = re.search(rf"{_MARK}(\{{.*\}})", text)
    if found is None:
        return None
    try:
        said = json.loads(found[1])
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise HardwireError(f"its line {_MARK!r} is damaged")
    return said
