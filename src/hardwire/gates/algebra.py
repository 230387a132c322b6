"""Arithmetic on gate numbers: what a gate becomes when an operand is negated, swapped, known or repeated.

Everything is derived from the one table in `hardwire.gates`, so no rule here depends on the bit order of a truth table.
Surprising: eight of the sixteen gates are a single AND of literals, which is all that AIGER, C and Verilog need.
"""

from collections.abc import Callable

from hardwire.gates.table import GATES

PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))
Boolean = Callable[[int, int], int]


def _outputs(function: Boolean) -> tuple[int, ...]:
    return tuple(int(function(a, b)) for a, b in PAIRS)


_NUMBERS = {_outputs(gate.hard): gate.index for gate in GATES}


def gate_of(function: Boolean) -> int:
    """The number of the gate that computes `function` of two values, each 0 or 1."""
    return _NUMBERS[_outputs(function)]


def _table(rule: Callable[[Boolean], Boolean]) -> tuple[int, ...]:
    """For every gate number, the gate that `rule` makes of it."""
    return tuple(gate_of(rule(gate.hard)) for gate in GATES)


FALSE, TRUE = gate_of(lambda a, b: 0), gate_of(lambda a, b: 1)
A, B = gate_of(lambda a, b: a), gate_of(lambda a, b: b)
NOT_A, NOT_B = gate_of(lambda a, b: 1 - a), gate_of(lambda a, b: 1 - b)
AND, OR, XOR = gate_of(lambda a, b: a & b), gate_of(lambda a, b: a | b), gate_of(lambda a, b: a ^ b)
NAND, NOR, XNOR = gate_of(lambda a, b: 1 - (a & b)), gate_of(lambda a, b: 1 - (a | b)), gate_of(lambda a, b: a == b)
LESS = gate_of(lambda a, b: a < b)  # not a, and b

WIRES = (A, B, NOT_A, NOT_B)
CONSTANTS = (FALSE, TRUE)

NEGATED = _table(lambda f: lambda a, b: 1 - f(a, b))
SWAPPED = _table(lambda f: lambda a, b: f(b, a))
NEGATED_FIRST = _table(lambda f: lambda a, b: f(1 - a, b))
NEGATED_SECOND = _table(lambda f: lambda a, b: f(a, 1 - b))
FIRST_IS = (_table(lambda f: lambda a, b: f(0, b)), _table(lambda f: lambda a, b: f(1, b)))  # by the known value
SECOND_IS = (_table(lambda f: lambda a, b: f(a, 0)), _table(lambda f: lambda a, b: f(a, 1)))
SAME = _table(lambda f: lambda a, b: f(a, a))  # of a alone

READS_FIRST = tuple(no != yes for no, yes in zip(*FIRST_IS, strict=True))
READS_SECOND = tuple(no != yes for no, yes in zip(*SECOND_IS, strict=True))

AND_OF = {  # (negate first, negate second, negate the result) -> the gate that this makes of an AND
    (p, q, r): gate_of(lambda a, b, p=p, q=q, r=r: ((a ^ p) & (b ^ q)) ^ r)  # type: ignore[misc]
    for p in (0, 1)
    for q in (0, 1)
    for r in (0, 1)
}
AS_AND = {gate: form for form, gate in AND_OF.items()}


def with_negations(gate: int, first: int, second: int) -> int:
    """The gate that reads what `gate` reads, first and second negated where the flags are set."""
    gate = NEGATED_FIRST[gate] if first else gate
    return NEGATED_SECOND[gate] if second else gate


def expression(gate: int, a: str, b: str, zero: str = "0", one: str = "1") -> str:
    """The gate of the operands `a` and `b` in the syntax of C and Verilog."""
    if gate in CONSTANTS:
        return one if gate == TRUE else zero
    if gate in WIRES:
        return ("~" if gate in (NOT_A, NOT_B) else "") + (a if gate in (A, NOT_A) else b)
    if gate in (XOR, XNOR):
        return f"{a} ^ {b}" if gate == XOR else f"~({a} ^ {b})"
    first, second, result = AS_AND[gate]
    if first == second:  # both operands negated is an OR, negated
        text = f"{a} | {b}" if first else f"{a} & {b}"
        return f"~({text})" if first != result else text
    if result:
        first, second = 1 - first, 1 - second
    return f"{'~' * first}{a} {'|' if result else '&'} {'~' * second}{b}"
