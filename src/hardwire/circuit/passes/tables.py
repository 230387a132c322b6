"""Simplification of look-up tables: constants, copies and inverters go into the tables that read them, inputs that do
not matter go, equal tables become one, and small tables with one reader are packed into it.

An output that is the opposite of a node keeps a table of its own, because nothing that reads it could absorb an
inverter.
"""

from hardwire.circuit import truth
from hardwire.circuit.table_netlist import MOST_INPUTS, TableBuilder, TableNetlist
from hardwire.circuit.table_rows import Known, KnownNodes, Row, absorb, compose, minimal


def simplify_tables(netlist: TableNetlist) -> TableNetlist:
    """Repeats all passes until a round makes nothing smaller; the function of every output stays."""
    while True:
        smaller = remove_dead_tables(pack_tables(remove_dead_tables(merge_tables(netlist))))
        if len(smaller.table) == len(netlist.table) and smaller.arity.sum() == netlist.arity.sum():
            return smaller
        netlist = smaller


def merge_tables(netlist: TableNetlist) -> TableNetlist:
    """Puts constants, copies and inverters into their readers, drops inputs that do not matter, merges equal tables."""
    builder = TableBuilder(netlist.inputs)
    known = KnownNodes(netlist.inputs)
    made: dict[Row, Known] = {}
    for table, reads in netlist.rows():
        table, nodes = absorb(table, [known[read] for read in reads])
        known.append(_identify(builder, made, *minimal(table, nodes)))
    again: dict[Row, int] = {}
    return builder.netlist([_output(builder, again, known[output]) for output in netlist.outputs.tolist()])


def _identify(builder: TableBuilder, made: dict[Row, Known], table: int, nodes: tuple[int, ...]) -> Known:
    """What a minimal table is: a constant, a wire, one that was made before, its opposite, or a new one."""
    if not nodes:
        return Known(None, bool(table))
    if len(nodes) == 1:
        return Known(nodes[0], negated=table != truth.variable(1, 0))
    opposite = bool(table & 1)  # a function and its opposite share the key of the one that is 0 at address 0
    key = (truth.negate(table, len(nodes)) if opposite else table, nodes)
    if key not in made:
        made[key] = Known(builder.table(table, nodes), opposite)
    first = made[key]
    return Known(first.node, first.negated != opposite)


def _output(builder: TableBuilder, again: dict[Row, int], known: Known) -> int:
    """The node of an output; an opposite or a constant needs a table of its own."""
    if known.node is not None and not known.negated:
        return known.node
    row: Row = (int(known.negated), ())
    if known.node is not None:
        table, nodes = builder.rows[known.node - builder.inputs] if known.node >= builder.inputs else (2, (known.node,))
        row = (truth.negate(table, len(nodes)), nodes)
    if row not in again:
        again[row] = builder.table(*row)
    return again[row]


def pack_tables(netlist: TableNetlist) -> TableNetlist:
    """Puts a table into its only reader where both together read at most six nodes."""
    readers = [0] * netlist.nodes
    for _, reads in netlist.rows():
        for read in reads:
            readers[read] += 1
    for output in netlist.outputs.tolist():
        readers[output] += 2  # an output stays a node of its own
    rows: list[Row] = []
    for table, reads in netlist.rows():
        for read in reads:
            if read < netlist.inputs or readers[read] != 1 or read not in reads:
                continue
            inner_table, inner = rows[read - netlist.inputs]
            if len({*reads, *inner} - {read}) <= MOST_INPUTS:
                table, reads = compose(table, reads, read, inner_table, inner)
        rows.append((table, reads))
    builder = TableBuilder(netlist.inputs)
    builder.rows = rows
    return builder.netlist(netlist.outputs)


def remove_dead_tables(netlist: TableNetlist) -> TableNetlist:
    """Drops tables from which no path leads to an output."""
    rows = netlist.rows()
    alive = [False] * netlist.nodes
    for output in netlist.outputs.tolist():
        alive[output] = True
    for node in reversed(range(netlist.inputs, netlist.nodes)):
        if alive[node]:
            for read in rows[node - netlist.inputs][1]:
                alive[read] = True
    builder = TableBuilder(netlist.inputs)
    number = list(range(netlist.inputs))
    for node, (table, reads) in enumerate(rows, netlist.inputs):
        number.append(builder.table(table, tuple(number[read] for read in reads)) if alive[node] else -1)
    return builder.netlist([number[output] for output in netlist.outputs.tolist()])
