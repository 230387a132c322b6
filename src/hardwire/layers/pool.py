"""`OrPool2d`: the OR of every window, as levels of one fixed gate."""

import math
from typing import Any

import numpy as np
import torch

from hardwire.engine.functions import Fixed
from hardwire.engine.stack import CONST_ZERO, GRADIENTS, Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import algebra
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.images import grid, image_shape
from hardwire.layers.size import MOST_INPUTS, LayerSize, check_derived

_OR = Fixed.of_gate(algebra.OR)


@register_layer
class OrPool2d(GateLayer):
    """Pooling by OR over windows of an image, flat: [batch, channels * height * width] -> fewer positions.

    Args:
        size: The height and width of a window.
        stride: The distance between windows; by default their size.
        shape: (channels, height, width) of the input. In a network it follows from the layer before.
        gradient: "maximum" to give the gradient to the first input that is 1, as max-pooling does, or "formula" for
            that of a + b - a*b.
        engine: "auto", "native" or "reference".

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> hw.OrPool2d(2, shape=(1, 2, 4))(torch.tensor([[0.0, 0, 0, 1, 0, 0, 1, 0]]))
        tensor([[0., 1.]])
    """

    kind = "or-pool2d"
    learns = False
    selector = None

    def __init__(
        self,
        size: int = 2,
        stride: int | None = None,
        shape: tuple[int, int, int] | None = None,
        gradient: str = "maximum",
        engine: str = "auto",
    ):
        super().__init__(engine)
        self.size = whole_number("size", size, least=2)
        self.stride = self.size if stride is None else whole_number("stride", stride)
        if gradient not in GRADIENTS:
            raise unknown_name("gradient", gradient, GRADIENTS)
        self.gradient = gradient
        self._wires: list[torch.Tensor] = []
        if shape is not None:
            self.connect(tuple(shape))

    def connect(self, shape: tuple[int, ...]) -> None:
        known = getattr(self, "input_shape", None)
        if known == tuple(shape):
            return
        if known is not None:
            raise HardwireError(f"this pooling layer reads images of {known}, not {tuple(shape)}")
        pooled = pooled_shape(image_shape(shape), self.size, self.stride)
        check_derived(wire_count(pooled, self.size))
        self.input_shape, self.output_shape = image_shape(shape), pooled
        self._wires = self._tree()

    def wider(self, times: int) -> "OrPool2d":
        channels, *image = getattr(self, "input_shape", (0, 0, 0))
        shape = (channels * whole_number("times", times), *image) if channels else None
        return OrPool2d(self.size, self.stride, shape, self.gradient, self.engine)

    def levels(self) -> list[Level]:
        if not self._wires:
            raise HardwireError("this pooling layer has no image shape; give shape=(channels, height, width)")
        inputs, levels = self.inputs, []
        for wires in self._wires:
            levels.append(Level(inputs, wires.shape[1], wires, _OR, padded=True, gradient=self.gradient))
            inputs = wires.shape[1]
        return levels

    def config(self) -> dict[str, Any]:
        names = ("size", "stride", "gradient")
        return {"shape": list(self.input_shape), **{name: getattr(self, name) for name in names}}

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        size, stride = whole_number("size", config.get("size"), least=2), whole_number("stride", config.get("stride"))
        return LayerSize(0, wire_count(pooled_shape(image_shape(config.get("shape")), size, stride), size))

    def _apply(self, fn: Any, recurse: bool = True) -> "OrPool2d":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires = [fn(wires) for wires in self._wires]
        return self

    def extra_repr(self) -> str:
        return f"size={self.size}, stride={self.stride}, gradient={self.gradient}"

    def _tree(self) -> list[torch.Tensor]:
        """The window's inputs by twos, row by row, until one is left; an odd one meets the constant 0."""
        channels, height, width = self.input_shape
        top, left = grid(self.output_shape, self.stride)
        inside = np.arange(self.size, dtype=np.int32)
        y, x = (inside[:, None, None] + top), (inside[None, :, None] + left)
        window = (y * width + x).reshape(self.size**2, -1)  # [places, positions]
        image = np.arange(channels, dtype=np.int32)[:, None] * np.int32(height * width)
        nodes = image[:, None] + window[None]  # [channels, places, positions]
        levels = []
        while nodes.shape[1] > 1:
            if nodes.shape[1] % 2:
                nodes = np.concatenate([nodes, np.full_like(nodes[:, :1], CONST_ZERO)], axis=1)
            pairs = nodes.reshape(channels, -1, 2, nodes.shape[2])
            wires = pairs.transpose(2, 0, 1, 3).reshape(2, -1)
            levels.append(torch.from_numpy(np.ascontiguousarray(wires)))
            nodes = np.arange(wires.shape[1], dtype=np.int32).reshape(channels, -1, nodes.shape[2])
        return levels


def pooled_shape(shape: tuple[int, int, int], size: int, stride: int) -> tuple[int, int, int]:
    """(channels, rows, columns) of windows of size x size over an image."""
    channels, height, width = shape
    if stride > MOST_INPUTS:
        raise HardwireError(f"stride {stride} is more than any image has pixels; use a smaller one")
    if height < size or width < size:
        raise HardwireError(f"a window of {size} x {size} does not fit an image of {height} x {width}")
    return channels, (height - size) // stride + 1, (width - size) // stride + 1


def wire_count(pooled: tuple[int, int, int], size: int) -> int:
    """The wires of all levels of a tree over size * size inputs, at every position."""
    pairs, left = 0, size**2
    while left > 1:
        left = (left + 1) // 2
        pairs += left
    return 2 * pairs * math.prod(pooled)
