"""How class sums are added up: counters of up to six bits, column by column, then one ripple-carry addition.

A counter of six bits makes a number of three bits, each of which is one look-up table of six inputs, so a tree of
counters takes about one table per bit. With tables of four inputs, counters of three bits take fewer. The Verilog
export and the reference that proofs compare with follow the same plan, so that every partial sum occurs in both.
An output that is 0 whatever the input is not counted, and one that a class lists several times is counted once, with
that weight: so the groups of classes may differ in width, and outputs in weight.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.gates import algebra

WIDEST = {6: 6, 4: 3}  # inputs of a look-up table -> bits one counter counts
NOT_COUNTED = -1


@dataclass(frozen=True)
class CountedOutputs:
    """How class sums count the outputs of a circuit.

    Attributes:
        classes: The number of classes.
        by: For each output the one that counts for it: itself, an earlier one of its class that is always equal, or
            NOT_COUNTED if it is always 0.
    """

    classes: int
    by: tuple[int, ...]

    @classmethod
    def of(cls, netlist: AnyNetlist, classes: int) -> "CountedOutputs":
        """Finds the outputs that are the constant 0 or the same node as an earlier one."""
        zero = netlist.table == 0 if isinstance(netlist, TableNetlist) else netlist.gate == algebra.FALSE
        never = np.concatenate([np.zeros(netlist.inputs, bool), zero])
        first: dict[tuple[int, int], int] = {}
        group = len(netlist.outputs) // classes
        nodes = enumerate(netlist.outputs.tolist())
        by = (NOT_COUNTED if never[node] else first.setdefault((at // group, node), at) for at, node in nodes)
        return cls(classes, tuple(by))

    @classmethod
    def from_pairs(cls, pairs: object, outputs: int, classes: int) -> "CountedOutputs":
        """Reads what `pairs` wrote; of anything else, each output counts for itself."""
        by, group = list(range(outputs)), outputs // classes
        for pair in pairs if isinstance(pairs, list) else []:
            if not (isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair)):
                return cls(classes, tuple(range(outputs)))
            at, other = pair
            if not 0 <= at < outputs or not NOT_COUNTED <= other < at or (other >= 0 and other // group != at // group):
                return cls(classes, tuple(range(outputs)))
            by[at] = other
        return cls(classes, tuple(by))

    @property
    def pairs(self) -> list[list[int]]:
        """The outputs that do not count for themselves, each with the one that counts for it."""
        return [[at, other] for at, other in enumerate(self.by) if other != at]

    @property
    def weights(self) -> list[list[int]]:
        """For each class how often each of its outputs counts."""
        counts = Counter(self.by)
        weights = [counts[at] for at in range(len(self.by))]
        group = len(weights) // self.classes
        return [weights[start : start + group] for start in range(0, len(weights), group)]


def output_weights(netlist: AnyNetlist, classes: int) -> list[list[int]]:
    """Returns for each class how often each of its outputs counts: 0 for the constant 0, and for all but the first of
    equal ones, whose number goes to the first."""
    return CountedOutputs.of(netlist, classes).weights


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
