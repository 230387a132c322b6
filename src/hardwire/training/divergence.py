"""Noticing that a run has diverged, and saying where it began."""

import torch
from torch import nn

from hardwire.errors import HardwireError


class TrainingDiverged(HardwireError):
    """The loss, a gradient or the logits are no longer finite numbers."""


def diverged(net: nn.Module, iteration: int, loss: float) -> TrainingDiverged:
    """The error for a run whose loss or parameters were found not to be finite at this iteration."""
    return TrainingDiverged(
        f"training diverged at iteration {iteration}: {_where(net) or 'the class scores are not finite'} "
        f"(loss {loss:g}); lower the learning rate or look at the data"
    )


def is_finite(net: nn.Module) -> bool:
    return all(bool(torch.isfinite(parameter).all()) for parameter in net.parameters())


@torch.no_grad()
def _where(net: nn.Module) -> str | None:
    """Gradients come from the loss backwards, so the last layer with a bad one is where it began; if all gradients are
    finite, the optimizer's step was too large for the first bad parameter."""
    parameters = list(net.named_parameters())
    for name, parameter in reversed(parameters):
        if parameter.grad is not None and not torch.isfinite(parameter.grad).all():
            return f"the gradient of {name} went non-finite first"
    for name, parameter in parameters:
        if not torch.isfinite(parameter).all():
            return f"{name} went non-finite first, with finite gradients"
    return None
