"""`Number`: the fixed-point value (true outputs + offset) * 2^exponent, predicted by a circuit that does not classify.

The circuit computes the whole number in parentheses: one addition after the count. The exponent only places the binary
point. Surprising: nothing is rounded, because the network was trained with the same steps.
"""

import math
from dataclasses import dataclass
from typing import Any

from hardwire.errors import HardwireError

WIDEST = 32  # bits of the whole number: what the exports count with


@dataclass(frozen=True)
class Number:
    """How a count of true outputs becomes a number.

    Args:
        offset: Added to the count.
        exponent: One step stands for 2^exponent.
    """

    offset: int
    exponent: int

    def __post_init__(self) -> None:
        if type(self.offset) is not int or type(self.exponent) is not int or abs(self.exponent) > 1000:
            raise HardwireError(f"offset and exponent of a number are whole numbers, not {self}")

    @classmethod
    def of(cls, head: Any, features: int) -> "Number | None":
        """Returns the number that a network's head predicts, or None if the head sums classes."""
        if not hasattr(head, "step_for"):
            return None
        return cls(head.offset_for(features), math.frexp(head.step_for(features))[1] - 1)

    @property
    def step(self) -> float:
        """The real value of one step."""
        return 2.0**self.exponent

    def width(self, group: int) -> int:
        """Returns the bits, sign included, that hold the whole number for any count up to `group`."""
        bits = max((self.offset + group).bit_length(), (-self.offset - 1).bit_length()) + 1
        if bits > WIDEST:
            raise HardwireError(
                f"its numbers reach {max(abs(self.offset), abs(self.offset + group)):,} steps of {self.step:g}, more "
                f"than {WIDEST} bits hold; train on targets whose middle is nearer to 0"
            )
        return bits
