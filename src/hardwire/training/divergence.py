"""Detects that a run has diverged, and names the parameter where it started."""

import torch
from torch import nn

from hardwire.errors import HardwireError


class TrainingDiverged(HardwireError):
    """Raised when the loss, a gradient or a parameter is no longer a finite number.

    Example:
        >>> try:  # doctest: +SKIP
        ...     hw.fit(net, data, iterations=1000, lr=1000.0)
        ... except hw.TrainingDiverged as error:
        ...     print(error)  # names the iteration and the layer
    """


def diverged(net: nn.Module, iteration: int, loss: float) -> TrainingDiverged:
    """The error for a run whose loss or parameters are not finite at this iteration."""
    return TrainingDiverged(
        f"training diverged at iteration {iteration}: {_where(net) or 'the class scores are not finite'} "
        f"(loss {loss:g}); lower the learning rate or look at the data"
    )


def is_finite(net: nn.Module) -> bool:
    """Whether every parameter is a finite number."""
    return all(bool(torch.isfinite(parameter).all()) for parameter in net.parameters())


@torch.no_grad()
def _where(net: nn.Module) -> str | None:
    """Where the divergence started, in words.

    Gradients flow backwards from the loss, so the last layer with a non-finite gradient is where it started. If all
    gradients are finite, the optimizer's step was too large for the first non-finite parameter.
    """
    parameters = list(net.named_parameters())
    for name, parameter in reversed(parameters):
        if parameter.grad is not None and not torch.isfinite(parameter.grad).all():
            return f"the gradient of {name} went non-finite first"
    for name, parameter in parameters:
        if not torch.isfinite(parameter).all():
            return f"{name} went non-finite first, with finite gradients"
    return None
