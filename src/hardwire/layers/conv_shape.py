"""`ConvShape`: the checked arguments of a convolution, and the sizes that follow from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardwire.engine.functions import check_arity
from hardwire.errors import HardwireError, whole_number
from hardwire.gates import GATE_ARITY, GATES
from hardwire.layers.images import image_shape
from hardwire.layers.size import LayerSize

_MOST = {"tree_depth": 16, "kernel_size": 4096, "stride": 1 << 16}  # far beyond use, and safe to compute with


@dataclass
class ConvShape:
    """The sizes of a convolution; `channels_per_kernel` is limited to the channels of a group.

    A kernel is a tree of nodes: gates, or look-up tables of `arity` inputs.
    """

    shape: tuple[int, int, int]
    kernels: int
    kernel_size: int
    tree_depth: int
    padding: int
    stride: int
    groups: int
    channels_per_kernel: int
    levels: int
    candidates: int | None
    arity: int | None = None

    def __post_init__(self) -> None:
        self.shape = image_shape(self.shape)
        for name in ("kernels", "kernel_size", "tree_depth", "stride", "levels", "groups", "channels_per_kernel"):
            setattr(self, name, whole_number(name, getattr(self, name)))
        self.padding = whole_number("padding", self.padding, least=0)
        if self.arity is not None:
            self.arity = check_arity(self.arity)
        if self.candidates is not None:
            self.candidates = whole_number("candidates", self.candidates, least=2)
        if self.shape[0] % self.levels:
            raise HardwireError(f"{self.shape[0]} channels cannot be made of values with {self.levels} levels each")
        for name, most in _MOST.items():
            if getattr(self, name) > most:
                raise HardwireError(f"{name} {getattr(self, name)} is more than {most}; use a smaller one")
        self._check_channels()
        self._check_positions()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "ConvShape":
        """The sizes of a convolution with the arguments of `LogicConv2d.config`."""
        config = {"arity": None, **config}
        names = cls.__dataclass_fields__
        if missing := [name for name in names if name not in config]:
            raise HardwireError(f"a convolution needs the arguments {', '.join(missing)}")
        return cls(**{name: config[name] for name in names})

    @property
    def fan(self) -> int:
        """The inputs of a node."""
        return self.arity or GATE_ARITY

    @property
    def leaves(self) -> int:
        """The places that a kernel reads."""
        return int(self.fan**self.tree_depth)

    def nodes_on(self, tree_level: int) -> int:
        """The nodes of a kernel on a tree level; tree level 0 reads the leaves."""
        return int(self.fan ** (self.tree_depth - 1 - tree_level))

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """(kernels, rows, columns)."""
        _, height, width = self.shape
        rows, columns = ((size + 2 * self.padding - self.kernel_size) // self.stride + 1 for size in (height, width))
        return self.kernels, rows, columns

    def size(self) -> LayerSize:
        """State: logits, leaves and wire logits. Derived: the wires and rows of every tree level."""
        nodes, leaves, choices = sum(map(self.nodes_on, range(self.tree_depth))), self.leaves, self.candidates or 1
        logits = len(GATES) if self.arity is None else 1 << self.arity
        state = self.kernels * (nodes * logits + leaves * choices * 3)
        if self.candidates is not None:
            state += self.kernels * leaves * choices
        # a row and the wires of each node, and further candidates of the leaves
        derived = nodes * (1 + self.fan) + leaves * (choices - 1)
        return LayerSize(state, math.prod(self.output_shape) * derived)

    def _check_channels(self) -> None:
        channels = self.shape[0]
        if channels % self.groups or self.kernels % self.groups:
            raise HardwireError(
                f"{channels} channels and {self.kernels} kernels cannot be split into {self.groups} groups"
            )
        self.channels_per_kernel = min(self.channels_per_kernel, channels // self.groups)
        places, leaves = self.channels_per_kernel * self.kernel_size**2, self.leaves
        if max(leaves, self.candidates or 0) > places:
            raise HardwireError(
                f"a tree of depth {self.tree_depth} has {leaves} leaves, and the receptive field {places} places "
                f"({self.channels_per_kernel} channels of {self.kernel_size} x {self.kernel_size}); use a smaller "
                f"{'tree_depth' if self.arity is None else 'arity'}, a larger kernel_size or more channels_per_kernel"
            )

    def _check_positions(self) -> None:
        _, height, width = self.shape
        if min(self.output_shape[1:]) < 1:
            raise HardwireError(
                f"a kernel of {self.kernel_size} x {self.kernel_size} has no place on an image of {height} x {width} "
                f"with padding {self.padding}; use a smaller kernel_size or more padding"
            )
        if self.padding >= self.kernel_size:
            raise HardwireError(
                f"padding {self.padding} lets a kernel of {self.kernel_size} see nothing but padding; use at most "
                f"{self.kernel_size - 1}"
            )
