"""Arithmetic on gate numbers: what a gate becomes when an operand is negated, exchanged, known or repeated.

A gate number is its truth table with f(1,1) as bit 0, f(1,0) as bit 1, f(0,1) as bit 2 and f(0,0) as bit 3, so each
rule is a permutation of four bits and every table here has 16 entries. Surprising: negating the output is `15 - gate`.
"""

FALSE, AND, A, B, XOR, OR, NOT_B, NOT_A, TRUE = 0, 1, 3, 5, 6, 7, 10, 12, 15


def _permuted(gate: int, source: tuple[int, int, int, int]) -> int:
    """The gate whose bit i is bit source[i] of `gate`."""
    return sum((gate >> source[bit] & 1) << bit for bit in range(4))


def _table(*source: int) -> tuple[int, ...]:
    return tuple(_permuted(gate, source) for gate in range(16))


SWAPPED = _table(0, 2, 1, 3)  # f(b, a)
NEGATED_FIRST = _table(2, 3, 0, 1)  # f(not a, b)
NEGATED_SECOND = _table(1, 0, 3, 2)  # f(a, not b)
FIRST_IS_TRUE = _table(0, 1, 0, 1)  # f(1, b), a function of b alone
FIRST_IS_FALSE = _table(2, 3, 2, 3)
SECOND_IS_TRUE = _table(0, 0, 2, 2)
SECOND_IS_FALSE = _table(1, 1, 3, 3)
SAME = _table(0, 0, 3, 3)  # f(a, a), a function of a alone
OPPOSITE = _table(1, 1, 2, 2)  # f(a, not a), a function of a alone

READS_FIRST = tuple(FIRST_IS_TRUE[gate] != FIRST_IS_FALSE[gate] for gate in range(16))
READS_SECOND = tuple(SECOND_IS_TRUE[gate] != SECOND_IS_FALSE[gate] for gate in range(16))

WIRES = (A, B, NOT_A, NOT_B)
CONSTANTS = (FALSE, TRUE)

EXPRESSIONS = (  # how C and Verilog write each gate of operands {a} and {b}; {zero} and {one} are the constants
    "{zero}",
    "{a} & {b}",
    "{a} & ~{b}",
    "{a}",
    "~{a} & {b}",
    "{b}",
    "{a} ^ {b}",
    "{a} | {b}",
    "~({a} | {b})",
    "~({a} ^ {b})",
    "~{b}",
    "{a} | ~{b}",
    "~{a}",
    "~{a} | {b}",
    "~({a} & {b})",
    "{one}",
)
