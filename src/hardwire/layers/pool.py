"""`OrPool2d`: the OR of every window, as levels of one fixed gate."""

from typing import Any

import numpy as np
import torch

from hardwire.engine.stack import GRADIENTS, MAXIMUM, NOTHING, Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import algebra
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.images import grid, image_shape


@register_layer
class OrPool2d(GateLayer):
    """The OR of every size x size window: [batch, channels * height * width], flat, to fewer positions.

    shape: (channels, height, width); in a network it follows from the layer before. gradient: "maximum" (all to the
    first input that is 1, as max-pooling has it) or "formula" (that of a + b - a*b).
    """

    kind = "or-pool2d"
    learns = False
    selector = None

    def __init__(
        self,
        size: int = 2,
        stride: int | None = None,
        shape: tuple[int, int, int] | None = None,
        gradient: str = MAXIMUM,
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
        channels, height, width = image_shape(shape)
        rows, columns = ((extent - self.size) // self.stride + 1 for extent in (height, width))
        if height < self.size or width < self.size:
            raise HardwireError(f"a window of {self.size} x {self.size} does not fit an image of {height} x {width}")
        self.input_shape, self.output_shape = (channels, height, width), (channels, rows, columns)
        self._wires = self._tree()

    def levels(self) -> list[Level]:
        if not self._wires:
            raise HardwireError("this pooling layer does not know its image; give shape=(channels, height, width)")
        inputs, levels = self.inputs, []
        for wires in self._wires:
            levels.append(Level(inputs, wires.shape[1], wires, gate=algebra.OR, padded=True, gradient=self.gradient))
            inputs = wires.shape[1]
        return levels

    def config(self) -> dict[str, Any]:
        names = ("size", "stride", "gradient")
        return {"shape": list(self.input_shape), **{name: getattr(self, name) for name in names}}

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
        inside = np.arange(self.size)
        y, x = (inside[:, None, None] + top), (inside[None, :, None] + left)
        window = (y * width + x).reshape(self.size**2, -1)  # [places, positions]
        image = np.arange(channels)[:, None] * (height * width)
        nodes = image[:, None] + window[None]  # [channels, places, positions]
        levels = []
        while nodes.shape[1] > 1:
            if nodes.shape[1] % 2:
                nodes = np.concatenate([nodes, np.full_like(nodes[:, :1], NOTHING)], axis=1)
            pairs = nodes.reshape(channels, -1, 2, nodes.shape[2])
            wires = pairs.transpose(2, 0, 1, 3).reshape(2, -1)
            levels.append(torch.from_numpy(np.ascontiguousarray(wires.astype(np.int32))))
            nodes = np.arange(wires.shape[1]).reshape(channels, -1, nodes.shape[2])
        return levels
