"""How much memory a training needs. Asking for more than there is takes the whole machine down, not only a program."""

import os
from collections.abc import Sequence

from hardwire.errors import HardwireError
from hardwire.gates import GATES

_COPIES = 4  # of every logit: itself, its gradient and Adam's two averages
_FLOAT = 4  # bytes


def memory_needed(widths: Sequence[int], inputs: int, batch_size: int, candidates: int = 0) -> int:
    """About so many bytes, for bits: the logits (of gates, and of candidates for both wires), and a batch."""
    logits = len(GATES) + 2 * candidates
    return sum(widths) * logits * _COPIES * _FLOAT + batch_size * (inputs + max(widths)) // 8


def memory_there() -> int | None:
    """The bytes of memory of this machine; None where it does not tell (Windows)."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(widths: Sequence[int], inputs: int, batch_size: int, candidates: int = 0) -> None:
    """Raises where a training needs more than this machine has."""
    needed, there = memory_needed(widths, inputs, batch_size, candidates), memory_there()
    if there is not None and needed > there:
        raise HardwireError(
            f"{sum(widths):,} gates at batch size {batch_size:,} need about {needed / 1e9:,.0f} GB of memory and this "
            f"machine has {there / 1e9:,.0f}; use a smaller width, depth or batch size"
        )
