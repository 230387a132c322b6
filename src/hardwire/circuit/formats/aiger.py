"""AIGER files: .aig, binary, and .aag, ASCII. Encoder, sums and argmax are inside, as gates."""

from pathlib import Path

from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.logic import read_back
from hardwire.circuit.lower import complete
from hardwire.circuit.read_aiger import read_aiger


def write(circuit: Circuit, path: Path, *, raw: str | None = None) -> list[Path]:
    """raw: what the inputs are, bits, bytes or floats; not given, bytes where the circuit has an encoder."""
    write_aiger(complete(circuit, raw), path)
    return [path]


register(".aig", ".aag", title="AIGER", write=write, read=read_back(lambda path: read_aiger(path)[0]))
