"""AIGER files: .aig, binary, and .aag, ASCII. Encoder, sums and argmax are inside, as gates."""

from pathlib import Path

import numpy.typing as npt

from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.header import about
from hardwire.circuit.formats.logic import PORTS, read_back
from hardwire.circuit.lower import complete
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.reading import reading_of


def write(circuit: Circuit, path: Path, *, raw: str | None = None, values: npt.ArrayLike | None = None) -> list[Path]:
    """raw: what the inputs x[k] are, by default what the encoder was made for; values: see `reading_of`."""
    reading = reading_of(circuit, raw, values)
    write_aiger(complete(circuit, reading), path, about(circuit, reading, PORTS))
    return [path]


register(".aig", ".aag", title="AIGER", write=write, read=read_back(lambda path: read_aiger(path)[0]))
