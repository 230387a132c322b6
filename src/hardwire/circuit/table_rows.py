"""One table and the nodes that it reads: rewriting such a row without changing its function.

Constants, copies and inverters cost nothing, because the table that reads them can always take them in.
"""

from dataclasses import dataclass

from hardwire.circuit import truth

Row = tuple[int, tuple[int, ...]]  # a table and the nodes it reads


@dataclass(frozen=True)
class Known:
    """What a node turned out to be: another node, or its opposite; where node is None, the constant `negated`."""

    node: int | None
    negated: bool = False

    def row(self) -> Row:
        """A table that computes this."""
        if self.node is None:
            return int(self.negated), ()
        return truth.variable(1, 0) >> self.negated, (self.node,)


class KnownNodes:
    """What each node of a netlist turned out to be. Inputs are what they are: a file may claim a million of them."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self._tables: list[Known] = []

    @property
    def last(self) -> Known:
        """What the last table is."""
        return self._tables[-1]

    def append(self, known: Known) -> None:
        """Adds the next table."""
        self._tables.append(known)

    def __getitem__(self, node: int) -> Known:
        return Known(node) if node < self.inputs else self._tables[node - self.inputs]


def absorb(table: int, reads: list[Known]) -> Row:
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
    if order == tuple(range(len(nodes))):
        return table, nodes
    return truth.permute(table, order), tuple(nodes[j] for j in order)


def compose(table: int, reads: tuple[int, ...], read: int, inner_table: int, inner: tuple[int, ...]) -> Row:
    """The table with another one in place of its input `read`."""
    nodes = tuple(sorted({*reads, *inner} - {read}))
    result = 0
    for address in range(1 << len(nodes)):
        value = {node: address >> place & 1 for place, node in enumerate(nodes)}
        value[read] = inner_table >> sum(value[node] << j for j, node in enumerate(inner)) & 1
        result |= (table >> sum(value[node] << j for j, node in enumerate(reads)) & 1) << address
    return result, nodes
