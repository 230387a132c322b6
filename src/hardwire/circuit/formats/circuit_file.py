"""Circuit files as one of the formats, so that `verify` compares two circuits as it compares any other file."""

from pathlib import Path
from typing import Any

import numpy.typing as npt

from hardwire.circuit import file
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.reading import Reading, reading_of


def write(circuit: Circuit, path: Path) -> list[Path]:
    file.save(circuit, path)
    return [path]


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    other = file.load(path)

    def answers(reading: Reading, rows: npt.NDArray[Any]) -> Answers:
        scores = other.scores(rows)
        return Answers(other.answers(scores), scores)

    return Readback((reading_of(circuit, "bits"),), answers, (circuit.netlist, other.netlist))


register(".circuit", title="a circuit file", write=write, read=read)
