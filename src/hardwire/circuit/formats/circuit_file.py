"""Circuit files as one of the formats, so that `verify` compares two circuits as it compares any other file."""

from pathlib import Path
from typing import Any

import numpy.typing as npt

from hardwire.circuit import file
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.formats.header import span_of
from hardwire.circuit.input_format import InputFormat, input_format_of
from hardwire.circuit.lower import encoded
from hardwire.errors import HardwireError


def write(circuit: Circuit, path: Path) -> list[Path]:
    """Writes a circuit file."""
    file.save(circuit, path)
    return [path]


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Compares two circuits behind their encoders; on bits that no raw value produces they may differ."""
    other = file.load(path)
    theirs_in_words, expected = _interface(other), _interface(circuit)
    if theirs_in_words != expected:
        raise HardwireError(f"{path} is of another model: it has {theirs_in_words}, and the model has {expected}")
    input_format, theirs = input_format_of(circuit), input_format_of(other)
    if circuit.encoder is None:
        pair = circuit.gates, other.gates
    else:
        pair = encoded(circuit, input_format), encoded(other, theirs)

    def answers(_: InputFormat, rows: npt.NDArray[Any]) -> Answers:
        scores = other.scores(theirs.bits(rows))
        return Answers(other.answers(scores), scores)

    return Readback((input_format,), answers, pair)


def _interface(circuit: Circuit) -> str:
    """Describes what must be the same in two circuits for a comparison to make sense."""
    encoder = circuit.encoder
    reads = f"{circuit.inputs} bits"
    if encoder is not None:
        reads = f"{encoder.raw_features} values ({encoder.kind}{span_of(encoder)})"
    answer = f"{circuit.classes} classes" if circuit.number is None else f"{circuit.number}"
    return f"{reads}, {circuit.group} outputs for each of {answer}"


register(".circuit", title="a circuit file", write=write, read=read, tables=True)
