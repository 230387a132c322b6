"""How class sums are added up: counters of up to six bits, column by column, then one ripple-carry addition.

A counter of six bits makes a number of three bits, each of which is one look-up table of six inputs, so a tree of
counters takes about one table per bit. With tables of four inputs, counters of three bits take fewer. The Verilog
export and the reference that proofs compare with follow the same plan, so that every partial sum occurs in both.
An output that is 0 whatever the input is not counted, and one that a class lists several times is counted once, with
that weight: so the groups of classes may differ in width, and outputs in weight.
"""

from collections.abc import Callable, Sequence

import numpy as np

from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.gates import algebra

WIDEST = {6: 6, 4: 3}  # inputs of a look-up table -> bits one counter counts


def output_weights(netlist: AnyNetlist, classes: int) -> list[list[int]]:
    """Returns for each class how often each of its outputs counts: 0 for the constant 0, and for all but the first of
    equal ones, whose number goes to the first."""
    zero = netlist.table == 0 if isinstance(netlist, TableNetlist) else netlist.gate == algebra.FALSE
    never = np.concatenate([np.zeros(netlist.inputs, bool), zero])
    weights = []
    for nodes in netlist.outputs.reshape(classes, -1).tolist():
        first: dict[int, int] = {}
        own = [0] * len(nodes)
        for place, node in enumerate(nodes):
            if not never[node]:
                own[first.setdefault(node, place)] += 1
        weights.append(own)
    return weights


def count_plan(
    bits: int, lut: int = 6, weights: Sequence[int] | None = None
) -> tuple[list[tuple[list[int], list[int]]], list[int | None]]:
    """Plans the counting of `bits` bits.

    Args:
        bits: How many bits to count; they are numbered 0, 1, ...
        lut: Inputs of the look-up tables, 6 or 4.
        weights: How often each bit counts; once by default.

    Returns:
        The steps, each of which counts a list of bits into another list, lowest bit first, with new numbers; and the
        bits of the result, lowest first, None where one is always 0.
    """
    weights = [1] * bits if weights is None else weights
    places = max(weights, default=0).bit_length()
    columns = [[bit for bit, weight in enumerate(weights) if weight >> place & 1] for place in range(places)] or [[]]
    steps: list[tuple[list[int], list[int]]] = []
    following, widest = bits, WIDEST[lut]

    def count(taken: list[int]) -> list[int]:
        nonlocal following
        made = list(range(following, following + len(taken).bit_length()))
        following += len(made)
        steps.append((taken, made))
        return made

    while max(map(len, columns)) > 2:
        many = max(map(len, columns)) >= widest
        least = max(3, widest - 1) if many else 3  # leave a remainder for later while there are full counters
        later: list[list[int]] = [[] for _ in range(len(columns) + 2)]
        for place, column in enumerate(columns):
            while len(column) >= least:
                for higher, bit in enumerate(count(column[:widest])):
                    later[place + higher].append(bit)
                column = column[widest:]
            later[place] += column
        while len(later) > 1 and not later[-1]:
            later.pop()
        columns = later
    return steps, _ripple(columns, count)[: sum(weights).bit_length()]  # higher bits are always 0


def _ripple(columns: list[list[int]], count: Callable[[list[int]], list[int]]) -> list[int | None]:
    """Adds columns of up to two bits with a carry."""
    number: list[int | None] = []
    carry: list[int] = []
    for column in columns:
        here = column + carry
        bit, carry = None, []
        if here:
            bit, *carry = count(here) if len(here) > 1 else here
        number.append(bit)
    return [*number, *carry]
