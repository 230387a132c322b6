"""The size of a layer, computed from its arguments alone, so that a small file cannot take all memory.

Every registered kind of layer has a class method `size_of`; `register_layer` refuses a class without one. A model file
is checked by it before anything is built: the state must be in the file, and derived numbers are limited.
"""

from typing import NamedTuple

from hardwire.errors import HardwireError

MOST_INPUTS = 1 << 27
MOST_DERIVED = 1 << 26  # numbers; as wires of 32 bits a quarter of a gigabyte


class LayerSize(NamedTuple):
    """The size of a layer.

    Attributes:
        state: Numbers in parameters and buffers, which a model file holds too.
        derived: Numbers in wires that are computed from them.
    """

    state: int
    derived: int = 0


def check_derived(numbers: int) -> None:
    """Raises if layers would compute too many wires."""
    if numbers > MOST_DERIVED:
        raise HardwireError(
            f"{numbers:,} numbers of wires are more than {MOST_DERIVED:,}; use fewer kernels or channels, a smaller "
            "tree_depth or image, or a larger stride"
        )
