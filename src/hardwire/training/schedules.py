"""Learning rates over time, by name: each is a factor for every step of a run."""

import math
from collections.abc import Callable

from torch import optim
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from hardwire.errors import unknown_name

STEADY = 0.6  # share of the steps before a cooldown


def _cosine(share: float) -> float:
    return (1 + math.cos(math.pi * share)) / 2


def _cooldown(share: float) -> float:
    return min(1.0, max(0.0, (1 - share) / (1 - STEADY)))


FACTORS: dict[str, Callable[[float], float] | None] = {"constant": None, "cosine": _cosine, "cooldown": _cooldown}
SCHEDULES = tuple(FACTORS)


def make_schedule(name: str, steps: int) -> Callable[[optim.Optimizer], LRScheduler] | None:
    """A function that makes the scheduler of a run of so many steps; None for constant learning rates.

    Args:
        name: "constant"; "cosine", along half a cosine to zero; or "cooldown", constant for 60% of the steps and then
            straight to zero.
        steps: The number of steps.
    """
    if name not in FACTORS:
        raise unknown_name("schedule", name, FACTORS)
    factor = FACTORS[name]
    if factor is None:
        return None
    return lambda optimizer: LambdaLR(optimizer, lambda step: factor(min(1.0, step / steps)))
