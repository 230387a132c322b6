"""BLIF, the Berkeley logic interchange format: one `.names` table a gate, encoder, sums and argmax included."""

import os

from hardwire.circuit.export.names import name_for
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.files import write_whole
from hardwire.gates import GATES


def write_blif(circuit: Circuit, path: str | os.PathLike, *, name: str | None = None, raw: str | None = None) -> None:
    """raw: what the inputs x[k] are, bits, bytes or floats; not given, bytes where the circuit has an encoder."""
    write_whole(path, to_blif(complete(circuit, raw), name_for(path, name)))


def to_blif(netlist: Netlist, name: str) -> str:
    inputs = " ".join(f"x[{i}]" for i in range(netlist.inputs))
    outputs = " ".join(f"label[{i}]" for i in range(len(netlist.outputs)))
    lines = ["# written by hardwire", f".model {name}", f".inputs {inputs}", f".outputs {outputs}"]
    tables = [_rows(gate.truth_table) for gate in GATES]
    nodes = [f"x[{i}]" for i in range(netlist.inputs)] + [f"n{i}" for i in range(netlist.inputs, netlist.nodes)]
    rows = zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True)
    for node, (gate, first, second) in enumerate(rows, start=netlist.inputs):
        table = _rows_of_one(GATES[gate].truth_table) if first == second else tables[gate]
        reads = [nodes[first]] if first == second else [nodes[first], nodes[second]]  # no input twice in a table
        # readers differ on a table without lines, except that one without inputs is 0
        lines += [f".names {' '.join([*reads, nodes[node]] if table else [nodes[node]])}", *table]
    for i, node in enumerate(netlist.outputs.tolist()):
        lines += [f".names {nodes[node]} label[{i}]", "1 1"]
    return "\n".join([*lines, ".end", ""])


def _rows(table: int) -> list[str]:
    """The lines of a table that give 1; bit 2 * a + b of `table` is the output for a, b."""
    return [f"{i >> 1}{i & 1} 1" for i in range(4) if table >> i & 1]


def _rows_of_one(table: int) -> list[str]:
    return [f"{a} 1" for a in (0, 1) if table >> (3 * a) & 1]
