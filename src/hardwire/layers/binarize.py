"""`Binarize`: turns floats into bits between a feature extractor and layers of gates, with a gradient.

The forward pass is the deployed one, x > threshold; the backward pass differentiates a soft step instead, as the hard
methods do. Surprising: on raw values it is an encoder with learned thresholds, which `encoder()` returns. After float
layers it is not, because these have to run before the circuit.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from hardwire.bits import Encoder
from hardwire.errors import HardwireError, whole_number


class Binarize(nn.Module):
    """Turns floats into bits by learned thresholds: [batch, features] -> [batch, features * levels] of 0 and 1.

    Bit r * levels + l is x[r] > thresholds[r, l].

    Args:
        features: The number of features.
        levels: Thresholds for each feature. They start as the quantiles of N(0, 1), which suits the output of a
            BatchNorm.
        tau: The width of the soft step of the backward pass, in units of x.
        thresholds: The initial thresholds, [features, levels].
        learn: Whether the thresholds are trained.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> hw.Binarize(2, levels=3)(torch.tensor([[-1.0, 0.5]]))
        tensor([[0., 0., 0., 1., 1., 0.]], grad_fn=<ViewBackward0>)
    """

    def __init__(self, features: int, levels: int = 1, *, tau: float = 1.0, thresholds: Any = None, learn: bool = True):
        super().__init__()
        self.features, self.levels = whole_number("features", features), whole_number("levels", levels)
        if not (isinstance(tau, int | float) and 0 < tau < math.inf):
            raise HardwireError(f"tau {tau!r} is not a positive number; 1 suits features that a BatchNorm has scaled")
        self.tau = float(tau)
        start = _quantiles(self.features, self.levels) if thresholds is None else torch.as_tensor(thresholds).float()
        if start.shape != (self.features, self.levels) or not torch.isfinite(start).all():
            raise HardwireError(
                f"thresholds are finite numbers [{self.features}, {self.levels}], not {list(start.shape)}"
            )
        self.thresholds = nn.Parameter(start.clone(), requires_grad=learn)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.ndim != 2 or x.shape[1] != self.features:
            raise HardwireError(
                f"Binarize reads [batch, {self.features}], not {list(x.shape)}; put an nn.Flatten before it, or name "
                "the right number of features"
            )
        bits = (x.unsqueeze(2) > self.thresholds).to(x.dtype)
        if torch.is_grad_enabled():
            soft = torch.sigmoid((x.unsqueeze(2) - self.thresholds) / self.tau)
            bits = bits + (soft - soft.detach())  # the difference is exactly 0, so the values are bits
        return bits.flatten(1)

    def encoder(self) -> Encoder:
        """The thresholds as the encoder of a circuit, if this module reads raw values."""
        return Encoder(self.thresholds.detach().cpu().numpy().astype(np.float32))

    def extra_repr(self) -> str:
        return f"{self.features} -> {self.features * self.levels}, tau={self.tau:g}"


def _quantiles(features: int, levels: int) -> torch.Tensor:
    shares = torch.arange(1, levels + 1) / (levels + 1)
    result: torch.Tensor = torch.special.ndtri(shares).expand(features, levels)
    return result
