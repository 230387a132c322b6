"""BLIF, the Berkeley logic interchange format: a `.names` table for each gate or look-up table, encoder, class sums and
argmax included."""

from collections.abc import Iterator
from pathlib import Path

import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.header import header_lines
from hardwire.circuit.formats.logic import PORTS, read_back, sums_lines
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import read_text
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.lower import complete, complete_tables
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import netlist_and_latency, reading
from hardwire.circuit.read_blif import parse_blif
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.circuit.table_rows import minimal
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
    """Writes a BLIF file.

    Args:
        circuit: The circuit.
        path: The file.
        name: Of the model in it, by default the file's.
        raw: What the inputs x[k] are the bits of, by default what the encoder was made for.
        values: See `hardwire.circuit.input_format.input_format_of`.
    """
    input_format = input_format_of(circuit, raw, values)
    comment = [f"# {line}" for line in header_lines(circuit, input_format, PORTS, *sums_lines(circuit))]
    tables = isinstance(circuit.netlist, TableNetlist)
    netlist = complete_tables(circuit, input_format) if tables else complete(circuit, input_format)
    write_whole(path, to_blif(netlist, name_for(path, name), comment))
    return [path]


def to_blif(netlist: AnyNetlist, name: str, comment: list[str]) -> str:
    """Returns the text of a BLIF file."""
    inputs = " ".join(f"x[{i}]" for i in range(netlist.inputs))
    outputs = " ".join(f"label[{i}]" for i in range(len(netlist.outputs)))
    lines = [*comment, f".model {name}", f".inputs {inputs}", f".outputs {outputs}"]
    nodes = [f"x[{i}]" for i in range(netlist.inputs)] + [f"n{i}" for i in range(netlist.inputs, netlist.nodes)]
    rows = _table_rows(netlist) if isinstance(netlist, TableNetlist) else _gate_rows(netlist)
    for node, (reads, cover) in enumerate(rows, start=netlist.inputs):
        # readers disagree about a table without lines, except that one without inputs is 0
        lines += [f".names {' '.join([*(nodes[read] for read in reads if cover), nodes[node]])}", *cover]
    for i, node in enumerate(netlist.outputs.tolist()):
        lines += [f".names {nodes[node]} label[{i}]", "1 1"]
    return "\n".join([*lines, ".end", ""])


def _gate_rows(netlist: Netlist) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """Yields the nodes that each gate reads and the lines of its table."""
    two = [[f"{a}{b} 1" for a, b in algebra.PAIRS if gate.hard(a, b)] for gate in GATES]
    one = [[f"{a} 1" for a in (0, 1) if gate.hard(a, a)] for gate in GATES]  # an input may occur only once in a table
    for gate, first, second in netlist.rows():
        yield ((first,), one[gate]) if first == second else ((first, second), two[gate])


def _table_rows(netlist: TableNetlist) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """Yields the same of each look-up table; the lines are those of the rarer value."""
    for row in netlist.rows():
        table, reads = minimal(*row)
        value = int(2 * table.bit_count() <= 1 << len(reads))
        if not reads:
            yield (), ["1"] * table
            continue
        addresses = [address for address in range(1 << len(reads)) if (table >> address & 1) == value]
        yield reads, [f"{''.join(str(a >> j & 1) for j in range(len(reads)))} {value}" for a in addresses]


def read_blif(path: Path) -> Netlist:
    """Reads a BLIF file of one model with ABC; a file that refers to other files or models is refused."""
    aiger = parse_blif(read_text(path), path)
    with reading(path):
        return netlist_and_latency(aiger)[0]


register(".blif", title="BLIF", write=write, read=read_back(read_blif), tables=True)
