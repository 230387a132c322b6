"""The gates of a circuit as straight-line Python for MicroPython, CircuitPython and CPython.

The lines are those of C for one image (c_row.py) in Python's words: a bit is 0 or 1 in place of 0 or -1. Functions are
short, because small interpreters keep all variables of a function on one stack.
"""

import re
from typing import Any

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.c_row import row_parts
from hardwire.circuit.input_format import InputFormat

PIECE = 48  # gates of a function
_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"const word (n\d+) = \(word\)\((.*)\);", r"\1 = \2"),
        (r"const word (n\d+) = (?:BELOW|LESS)\((x\d+), (-?\d+)\);", r"\1 = \2 < \3"),
        (r"const word (n\d+) = 0;", r"\1 = 0"),
        (r"const word (n\d+) = -1;", r"\1 = 1"),
        (r"const word (n\d+) = (v\[\d+\]);", r"\1 = \2"),
        (r"const value (x\d+) = (?:clip\()?(?:key\()?(raw\[\d+\])\)?(?:, .*)?;", r"\1 = \2"),
        (r"(v\[\d+\]) = (n\d+);", r"\1 = \2"),
        (r"(s\d+) -= (n\d+);", r"\1 += \2"),
        (r"(s\d+) \+= (n\d+);", r"\1 -= \2"),
        (r"(s\d+) \+= ([01]);", r"\1 += \2"),
        (r"sum (s\d+) = (\d+);", r"\1 = \2"),
        (r"(s\[\d+\]) \+= (s\d+);", r"\1 += \2"),
    )
]


def python_words(circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns the template values of the module: the functions, line by line, and how many values they share."""
    parts, slots = row_parts(circuit, input_format, PIECE)
    limits = None if input_format.kind != "floats" or input_format.thresholds is None else input_format.thresholds
    return {"parts": [[_python(line, limits) for line in part] for part in parts], "slots": slots}


def _python(line: str, thresholds: Any) -> str:
    """Returns a line of C in Python."""
    if thresholds is not None and (compared := re.fullmatch(r"const word n(\d+) = \w+\((x\d+), .*\);", line)):
        limit = float(thresholds.ravel()[int(compared[1])])
        return f"n{compared[1]} = not {compared[2]} > {limit!r}"  # so that NaN is below
    for pattern, replacement in _RULES:
        if match := pattern.fullmatch(line):
            return match.expand(replacement)
    raise AssertionError(line)
