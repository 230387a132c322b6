"""`GroupSum`: the last layer's outputs added up into class scores."""

import math
import sys
from numbers import Real

import torch
from torch import nn

from hardwire.engine.stack import Head
from hardwire.errors import HardwireError, whole_number


class GroupSum(nn.Module):
    """Class scores: sums of contiguous equal groups over a temperature, [batch, features] -> [batch, classes]."""

    def __init__(self, classes: int, temperature: float | None = None):
        super().__init__()
        if temperature is not None and not (isinstance(temperature, Real) and 0 < temperature < sys.float_info.max):
            raise HardwireError(f"the group temperature {temperature!r} is not a positive number")
        self.classes, self.temperature = whole_number("classes", classes, least=2), temperature

    def temperature_for(self, features: int) -> float:
        """The one given, else the paper's alpha(C) * sqrt(k) for k = features / classes neurons a class."""
        if self.temperature is not None:
            return float(self.temperature)
        return default_group_temperature(self.classes, features // self.classes)

    def head(self, features: int) -> Head:
        """The same as plain data, for a stack whose last level has `features` neurons."""
        return Head(self.classes, self.temperature_for(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        check_groups(x.shape[-1], self.classes)
        return x.unflatten(-1, (self.classes, -1)).sum(-1) / self.temperature_for(x.shape[-1])

    def extra_repr(self) -> str:
        return f"classes={self.classes}, temperature={self.temperature or 'alpha(C)*sqrt(k)'}"


def default_group_temperature(classes: int, neurons_per_class: int) -> float:
    """The paper's alpha(C) * sqrt(k), alpha(C) = 1.42 / (ln(C - 1) + 0.7): well-conditioned scores at the start."""
    return 1.42 / (math.log(classes - 1) + 0.7) * math.sqrt(neurons_per_class)


def check_groups(width: int, classes: int) -> None:
    """Raises unless a layer of `width` splits into `classes` equal groups."""
    if width % classes or width < classes:
        near = max(classes, round(width / classes) * classes)
        raise HardwireError(
            f"width {width} cannot be split into {classes} equal classes; use a multiple of {classes}, such as {near}"
        )
