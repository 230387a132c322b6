"""`Number`: what a circuit says where it does not choose a class: (true outputs + offset) * 2^exponent, in fixed point.

The circuit computes the whole number in brackets, one addition behind the count; the exponent only says where the
binary point is. Surprising: nothing is rounded, because the network was trained in the same steps.
"""

import math
from dataclasses import dataclass
from typing import Any

from hardwire.errors import HardwireError

WIDEST = 32  # bits of the whole number: what the exports count with


@dataclass(frozen=True)
class Number:
    """offset: a whole number; exponent: of the power of two that a step is."""

    offset: int
    exponent: int

    def __post_init__(self) -> None:
        if type(self.offset) is not int or type(self.exponent) is not int or abs(self.exponent) > 1000:
            raise HardwireError(f"offset and exponent of a number are whole numbers, not {self}")

    @classmethod
    def of(cls, head: Any, features: int) -> "Number | None":
        """That of a network's head; None where it sums classes."""
        if not hasattr(head, "step_for"):
            return None
        return cls(head.offset_for(features), math.frexp(head.step_for(features))[1] - 1)

    @property
    def step(self) -> float:
        return 2.0**self.exponent

    def width(self, group: int) -> int:
        """Bits that hold the whole number of any count up to `group`, with its sign."""
        bits = max((self.offset + group).bit_length(), (-self.offset - 1).bit_length()) + 1
        if bits > WIDEST:
            raise HardwireError(
                f"its numbers reach {max(abs(self.offset), abs(self.offset + group)):,} steps of {self.step:g}, more "
                f"than {WIDEST} bits hold; train on targets whose middle is nearer to 0"
            )
        return bits
