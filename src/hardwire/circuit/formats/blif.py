"""BLIF, the Berkeley logic interchange format: one `.names` table a gate, encoder, sums and argmax included."""

import tempfile
from pathlib import Path

import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.header import about
from hardwire.circuit.formats.logic import PORTS, read_back
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.reading import reading_of
from hardwire.circuit.tools import linked, run_abc
from hardwire.errors import HardwireError
from hardwire.files import write_whole
from hardwire.gates import GATES, algebra


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
) -> list[Path]:
    """raw: what the inputs x[k] are, by default what the encoder was made for; values: see `reading_of`."""
    reading = reading_of(circuit, raw, values)
    comment = [f"# {line}" for line in about(circuit, reading, PORTS)]
    write_whole(path, to_blif(complete(circuit, reading), name_for(path, name), comment))
    return [path]


def to_blif(netlist: Netlist, name: str, comment: list[str]) -> str:
    inputs = " ".join(f"x[{i}]" for i in range(netlist.inputs))
    outputs = " ".join(f"label[{i}]" for i in range(len(netlist.outputs)))
    lines = [*comment, f".model {name}", f".inputs {inputs}", f".outputs {outputs}"]
    nodes = [f"x[{i}]" for i in range(netlist.inputs)] + [f"n{i}" for i in range(netlist.inputs, netlist.nodes)]
    two = [[f"{a}{b} 1" for a, b in algebra.PAIRS if gate.hard(a, b)] for gate in GATES]
    one = [[f"{a} 1" for a in (0, 1) if gate.hard(a, a)] for gate in GATES]  # no input may stand twice in a table
    for node, (gate, first, second) in enumerate(netlist.rows(), start=netlist.inputs):
        reads, table = ([nodes[first]], one[gate]) if first == second else ([nodes[first], nodes[second]], two[gate])
        # readers differ on a table without lines, except that one without inputs is 0
        lines += [f".names {' '.join([*reads, nodes[node]] if table else [nodes[node]])}", *table]
    for i, node in enumerate(netlist.outputs.tolist()):
        lines += [f".names {nodes[node]} label[{i}]", "1 1"]
    return "\n".join([*lines, ".end", ""])


def read_blif(path: Path) -> Netlist:
    """The netlist of a BLIF file, read by ABC."""
    with tempfile.TemporaryDirectory() as folder:
        netlist = Path(folder, "netlist.aig")
        run_abc(f"read_blif {linked(path, folder)}; strash; write_aiger -s {netlist.name}", folder)
        if not netlist.is_file():
            raise HardwireError(f"cannot read {path}: ABC does not take it for a BLIF file")
        return read_aiger(netlist)[0]


register(".blif", title="BLIF", write=write, read=read_back(read_blif))
