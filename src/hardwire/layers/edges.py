"""`EdgeChannels`: an image of thresholds with channels added that say where a value rises between two neighbours.

A thermometer of thresholds knows how large a value is. "Larger by at least two thresholds than that pixel" needs a
comparison at each height of the thermometer, which a kernel of a few places cannot make. Surprising: nothing learns
here, but the comparisons are gates like all others, and are counted, simplified and exported as such.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.engine.functions import Fixed
from hardwire.engine.stack import CONST_ZERO, Level, Source
from hardwire.errors import HardwireError, shown, whole_number
from hardwire.gates import algebra
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.images import image_shape
from hardwire.layers.size import LayerSize, check_derived

_LESS, _OR, _COPY = (Fixed.of_gate(gate) for gate in (algebra.LESS, algebra.OR, algebra.A))
_BESIDE = ((0, -1), (0, 1), (-1, 0), (1, 0))  # (down, right) from a pixel to the neighbour that is to be larger


@register_layer
class EdgeChannels(GateLayer):
    """Adds channels of edges to an image of thresholds, flat: [batch, channels * height * width] -> more channels.

    For each of `planes`, each of `steps` and each of four directions there is a channel. It is 1 where the neighbour
    in that direction reaches at least so many thresholds more than the opposite neighbour.

    Args:
        shape: (channels, height, width) of the input.
        levels: This many neighbouring channels are the thresholds of one value and adjacent in the input, as an
            encoder orders them. The output has whole channels one after another.
        planes: The values that edges are looked for in, by number; by default all.
        steps: How many thresholds more.
        engine: "auto", "native" or "reference".

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> dark_to_bright = torch.tensor([[0.0, 0, 1, 1, 1, 1]])  # three pixels in a row, two thresholds each
        >>> hw.EdgeChannels((2, 1, 3), levels=2, steps=[2])(dark_to_bright).reshape(6, 3)[3]
        tensor([1., 1., 0.])
    """

    kind = "edges2d"
    learns = False
    selector = None

    def __init__(
        self,
        shape: tuple[int, int, int],
        levels: int,
        planes: Sequence[int] | None = None,
        steps: Sequence[int] = (2, 4),
        engine: str = "auto",
    ):
        super().__init__(engine)
        self.input_shape = image_shape(shape)
        self.levels_per_value = whole_number("levels", levels)
        channels, height, width = self.input_shape
        if channels % self.levels_per_value:
            raise HardwireError(f"{channels} channels cannot be made of values with {levels} levels each")
        values = channels // self.levels_per_value
        self.planes = _numbers("planes", range(values) if planes is None else planes, 0, values - 1)
        self.steps = _numbers("steps", steps, 1, self.levels_per_value)
        self.output_shape = (channels + len(self.planes) * len(self.steps) * len(_BESIDE), height, width)
        check_derived(_wire_count(self.input_shape, self.levels_per_value, self.planes, self.steps))
        self._wires = self._tree()

    def levels(self) -> list[Level]:
        inputs, levels = self.inputs, []
        for number, wires in enumerate(self._wires[:-1]):
            levels.append(Level(inputs, wires.shape[1], wires, _OR if number else _LESS, padded=True))
            inputs = wires.shape[1]
        wires, last = self._wires[-1], len(levels) - 1
        reads = (Source(-1, 0, self.inputs), Source(last, 0, inputs))
        return [*levels, Level(self.inputs + inputs, wires.shape[1], wires, _COPY, padded=True, reads=reads)]

    def config(self) -> dict[str, Any]:
        return {
            "shape": list(self.input_shape),
            "levels": self.levels_per_value,
            "planes": list(self.planes),
            "steps": list(self.steps),
        }

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        shape, levels = image_shape(config.get("shape")), whole_number("levels", config.get("levels"))
        values = max(1, shape[0] // levels)
        planes = config.get("planes")
        planes = _numbers("planes", range(values) if planes is None else planes, 0, values - 1)
        return LayerSize(0, _wire_count(shape, levels, planes, _numbers("steps", config.get("steps"), 1, levels)))

    def wider(self, times: int) -> "EdgeChannels":
        raise HardwireError("edge channels follow the input, so nothing can be chosen by use before them")

    def _apply(self, fn: Any, recurse: bool = True) -> "EdgeChannels":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires = [fn(wires) for wires in self._wires]
        return self

    def extra_repr(self) -> str:
        return f"{self.input_shape} -> {self.output_shape}, planes={self.planes}, steps={self.steps}"

    def _tree(self) -> list[torch.Tensor]:
        """Wires of the comparisons, of the levels of OR over them, and of the copies behind: int32 [2, neurons]."""
        positions = math.prod(self.input_shape[1:])
        pairs = [self._comparisons(*edge) for edge in self._edges()]  # each [2, comparisons, positions]
        levels = [np.concatenate([pair.reshape(2, -1) for pair in pairs], axis=1)]
        counts = [pair.shape[1] for pair in pairs]
        while max(counts) > 1:
            nodes = np.split(np.arange(sum(counts), dtype=np.int32), np.cumsum(counts)[:-1])
            padded = [np.append(own, [CONST_ZERO] * (len(own) % 2)).reshape(-1, 2).T for own in nodes]
            wires = np.concatenate(padded, axis=1)[:, :, None]
            at = np.where(wires == CONST_ZERO, CONST_ZERO, wires * positions + np.arange(positions))
            levels.append(at.reshape(2, -1))
            counts = [(count + 1) // 2 for count in counts]
        given = self._places(np.arange(self.input_shape[0]))
        copies = np.append(given.ravel(), self.inputs + np.arange(len(counts) * positions))
        return [torch.from_numpy(wires.astype(np.int32)) for wires in (*levels, np.stack([copies, copies]))]

    def _edges(self) -> list[tuple[int, int, tuple[int, int]]]:
        return [(plane, step, beside) for plane in self.planes for step in self.steps for beside in _BESIDE]

    def _comparisons(self, plane: int, step: int, beside: tuple[int, int]) -> NDArray[np.int32]:
        """[2, comparisons, positions]: what does not reach threshold i, and what reaches threshold i + step - 1."""
        down, right = beside
        low = plane * self.levels_per_value + np.arange(self.levels_per_value - step + 1)
        return np.stack([self._places(low, -down, -right), self._places(low + step - 1, down, right)])

    def _places(self, channels: NDArray[Any], down: int = 0, right: int = 0) -> NDArray[np.int32]:
        """[channels, positions]: the input of these channels beside each position; at the border the pixel itself."""
        _, height, width = self.input_shape
        y, x = np.divmod(np.arange(height * width), width)
        y, x = np.clip(y + down, 0, height - 1), np.clip(x + right, 0, width - 1)
        value, level = np.divmod(channels[:, None], self.levels_per_value)
        places: NDArray[np.int32] = ((value * height + y) * width + x) * self.levels_per_value + level
        return places.astype(np.int32)


def _numbers(name: str, given: Any, least: int, most: int) -> tuple[int, ...]:
    """Different whole numbers from least to most."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise HardwireError(f"{name} is {shown(given)}; it must be a list of numbers, such as [{least}]")
    numbers = tuple(whole_number(name, number, least) for number in given)
    if max(numbers) > most or len(set(numbers)) < len(numbers):
        raise HardwireError(f"{name} is {shown(given)}; use different numbers from {least} to {most}")
    return numbers


def _wire_count(shape: tuple[int, int, int], levels: int, planes: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """At most so many wires: comparisons, as many in the OR behind them with what is padded, and copies."""
    channels, height, width = shape
    edges = sum(2 * (levels - step + 1) + levels.bit_length() for step in steps) * len(planes) * len(_BESIDE)
    return 2 * height * width * (edges + channels + len(planes) * len(steps) * len(_BESIDE))
