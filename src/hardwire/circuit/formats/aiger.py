"""AIGER files: .aig, binary, and .aag, ASCII, with encoder, class sums and argmax as gates."""

from pathlib import Path

import numpy.typing as npt

from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.header import header_lines
from hardwire.circuit.formats.logic import PORTS, read_back, sums_lines
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.lower import complete
from hardwire.circuit.read_aiger import read_aiger


def write(circuit: Circuit, path: Path, *, raw: str | None = None, values: npt.ArrayLike | None = None) -> list[Path]:
    """Writes an AIGER file.

    Args:
        circuit: The circuit.
        path: The file, ASCII if it ends in .aag.
        raw: What the inputs x[k] are the bits of, by default what the encoder was made for.
        values: See `hardwire.circuit.input_format.input_format_of`.
    """
    input_format = input_format_of(circuit, raw, values)
    write_aiger(complete(circuit, input_format), path, header_lines(circuit, input_format, PORTS, *sums_lines(circuit)))
    return [path]


register(".aig", ".aag", title="AIGER", write=write, read=read_back(lambda path: read_aiger(path)[0]))
