"""Estimates how much memory a training run needs, because asking for more than there is can freeze the machine."""

import os
from collections.abc import Sequence

from hardwire.errors import HardwireError
from hardwire.gates import GATE_ARITY, GATES

_COPIES = 4  # of every logit: itself, its gradient and Adam's two averages
_FLOAT = 4  # bytes


def memory_needed(
    widths: Sequence[int], inputs: int, batch_size: int, candidates: int = 0, arity: int | None = None
) -> int:
    """Estimates the memory of a training run on bits: its logits with gradients and optimizer state, and one batch.

    Args:
        widths: Neurons of each layer.
        inputs: Input bits.
        batch_size: Rows in a batch.
        candidates: Candidates of each learned wire; 0 for fixed wiring.
        arity: Inputs of each look-up table; None for gates.

    Returns:
        Bytes, approximately.

    Example:
        >>> hw.training.memory_needed([64_000] * 6, inputs=784, batch_size=512)
        102450816
    """
    logits = len(GATES) + GATE_ARITY * candidates if arity is None else (1 << arity) + arity * candidates
    return sum(widths) * logits * _COPIES * _FLOAT + batch_size * (inputs + max(widths)) // 8


def total_memory() -> int | None:
    """The memory of this machine in bytes; None where the system does not report it (Windows)."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_numbers(parameters: int) -> None:
    """Raises where training so many parameters needs more memory than this machine has."""
    needed, total = parameters * _COPIES * _FLOAT, total_memory()
    if total is not None and needed > total:
        raise HardwireError(
            f"{parameters:,} parameters need about {needed // 10**9:,} GB of memory to train, and this machine has "
            f"{total / 1e9:,.0f}; use fewer neurons, kernels or candidates"
        )


def check_memory(
    widths: Sequence[int], inputs: int, batch_size: int, candidates: int = 0, arity: int | None = None
) -> None:
    """Raises where a training run needs more memory than this machine has."""
    needed, total = memory_needed(widths, inputs, batch_size, candidates, arity), total_memory()
    if total is not None and needed > total:
        raise HardwireError(
            f"{sum(widths):,} neurons at batch size {batch_size:,} need about {needed // 10**9:,} GB of memory and "
            f"this machine has {total / 1e9:,.0f}; use a smaller width, depth or batch size"
        )
