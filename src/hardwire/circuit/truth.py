"""Truth tables of up to six inputs as whole numbers: bit `address` is the output where input j is bit j of the address.

A number alone does not say how many inputs a function has, so every function here also takes that. All results have
exactly 2**inputs bits, which makes equal functions equal numbers.
"""

from functools import cache
from typing import Any, TypeVar

MOST_INPUTS = 6
Tables = TypeVar("Tables", int, Any)  # one, or an array uint64 of them
_ONES = (  # where input j of six is 1
    0xAAAAAAAAAAAAAAAA,
    0xCCCCCCCCCCCCCCCC,
    0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00,
    0xFFFF0000FFFF0000,
    0xFFFFFFFF00000000,
)
_ZEROS = tuple(~ones & 0xFFFFFFFFFFFFFFFF for ones in _ONES)
_STEP = tuple(1 << j for j in range(MOST_INPUTS))


def full(inputs: int) -> int:
    """The table of the constant 1."""
    return (1 << (1 << inputs)) - 1


def variable(inputs: int, j: int) -> int:
    """The table of the function that is its input j."""
    return _ONES[j] & full(inputs)


def negate(table: int, inputs: int) -> int:
    """The table of the opposite function."""
    return ~table & full(inputs)


def depends(table: int, inputs: int, j: int) -> bool:
    """Whether the output ever changes with input j."""
    ones = variable(inputs, j)
    return (table & ones) >> (1 << j) != table & ~ones


def negate_input(table: int, inputs: int, j: int) -> int:
    """The table that reads the opposite of input j."""
    ones, step = variable(inputs, j), 1 << j
    return (table & ones) >> step | (table & ~ones & full(inputs)) << step


def fix_input(table: int, inputs: int, j: int, value: int) -> int:
    """The table of one input less that has `value` in place of input j; later inputs move down by one."""
    halves: tuple[int, int] = split(table, inputs, j)
    return halves[value]


def split(table: Tables, inputs: int, j: int) -> tuple[Tables, Tables]:
    """The tables of one input less where input j is 0, and where it is 1. Also of arrays uint64 of tables."""
    step = _STEP[j]
    low, high = table & _ZEROS[j] & full(inputs), table >> step & _ZEROS[j]
    return _closed(low, inputs, j), _closed(high, inputs, j)


def _closed(table: Tables, inputs: int, j: int) -> Tables:
    """Closes the gaps that are left where input j is 1: pieces of a table move together, twice as long at each step."""
    for k in range(j, inputs - 1):
        table = (table | table >> _STEP[k]) & _ZEROS[k + 1]
    return table


def merge_inputs(table: int, inputs: int, kept: int, dropped: int) -> int:
    """The table of one input less where inputs `kept` and, after it, `dropped` read the same node."""
    halves: tuple[int, int] = split(table, inputs, dropped)
    low, high = halves
    ones = variable(inputs - 1, kept)
    return low & ~ones | high & ones


def permute(table: int, order: tuple[int, ...]) -> int:
    """The table whose input i is input order[i] of the given one; `order` has each input once."""
    return _look_up(table, _permuted(tuple(order.index(j) for j in range(len(order)))))


def _look_up(table: int, addresses: tuple[int, ...]) -> int:
    """The table whose entry i is entry addresses[i] of the given one."""
    result = 0
    for place, address in enumerate(addresses):
        result |= (table >> address & 1) << place
    return result


@cache
def _permuted(place: tuple[int, ...]) -> tuple[int, ...]:
    """Input j of the given table is bit place[j] of the new one's address."""
    return tuple(sum((new >> i & 1) << j for j, i in enumerate(place)) for new in range(1 << len(place)))
