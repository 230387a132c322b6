"""The 16 two-input Boolean gates, in the order of the paper's table.

Every gate is bilinear on [0, 1]: soft(a, b) = c0 + c1*a + c2*b + c3*a*b. So four numbers describe a gate, a mixture of
gates is again four numbers, and no code here ever computes 16 gate outputs. The truth table follows from the same four
numbers. Surprising: the order is the truth table read with (a, b) = (1, 1) as the lowest bit. This file imports nothing
from hardwire, because the build of the native code runs it alone to write the same table in C++.
"""

from dataclasses import dataclass
from typing import Any

THRESHOLD = 0.5  # an input above this is true for a hard gate
GATE_ARITY = 2  # inputs of a gate
LEAST_ARITY, MOST_ARITY = 2, 6  # of a look-up table


@dataclass(frozen=True)
class Gate:
    """A two-input gate.

    Attributes:
        index: Its place in GATES, by which files and arrays refer to it.
        name: Its name, such as AND.
        boolean: It as a Boolean formula.
        formula: It as arithmetic on [0, 1].
        coefficients: (c0, c1, c2, c3) of c0 + c1*a + c2*b + c3*a*b.

    Example:
        >>> import hardwire as hw
        >>> gate = hw.GATES[6]
        >>> gate.name, gate.soft(0.5, 0.25), gate.hard(1, 0), gate.truth_table
        ('XOR', 0.5, 1, (0, 1, 1, 0))
    """

    index: int
    name: str
    boolean: str
    formula: str
    coefficients: tuple[int, int, int, int]

    def soft(self, a: Any, b: Any) -> Any:
        """Computes the gate on real inputs (the product t-norm).

        Args:
            a: First input, a number or an array in [0, 1].
            b: Second input, likewise.
        """
        c0, c1, c2, c3 = self.coefficients
        return c0 + c1 * a + c2 * b + c3 * a * b

    def hard(self, a: Any, b: Any) -> Any:
        """Computes the Boolean gate, 0 or 1.

        Args:
            a: First input, a number or an array; above 0.5 it is true.
            b: Second input, likewise.
        """
        return self.soft(1 * (a > THRESHOLD), 1 * (b > THRESHOLD))

    @property
    def truth_table(self) -> tuple[int, int, int, int]:
        """The outputs for inputs (a, b) = 00, 01, 10 and 11."""
        return self.soft(0, 0), self.soft(0, 1), self.soft(1, 0), self.soft(1, 1)


GATES = tuple(
    Gate(index, *row)
    for index, row in enumerate(
        [
            ("FALSE", "0", "0", (0, 0, 0, 0)),
            ("AND", "a ∧ b", "ab", (0, 0, 0, 1)),
            ("A∧¬B", "a ∧ ¬b", "a(1-b)", (0, 1, 0, -1)),
            ("A", "a", "a", (0, 1, 0, 0)),
            ("¬A∧B", "¬a ∧ b", "(1-a)b", (0, 0, 1, -1)),
            ("B", "b", "b", (0, 0, 1, 0)),
            ("XOR", "a ⊕ b", "a+b-2ab", (0, 1, 1, -2)),
            ("OR", "a ∨ b", "a+b-ab", (0, 1, 1, -1)),
            ("NOR", "¬(a ∨ b)", "1-a-b+ab", (1, -1, -1, 1)),
            ("XNOR", "¬(a ⊕ b)", "1-a-b+2ab", (1, -1, -1, 2)),
            ("¬B", "¬b", "1-b", (1, 0, -1, 0)),
            ("A∨¬B", "a ∨ ¬b", "1-b+ab", (1, 0, -1, 1)),
            ("¬A", "¬a", "1-a", (1, -1, 0, 0)),
            ("¬A∨B", "¬a ∨ b", "1-a+ab", (1, -1, 0, 1)),
            ("NAND", "¬(a ∧ b)", "1-ab", (1, 0, 0, -1)),
            ("TRUE", "1", "1", (1, 0, 0, 0)),
        ]
    )
)
"""The 16 gates. Files and arrays refer to a gate by its place in this tuple."""
GATE_NAMES = tuple(gate.name for gate in GATES)
