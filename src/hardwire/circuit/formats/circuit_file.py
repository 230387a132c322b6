"""Circuit files as one of the formats, so that `verify` compares two circuits as it compares any other file."""

from pathlib import Path
from typing import Any

import numpy.typing as npt

from hardwire.circuit import file
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.formats.header import span_of
from hardwire.circuit.lower import encoded
from hardwire.circuit.reading import Reading, raw_kind, reading_of
from hardwire.errors import HardwireError


def write(circuit: Circuit, path: Path) -> list[Path]:
    file.save(circuit, path)
    return [path]


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Two circuits behind an encoder are compared behind it: on bits that it never makes they may differ."""
    other = file.load(path)
    says, wanted = _says(other), _says(circuit)
    if says != wanted:
        raise HardwireError(f"{path} is of another model: it has {says}, and the model has {wanted}")
    kind = raw_kind(circuit)
    if kind == "bits":
        reading = theirs = reading_of(circuit, "bits")
        pair = circuit.netlist, other.netlist
    else:
        reading, theirs = reading_of(circuit, kind), reading_of(other, kind)
        pair = encoded(circuit, reading), encoded(other, theirs)

    def answers(_: Reading, rows: npt.NDArray[Any]) -> Answers:
        scores = other.scores(theirs.bits(rows))
        return Answers(other.answers(scores), scores)

    return Readback((reading,), answers, pair)


def _says(circuit: Circuit) -> str:
    """What must be the same in two circuits for them to be compared at all, in words."""
    encoder = circuit.encoder
    reads = f"{circuit.inputs} bits"
    if encoder is not None:
        reads = f"{encoder.raw_features} values ({encoder.kind}{span_of(encoder)})"
    answer = f"{circuit.classes} classes" if circuit.number is None else f"{circuit.number}"
    return f"{reads}, {circuit.group} outputs for each of {answer}"


register(".circuit", title="a circuit file", write=write, read=read)
