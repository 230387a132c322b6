"""`GroupSum`: the last layer's outputs added up into class scores; `NumberSum`: all of them added up into one number.

Surprising: a number moves in steps of a power of two. So (sum + a whole number) * step is exact in the float64 that
comes out of the network as in the fixed point of a circuit, where it costs one addition.
"""

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
        return self.shift(x.unflatten(-1, (self.classes, -1)).sum(-1) / self.temperature_for(x.shape[-1]), x.shape[-1])

    def shift(self, scores: torch.Tensor, features: int) -> torch.Tensor:
        """Sums over the temperature -> what comes out."""
        return scores

    def extra_repr(self) -> str:
        return f"classes={self.classes}, temperature={self.temperature or 'alpha(C)*sqrt(k)'}"


class NumberSum(GroupSum):
    """One number from low to high: (sum + offset) * step over all features, [batch, features] -> float64 [batch, 1].

    step: the smallest power of two with which the sums 0 to `features` span high - low; offset: the whole number that
    puts the middle of the sums in the middle of low and high. What lies outside cannot be said: give some room.
    """

    def __init__(self, low: float, high: float):
        nn.Module.__init__(self)
        numbers = all(isinstance(end, Real) and abs(end) < math.inf for end in (low, high))
        if not (numbers and low < high):
            raise HardwireError(f"a number has a range, low and a higher high, not {low!r} and {high!r}")
        self.low, self.high = float(low), float(high)
        self.classes, self.temperature = 1, None

    def step_for(self, features: int) -> float:
        return 2.0 ** math.ceil(math.log2((self.high - self.low) / features))

    def temperature_for(self, features: int) -> float:
        return 1 / self.step_for(features)

    def offset_for(self, features: int) -> int:
        """The whole number that is added to a sum."""
        return math.floor((self.low / 2 + self.high / 2) / self.step_for(features) - features / 2 + 0.5)

    def shift(self, scores: torch.Tensor, features: int) -> torch.Tensor:
        return scores.double() + self.offset_for(features) * self.step_for(features)

    def extra_repr(self) -> str:
        return f"{self.low:g} to {self.high:g}"


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
