"""Simplification of look-up tables: constants, copies and inverters go into the tables that read them, inputs that do
not matter go, equal tables become one, and small tables with one reader are packed into it.

An output that is the opposite of a node keeps a table of its own, because nothing that reads it could absorb an
inverter.
"""

from dataclasses import dataclass

from hardwire.circuit import truth
from hardwire.circuit.table_netlist import MOST_INPUTS, TableBuilder, TableNetlist

Row = tuple[int, tuple[int, ...]]  # a table and the nodes it reads


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
    known = [_Known(node) for node in range(netlist.inputs)]
    made: dict[Row, int] = {}
    for table, reads in netlist.rows():
        table, nodes = _absorb(table, [known[read] for read in reads])
        known.append(_identify(builder, made, *minimal(table, nodes)))
    outputs = [_output(builder, made, known[output]) for output in netlist.outputs.tolist()]
    return builder.netlist(outputs)


@dataclass(frozen=True)
class _Known:
    """What a node turned out to be: another node, or its opposite; where node is None, the constant `negated`."""

    node: int | None
    negated: bool = False


def _absorb(table: int, reads: list[_Known]) -> Row:
    """The table that reads nodes as they are: constants and inverters are part of it."""
    nodes: list[int] = []
    inputs = len(reads)
    for read in reads:
        j = len(nodes)
        if read.node is None:
            table = truth.fix_input(table, inputs, j, int(read.negated))
            inputs -= 1
            continue
        if read.negated:
            table = truth.negate_input(table, inputs, j)
        nodes.append(read.node)
    return table, tuple(nodes)


def _identify(builder: TableBuilder, made: dict[Row, int], table: int, nodes: tuple[int, ...]) -> _Known:
    """What a minimal table is: a constant, a wire, one that was made before, its opposite, or a new one."""
    if not nodes:
        return _Known(None, bool(table))
    if len(nodes) == 1:
        return _Known(nodes[0], negated=table != truth.variable(1, 0))
    opposite = bool(table & 1)  # of a function and its opposite, the one that is 0 at address 0 is made
    row = (truth.negate(table, len(nodes)) if opposite else table, nodes)
    if row not in made:
        made[row] = builder.table(*row)
    return _Known(made[row], opposite)


def _output(builder: TableBuilder, made: dict[Row, int], known: _Known) -> int:
    """The node of an output; an opposite or a constant needs a table of its own."""
    if known.node is not None and not known.negated:
        return known.node
    row: Row = (int(known.negated), ())
    if known.node is not None:
        table, nodes = builder.rows[known.node - builder.inputs] if known.node >= builder.inputs else (2, (known.node,))
        row = (truth.negate(table, len(nodes)), nodes)
    if row not in made:
        made[row] = builder.table(*row)
    return made[row]


def minimal(table: int, nodes: tuple[int, ...]) -> Row:
    """The same function of its different inputs, in rising order, without those that it does not depend on."""
    for j in reversed(range(len(nodes))):
        first = nodes.index(nodes[j])
        if first < j:
            table = truth.merge_inputs(table, len(nodes), first, j)
            nodes = nodes[:j] + nodes[j + 1 :]
    for j in reversed(range(len(nodes))):
        if not truth.depends(table, len(nodes), j):
            table = truth.fix_input(table, len(nodes), j, 0)
            nodes = nodes[:j] + nodes[j + 1 :]
    order = tuple(sorted(range(len(nodes)), key=nodes.__getitem__))
    return truth.permute(table, order), tuple(nodes[j] for j in order)


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


def compose(table: int, reads: tuple[int, ...], read: int, inner_table: int, inner: tuple[int, ...]) -> Row:
    """The table with another one in place of its input `read`."""
    nodes = tuple(sorted({*reads, *inner} - {read}))
    result = 0
    for address in range(1 << len(nodes)):
        value = {node: address >> place & 1 for place, node in enumerate(nodes)}
        value[read] = inner_table >> sum(value[node] << j for j, node in enumerate(inner)) & 1
        result |= (table >> sum(value[node] << j for j, node in enumerate(reads)) & 1) << address
    return result, nodes


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
