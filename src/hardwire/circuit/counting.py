"""How class sums are added up: counters of up to six bits, column by column, then one ripple at the end.

A counter of six bits gives a number of three, and each of these is one look-up table of six inputs, so a tree of
them takes about one table a bit. Where tables have four inputs, counters of three bits take fewer. The Verilog export
and the reference that proofs compare with follow the same plan, so that a solver finds every partial sum in both.
"""

from collections.abc import Callable

WIDEST = {6: 6, 4: 3}  # inputs of a look-up table -> bits that one counter counts


def count_plan(bits: int, lut: int = 6) -> tuple[list[tuple[list[int], list[int]]], list[int]]:
    """Steps and result for so many bits, in tables of `lut` inputs. A step counts the first list of bits into the
    second, lowest first; the bits to be counted are 0, 1, ..., those of later steps are numbered on; the result is the
    number, lowest bit first."""
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
        least = max(3, widest - 1) if many else 3  # a rest waits for others while there is time
        later: list[list[int]] = [[] for _ in range(len(columns) + 2)]
        for place, column in enumerate(columns):
            while len(column) >= least:
                for higher, bit in enumerate(count(column[:widest])):
                    later[place + higher].append(bit)
                column = column[widest:]
            later[place] += column
        columns = [column for column in later if column]
    return steps, _ripple(columns, count)[: bits.bit_length()]  # what lies above is always 0


def _ripple(columns: list[list[int]], count: Callable[[list[int]], list[int]]) -> list[int]:
    """Up to two bits a column, added with a carry."""
    number: list[int] = []
    carry: list[int] = []
    for column in columns:
        here = column + carry
        bit, *carry = count(here) if len(here) > 1 else here
        number.append(bit)
    return number + carry
