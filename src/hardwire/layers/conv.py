"""`LogicConv2d`: kernels that are binary trees of gates, shared as a convolution shares weights.

A convolution is levels whose neurons share rows of parameters, one level for each floor of the tree. Neurons are
numbered kernels outside, gates of the tree, positions inside, so that a row of parameters serves neighbouring neurons.
Surprising: there is no convolution anywhere else; engines, measurements and circuits see wires.
"""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardwire.engine.stack import NOTHING, Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.images import grid, image_shape
from hardwire.layers.logic import RESIDUAL_BONUS, STARTS, start_logits
from hardwire.layers.selector import Selector, check_seed
from hardwire.selection import Method
from hardwire.temperature import Temperature

AND_LIKE = [gate.index for gate in GATES if sum(gate.truth_table) == 1]  # an AND with inputs negated or not
TREE: str = "tree"  # a start of its own
TREE_BONUS = 2.0
_ARGUMENTS = [
    "kernels",
    "kernel_size",
    "tree_depth",
    "padding",
    "stride",
    "groups",
    "channels_per_kernel",
    "candidates",
    "start",
    "bonus",
    "seed",
]
_MOST = 2**27  # neurons of a level; its wires take a gigabyte


@register_layer
class LogicConv2d(GateLayer):
    """Kernels of gates over an image: [batch, channels * height * width] -> [batch, kernels * positions], both flat.

    shape: (channels, height, width) of what comes in. Each kernel is a tree of 2**tree_depth - 1 gates, whose leaves
    are drawn, each place once, from the receptive field: kernel_size x kernel_size places of `channels_per_kernel`
    channels. levels: so many neighbouring channels are the thresholds of one value and stand side by side in the
    input, as an encoder writes them. candidates: instead of one place a leaf chooses among so many. padding: a ring of
    zeros. groups: the kernels of a group see the channels of that group only. start: "tree" (a bonus on an AND-like
    gate at the root and on pass-through below), "residual" or "normal". The rest as in `LogicLayer`.
    """

    kind = "conv2d"
    leaves: torch.Tensor
    _wires: list[tuple[torch.Tensor, torch.Tensor]]  # and rows, of every floor

    def __init__(
        self,
        shape: tuple[int, int, int],
        kernels: int,
        kernel_size: int = 3,
        tree_depth: int = 3,
        padding: int = 0,
        stride: int = 1,
        groups: int = 1,
        channels_per_kernel: int = 2,
        levels: int = 1,
        candidates: int | None = None,
        start: str = TREE,
        bonus: float | None = None,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
        leaves: torch.Tensor | None = None,
    ):
        super().__init__(engine)
        self.input_shape = image_shape(shape)
        self.kernels, self.kernel_size = whole_number("kernels", kernels), whole_number("kernel_size", kernel_size)
        self.tree_depth, self.stride = whole_number("tree_depth", tree_depth), whole_number("stride", stride)
        self.levels_per_value = whole_number("levels", levels)
        if self.input_shape[0] % self.levels_per_value:
            raise HardwireError(f"{self.input_shape[0]} channels cannot be made of values with {levels} levels each")
        self.padding, self.groups = whole_number("padding", padding, least=0), whole_number("groups", groups)
        self.candidates = candidates if candidates is None else whole_number("candidates", candidates, least=2)
        self.channels_per_kernel = self._check_channels(whole_number("channels_per_kernel", channels_per_kernel))
        if start not in (*STARTS, TREE):
            raise unknown_name("start", start, (*STARTS, TREE))
        self.start, self.bonus = start, default_bonus(start) if bonus is None else float(bonus)
        self.seed = check_seed(seed)
        self.output_shape = (self.kernels, *self._positions())
        if self.neurons * self.gates_on(0) > _MOST:
            raise HardwireError(
                f"{self.neurons * self.gates_on(0)} gates on one floor are more than {_MOST}; use fewer"
            )
        self.register_buffer("leaves", self._check_leaves(leaves) if leaves is not None else self._draw_leaves())
        self.logits = nn.ParameterList(self._start())
        self.wire_logits: nn.Parameter | None = None
        if self.candidates is not None:
            generator = torch.Generator().manual_seed(self.seed + 1)
            rows = self.kernels * 2 ** (self.tree_depth - 1)
            self.wire_logits = nn.Parameter(torch.randn(2, rows, self.candidates, generator=generator))
        self._connect_tree()
        self.own_choice = any(argument is not None for argument in (method, tau, cage))
        self.selector = Selector(
            "hard-st" if method is None else method, 1.0 if tau is None else tau, bool(cage), self.seed
        )
        if self.candidates is not None:
            self.selector.add_wires(self.candidates)

    def gates_on(self, floor: int) -> int:
        """Gates of a kernel on a floor of its tree; floor 0 reads the leaves."""
        return 1 << (self.tree_depth - 1 - floor)

    @property
    def positions(self) -> int:
        return math.prod(self.output_shape[1:])

    def levels(self) -> list[Level]:
        inputs, levels = self.inputs, []
        for floor, (wires, rows) in enumerate(self._wires):
            neurons = len(rows)
            wire_logits = self.wire_logits if floor == 0 else None
            padded = floor == 0 and self.padding > 0
            levels.append(Level(inputs, neurons, wires, self.logits[floor], wire_logits, rows, padded=padded))
            inputs = neurons
        return levels

    def config(self) -> dict[str, Any]:
        arguments = {name: getattr(self, name) for name in _ARGUMENTS}
        return {"shape": list(self.input_shape), "levels": self.levels_per_value, **arguments}

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "LogicConv2d":
        if "leaves" not in tensors:
            raise HardwireError("a convolution needs the tensor leaves")
        return cls(**config, leaves=tensors["leaves"])

    def _apply(self, fn: Any, recurse: bool = True) -> "LogicConv2d":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires = [(fn(wires), fn(rows)) for wires, rows in self._wires]
        return self

    def extra_repr(self) -> str:
        tree = f"kernel_size={self.kernel_size}, tree_depth={self.tree_depth}"
        return f"{self.input_shape} -> {self.output_shape}, {tree}"

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._connect_tree()  # the leaves may be others now

    def _connect_tree(self) -> None:
        """Wires and rows of every floor, made from the leaves, so they are no part of the state."""
        floors = [self._leaf_wires(), *(self._inner_wires(floor) for floor in range(1, self.tree_depth))]
        self._wires = [(wires.to(self.leaves.device), rows.to(self.leaves.device)) for wires, rows in floors]

    def _check_channels(self, wanted: int) -> int:
        """How many channels a kernel reads: no more than its group has; and the leaves must find room in them."""
        channels = self.input_shape[0]
        if channels % self.groups or self.kernels % self.groups:
            raise HardwireError(
                f"{channels} channels and {self.kernels} kernels cannot be split into {self.groups} groups"
            )
        wanted = min(wanted, channels // self.groups)
        places, leaves = wanted * self.kernel_size**2, 2**self.tree_depth
        if max(leaves, self.candidates or 0) > places:
            raise HardwireError(
                f"a tree of depth {self.tree_depth} has {leaves} leaves, and the receptive field {places} places "
                f"({wanted} channels of {self.kernel_size} x {self.kernel_size}); use a smaller tree_depth, a larger "
                "kernel_size or more channels_per_kernel"
            )
        return wanted

    def _positions(self) -> tuple[int, int]:
        _, height, width = self.input_shape
        rows, columns = ((size + 2 * self.padding - self.kernel_size) // self.stride + 1 for size in (height, width))
        if rows < 1 or columns < 1:
            raise HardwireError(
                f"a kernel of {self.kernel_size} x {self.kernel_size} has no place on an image of {height} x {width} "
                f"with padding {self.padding}; use a smaller kernel_size or more padding"
            )
        if self.padding >= self.kernel_size:
            raise HardwireError(
                f"padding {self.padding} lets a kernel of {self.kernel_size} see nothing but padding; use at most "
                f"{self.kernel_size - 1}"
            )
        return rows, columns

    def _draw_leaves(self) -> torch.Tensor:
        """int32 [kernels, 2**tree_depth, K, 3]: (channel, row, column) in the field; K is 1 without candidates."""
        rng = np.random.default_rng(self.seed)
        per_group, leaves, choices = self.kernels // self.groups, 2**self.tree_depth, self.candidates or 1
        drawn = np.empty((self.kernels, leaves, choices, 3), np.int32)
        places = self.channels_per_kernel * self.kernel_size**2
        for group in range(self.groups):
            channels = _balanced(self.input_shape[0] // self.groups, per_group, self.channels_per_kernel, rng)
            for kernel, own in enumerate(channels + group * (self.input_shape[0] // self.groups), group * per_group):
                place = rng.permutation(places)[:leaves, None]
                if self.candidates is not None:
                    place = np.concatenate([place, _others(place[:, 0], places, choices - 1, rng)], axis=1)
                channel, inside = np.divmod(place, self.kernel_size**2)
                drawn[kernel] = np.stack([own[channel], *np.divmod(inside, self.kernel_size)], axis=-1)
        return torch.from_numpy(drawn)

    def _check_leaves(self, leaves: torch.Tensor) -> torch.Tensor:
        expected = (self.kernels, 2**self.tree_depth, self.candidates or 1, 3)
        if leaves.dtype != torch.int32 or tuple(leaves.shape) != expected:
            raise HardwireError(f"leaves are int32 {list(expected)}, not {leaves.dtype} {list(leaves.shape)}")
        most = torch.tensor([self.input_shape[0], self.kernel_size, self.kernel_size])
        if (leaves < 0).any() or (leaves >= most).any():
            raise HardwireError("a leaf lies outside the receptive field")
        return leaves

    def _start(self) -> list[nn.Parameter]:
        rows = [self.kernels * self.gates_on(floor) for floor in range(self.tree_depth)]
        return [nn.Parameter(self._start_floor(floor, count)) for floor, count in enumerate(rows)]

    def _start_floor(self, floor: int, rows: int) -> torch.Tensor:
        seed = self.seed + 2 + floor
        if self.start != "tree":
            return start_logits(rows, seed, self.start, self.bonus)
        if floor + 1 < self.tree_depth:
            return start_logits(rows, seed, "residual", self.bonus)
        logits = start_logits(rows, seed, "residual", 0.0)
        gates = torch.randint(len(AND_LIKE), (rows,), generator=torch.Generator().manual_seed(seed))
        logits[torch.arange(rows), torch.tensor(AND_LIKE)[gates]] += self.bonus
        return logits

    def _leaf_wires(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Floor 0: wires int32 [2, neurons] or [2, neurons, K], and rows int32 [neurons]."""
        _, height, width = self.input_shape
        top, left = grid(self.output_shape, self.stride)
        leaves = self.leaves.cpu().numpy().astype(np.int64)
        channel, down, right = (leaves[..., axis, None] for axis in range(3))  # [kernels, leaves, K, 1]
        y, x = down + top - self.padding, right + left - self.padding  # [kernels, leaves, K, positions]
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        colour, level = np.divmod(channel, self.levels_per_value)
        place = ((colour * height + y) * width + x) * self.levels_per_value + level
        wires = np.where(inside, place, NOTHING)
        gates = self.gates_on(0)
        wires = wires.reshape(self.kernels, gates, 2, -1, self.positions)
        wires = wires.transpose(2, 0, 1, 4, 3).reshape(2, self.kernels * gates * self.positions, -1).astype(np.int32)
        if self.candidates is None:
            wires = wires[:, :, 0]
        return torch.from_numpy(np.ascontiguousarray(wires)), self._rows(gates)

    def _inner_wires(self, floor: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A higher floor: gate g of a kernel reads gates 2g and 2g + 1 of the floor below, at the same position."""
        gates = self.gates_on(floor)
        first = np.arange(self.kernels * 2 * gates * self.positions).reshape(self.kernels * gates, 2, self.positions)
        wires = first.transpose(1, 0, 2).reshape(2, -1).astype(np.int32)
        return torch.from_numpy(np.ascontiguousarray(wires)), self._rows(gates)

    def _rows(self, gates: int) -> torch.Tensor:
        return torch.arange(self.kernels * gates, dtype=torch.int32).repeat_interleave(self.positions)


def default_bonus(start: str) -> float:
    return TREE_BONUS if start == TREE else RESIDUAL_BONUS


def _others(first: NDArray[np.int64], places: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """[leaves, count]: further places for each leaf to choose from, all different from its first."""
    return np.array([rng.permutation(np.delete(np.arange(places), place))[:count] for place in first])


def _balanced(channels: int, kernels: int, each: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """[kernels, each]: different channels for a kernel, all used equally often (to within one round)."""
    stream: list[int] = []
    chosen = []
    for _ in range(kernels):
        own: list[int] = []
        while len(own) < each:
            fresh = [c for c in stream if c not in own]
            if not fresh:
                stream += rng.permutation(channels).tolist()
                continue
            own.append(fresh[0])
            stream.remove(fresh[0])
        chosen.append(own)
    return np.array(chosen)
