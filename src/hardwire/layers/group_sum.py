"""`GroupSum`: sums of the last layer's outputs as class scores. `NumberSum`: their sum as one number.

Surprising: a number has steps of a power of two. So (sum + a whole number) * step is exact both in the network's
float64 and in the fixed point of a circuit, where it costs one addition.
"""

import math
import sys
from numbers import Real

import torch
from torch import nn

from hardwire.engine.reference import sum_dtype
from hardwire.engine.stack import Head
from hardwire.errors import HardwireError, whole_number


class GroupSum(nn.Module):
    """Class scores: sums of equal, contiguous groups, divided by a temperature.

    Maps [batch, features] to [batch, classes].

    Args:
        classes: The number of classes, at least 2.
        temperature: By default the paper's alpha(C) * sqrt(k), for C classes of k features.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> hw.GroupSum(2, temperature=1.0)(torch.tensor([[1.0, 0.0, 1.0, 1.0]]))
        tensor([[1., 2.]])
    """

    def __init__(self, classes: int, temperature: float | None = None):
        super().__init__()
        if temperature is not None and not (isinstance(temperature, Real) and 0 < temperature < sys.float_info.max):
            raise HardwireError(f"the group temperature {temperature!r} is not a positive number")
        self.classes, self.temperature = whole_number("classes", classes, least=2), temperature

    def temperature_for(self, features: int) -> float:
        """The temperature for this many features: the given one, or alpha(C) * sqrt(k) for k = features / classes."""
        if self.temperature is not None:
            return float(self.temperature)
        return default_group_temperature(self.classes, features // self.classes)

    def head(self, features: int) -> Head:
        """The class sums as plain data, for a stack whose last level has `features` neurons."""
        return Head(self.classes, self.temperature_for(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        check_groups(x.shape[-1], self.classes)
        sums = x.unflatten(-1, (self.classes, -1)).sum(-1, dtype=sum_dtype(x))
        return self.shift(sums / self.temperature_for(x.shape[-1]), x.shape[-1])

    def shift(self, scores: torch.Tensor, features: int) -> torch.Tensor:
        """Turns sums over the temperature into the output."""
        return scores

    def extra_repr(self) -> str:
        return f"classes={self.classes}, temperature={self.temperature or 'alpha(C)*sqrt(k)'}"


class NumberSum(GroupSum):
    """One number: (sum of all features + offset) * step, [batch, features] -> float64 [batch, 1].

    The step is the smallest power of two with which the sums 0 to `features` span high - low. The offset is the whole
    number that puts the middle of the sums at the middle of low and high. Numbers outside this range cannot be
    expressed, so leave some margin.

    Args:
        low: The lower end of the range.
        high: The upper end.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> hw.NumberSum(0, 8)(torch.tensor([[1.0, 0.0, 1.0, 1.0]]))
        tensor([[6.]], dtype=torch.float64)
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
        """The whole number that is added to the sum."""
        return math.floor((self.low / 2 + self.high / 2) / self.step_for(features) - features / 2 + 0.5)

    def shift(self, scores: torch.Tensor, features: int) -> torch.Tensor:
        return scores.double() + self.offset_for(features) * self.step_for(features)

    def extra_repr(self) -> str:
        return f"{self.low:g} to {self.high:g}"


def default_group_temperature(classes: int, neurons_per_class: int) -> float:
    """The paper's alpha(C) * sqrt(k) with alpha(C) = 1.42 / (ln(C - 1) + 0.7), for well-conditioned initial scores."""
    return 1.42 / (math.log(classes - 1) + 0.7) * math.sqrt(neurons_per_class)


def check_groups(width: int, classes: int) -> None:
    """Raises unless a layer of `width` splits into `classes` equal groups."""
    if width % classes or width < classes:
        near = max(classes, round(width / classes) * classes)
        raise HardwireError(
            f"width {width} cannot be split into {classes} equal classes; use a multiple of {classes}, such as {near}"
        )


def class_sums(classes: int | None, number: tuple[float, float] | None, temperature: float | None) -> GroupSum:
    """The sums at the end of a network: of classes, or of a number in a range (low, high)."""
    if number is None:
        if classes is None:
            raise HardwireError("a network needs the number of classes; give classes=")
        return GroupSum(classes, temperature)
    if classes is not None or temperature is not None:
        raise HardwireError(
            "give either classes (and their group_temperature) or number, a range (low, high), not both"
        )
    if not (isinstance(number, tuple | list) and len(number) == 2):
        raise HardwireError(f"number {number!r} is not a range (low, high), such as (0, 100)")
    return NumberSum(*number)
