"""How class sums are added up: counters of up to six bits, column by column, then one ripple-carry addition.

A counter of six bits makes a number of three bits, each of which is one look-up table of six inputs, so a tree of
counters takes about one table per bit. With tables of four inputs, counters of three bits take fewer. The Verilog
export and the reference that proofs compare with follow the same plan, so that every partial sum occurs in both.
"""

from collections.abc import Callable

WIDEST = {6: 6, 4: 3}  # inputs of a look-up table -> bits one counter counts


def count_plan(bits: int, lut: int = 6) -> tuple[list[tuple[list[int], list[int]]], list[int]]:
    """Plans the counting of `bits` bits.

    Args:
        bits: How many bits to count; they are numbered 0, 1, ...
        lut: Inputs of the look-up tables, 6 or 4.

    Returns:
        The steps, each of which counts a list of bits into another list, lowest bit first, with new numbers; and the
        bits of the result, lowest first.
    """
    columns: list[list[int]] = [list(range(bits))]
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
        columns = [column for column in later if column]
    return steps, _ripple(columns, count)[: bits.bit_length()]  # higher bits are always 0


def _ripple(columns: list[list[int]], count: Callable[[list[int]], list[int]]) -> list[int]:
    """Adds columns of up to two bits with a carry."""
    number: list[int] = []
    carry: list[int] = []
    for column in columns:
        here = column + carry
        bit, *carry = count(here) if len(here) > 1 else here
        number.append(bit)
    return number + carry
