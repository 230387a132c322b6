"""`LogicConv2d`: a convolution whose kernels are binary trees of gates, or look-up tables.

A convolution is one level of neurons for each level of the tree, and neurons share rows of parameters. They are ordered
by kernel, then by node of the tree, then by position, so that the neurons of a row are adjacent. Surprising: no other
code knows about convolutions; engines, measurements and circuits see wires.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hardwire.engine.functions import Choose, Entries
from hardwire.engine.stack import CONST_ZERO, Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.conv_shape import ConvShape
from hardwire.layers.images import grid
from hardwire.layers.logic import RESIDUAL_BONUS, gate_pattern
from hardwire.layers.lut import TABLE_BONUS, table_pattern
from hardwire.layers.selector import Selector
from hardwire.layers.size import LayerSize, check_derived
from hardwire.layers.wired import STARTS, check_subset, part_of, start_logits
from hardwire.randomness import check_seed, generator, normal
from hardwire.selection import Method
from hardwire.temperature import Temperature

AND_LIKE = [gate.index for gate in GATES if sum(gate.truth_table) == 1]  # an AND with inputs negated or not
TREE: str = "tree"  # a start for trees alone
TREE_BONUS = 2.0
TREE_DEPTH = 3
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
_CHUNK = 1 << 20  # wires computed at once, so that temporary arrays stay small


@register_layer
class LogicConv2d(GateLayer):
    """A convolution of gate trees or tables: [batch, channels * height * width] -> [batch, kernels * positions].

    Each kernel is a binary tree of 2**tree_depth - 1 gates, or with `arity` one look-up table of so many inputs. Its
    leaves are different places, drawn at random, of its receptive field: kernel_size x kernel_size places in
    `channels_per_kernel` channels.

    Args:
        shape: (channels, height, width) of the input.
        kernels: The number of kernels.
        kernel_size: The height and width of the receptive field.
        tree_depth: The depth of each tree; by default 3 for gates and 1, a single table, with `arity`.
        padding: The width of the border of zeros around the image.
        stride: The distance between positions.
        groups: The kernels of a group see only the channels of that group.
        channels_per_kernel: The number of channels that a kernel reads.
        levels: This many neighbouring channels are the thresholds of one value and adjacent in the input, as an
            encoder orders them.
        candidates: If given, a leaf chooses among this many places.
        start: The initial logits: "tree" (the default of gates) for a bonus on an AND-like gate at the root and on the
            pass-through gate elsewhere, or "residual" or "normal" (the default of tables) as in `LogicLayer`.
        bonus: The size of the bonus.
        method: As in `LogicLayer`.
        tau: As in `LogicLayer`.
        cage: As in `LogicLayer`.
        seed: As in `LogicLayer`.
        engine: As in `LogicLayer`.
        leaves: The places of the leaves, int32 [kernels, 2**tree_depth, candidates or 1, 3] of (channel, row, column),
            in place of random ones; of tables, arity**tree_depth leaves.
        arity: The inputs of a table, 2 to 6, for kernels of tables; by default kernels are trees of gates.

    Example:
        >>> import hardwire as hw
        >>> layers = [
        ...     hw.LogicConv2d((1, 28, 28), kernels=16, tree_depth=2, padding=1, seed=0),
        ...     hw.OrPool2d(2),
        ...     hw.LogicLayer(16 * 14 * 14, 1000, seed=1),
        ... ]
        >>> net = hw.LogicNetwork(classes=10, layers=layers, seed=2)
        >>> net.widths
        [12544, 3136, 1000]
    """

    kind = "conv2d"
    leaves: torch.Tensor
    _wires: list[tuple[torch.Tensor, torch.Tensor]]  # (wires, rows) of every tree level

    def __init__(
        self,
        shape: tuple[int, int, int],
        kernels: int,
        kernel_size: int = 3,
        tree_depth: int | None = None,
        padding: int = 0,
        stride: int = 1,
        groups: int = 1,
        channels_per_kernel: int = 2,
        levels: int = 1,
        candidates: int | None = None,
        start: str | None = None,
        bonus: float | None = None,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
        leaves: torch.Tensor | None = None,
        arity: int | None = None,
    ):
        super().__init__(engine)
        if tree_depth is None:
            tree_depth = TREE_DEPTH if arity is None else 1
        self.form = form = ConvShape(
            shape, kernels, kernel_size, tree_depth, padding, stride, groups, channels_per_kernel, levels, candidates,
            arity,
        )  # fmt: skip
        check_derived(form.size().derived)
        self.input_shape, self.output_shape = form.shape, form.output_shape
        self.kernels, self.kernel_size, self.tree_depth = form.kernels, form.kernel_size, form.tree_depth
        self.padding, self.stride, self.groups = form.padding, form.stride, form.groups
        self.levels_per_value, self.candidates = form.levels, form.candidates
        self.channels_per_kernel, self.arity = form.channels_per_kernel, form.arity
        starts = (*STARTS, TREE) if arity is None else STARTS
        self.start = (TREE if arity is None else "normal") if start is None else start
        if self.start not in starts:
            raise unknown_name("start", start, starts)
        self.bonus = self._default_bonus() if bonus is None else float(bonus)
        self.seed = check_seed(seed)
        self.register_buffer("leaves", self._check_leaves(leaves) if leaves is not None else self._draw_leaves())
        self.logits = nn.ParameterList(self._start())
        self.wire_logits: nn.Parameter | None = None
        if self.candidates is not None:
            shape = (form.fan, self.kernels * form.nodes_on(0), self.candidates)
            self.wire_logits = nn.Parameter(normal(self.seed, "conv2d.wire_logits", *shape))
        self._connect_tree()
        self.own_choice = any(argument is not None for argument in (method, tau, cage))
        self.selector = Selector(
            "hard-st" if method is None else method,
            1.0 if tau is None else tau,
            bool(cage),
            self.seed,
            choices=self._function(0).choices,
        )
        self.selector.prepare_for(self.levels())

    @property
    def positions(self) -> int:
        return math.prod(self.output_shape[1:])

    def levels(self) -> list[Level]:
        inputs, levels = self.inputs, []
        for tree_level, (wires, rows) in enumerate(self._wires):
            neurons = len(rows)
            wire_logits = self.wire_logits if tree_level == 0 else None
            padded = tree_level == 0 and self.padding > 0
            levels.append(Level(inputs, neurons, wires, self._function(tree_level), wire_logits, rows, padded))
            inputs = neurons
        return levels

    def _function(self, tree_level: int) -> Choose | Entries:
        logits = self.logits[tree_level]
        return Choose(logits) if self.arity is None else Entries(logits)

    def config(self) -> dict[str, Any]:
        arguments = {name: getattr(self, name) for name in _ARGUMENTS}
        arguments |= {} if self.arity is None else {"arity": self.arity}
        return {"shape": list(self.input_shape), "levels": self.levels_per_value, **arguments}

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        return ConvShape.of(config).size()

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "LogicConv2d":
        if "leaves" not in tensors:
            raise HardwireError("a convolution needs the tensor leaves")
        return cls(**config, leaves=tensors["leaves"])

    def wider(self, times: int) -> "LogicConv2d":
        config = self.config() | {"kernels": self.kernels * whole_number("times", times)}
        return LogicConv2d(**config)._taking_choice_of(self)

    def keep(self, units: Sequence[int] | torch.Tensor) -> "LogicConv2d":
        """A convolution of some of the kernels, with their leaves and logits, in this order.

        Args:
            units: The numbers of the kernels, each once.

        Returns:
            The new layer. It shares no tensors with this one, and stays frozen where this one is.

        Example:
            >>> import hardwire as hw
            >>> hw.LogicConv2d((1, 8, 8), kernels=16, tree_depth=2, seed=0).keep([3, 5]).output_shape
            (2, 6, 6)
        """
        kept = check_subset(units, self.kernels, "keep", "kernels").long().to(self.leaves.device)
        config = self.config() | {"kernels": len(kept), "groups": 1}  # leaves say which channels they read
        layer = LogicConv2d(**config, leaves=self.leaves[kept].cpu())._taking_choice_of(self)
        for tree_level, logits in enumerate(self.logits):
            part = logits.unflatten(0, (self.kernels, -1))[kept].flatten(0, 1)
            layer.logits[tree_level] = part_of(logits, part)
        if self.wire_logits is not None:
            part = self.wire_logits.unflatten(1, (self.kernels, -1))[:, kept].flatten(1, 2)
            layer.wire_logits = part_of(self.wire_logits, part)
        return layer.to(self.leaves.device)

    def _apply(self, fn: Any, recurse: bool = True) -> "LogicConv2d":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires = [(fn(wires), fn(rows)) for wires, rows in self._wires]
        return self

    def extra_repr(self) -> str:
        tree = f"kernel_size={self.kernel_size}, tree_depth={self.tree_depth}"
        tree += "" if self.arity is None else f", arity={self.arity}"
        return f"{self.input_shape} -> {self.output_shape}, {tree}"

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._connect_tree()  # the leaves may be others now

    def _connect_tree(self) -> None:
        """Computes the wires and rows of every tree level from the leaves; they are not part of the state."""
        tree_levels = [self._leaf_wires(), *(self._inner_wires(tree_level) for tree_level in range(1, self.tree_depth))]
        self._wires = [(wires.to(self.leaves.device), rows.to(self.leaves.device)) for wires, rows in tree_levels]

    def _draw_leaves(self) -> torch.Tensor:
        """int32 [kernels, leaves, K, 3]: (channel, row, column) in the field; K is 1 without candidates."""
        rng = generator(self.seed, "conv2d.leaves")
        per_group, leaves, choices = self.kernels // self.groups, self.form.leaves, self.candidates or 1
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
        expected = (self.kernels, self.form.leaves, self.candidates or 1, 3)
        if leaves.dtype != torch.int32 or tuple(leaves.shape) != expected:
            raise HardwireError(f"leaves are int32 {list(expected)}, not {leaves.dtype} {list(leaves.shape)}")
        most = torch.tensor([self.input_shape[0], self.kernel_size, self.kernel_size])
        if (leaves < 0).any() or (leaves >= most).any():
            raise HardwireError("a leaf lies outside the receptive field")
        return leaves

    def _start(self) -> list[nn.Parameter]:
        rows = [self.kernels * self.form.nodes_on(tree_level) for tree_level in range(self.tree_depth)]
        return [nn.Parameter(self._start_tree_level(tree_level, count)) for tree_level, count in enumerate(rows)]

    def _start_tree_level(self, tree_level: int, rows: int) -> torch.Tensor:
        path = f"conv2d.logits.{tree_level}"
        pattern = gate_pattern() if self.arity is None else table_pattern(self.arity)
        if self.start != TREE:
            return start_logits(pattern, rows, self.seed, path, self.start, self.bonus)
        if tree_level + 1 < self.tree_depth:
            return start_logits(pattern, rows, self.seed, path, "residual", self.bonus)
        logits = start_logits(pattern, rows, self.seed, path, "residual", 0.0)
        gates = torch.from_numpy(generator(self.seed, "conv2d.root_gates").choice(AND_LIKE, rows))
        logits[torch.arange(rows), gates] += self.bonus
        return logits

    def _leaf_wires(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Tree level 0: wires int32 [n, neurons] or [n, neurons, K], and rows int32 [neurons]."""
        fan, nodes, choices = self.form.fan, self.form.nodes_on(0), self.candidates or 1
        wires = np.empty((fan, self.kernels, nodes, self.positions, choices), np.int32)
        leaves = self.leaves.cpu().numpy()
        some_positions = max(1, _CHUNK // (fan * nodes * choices))
        some_kernels = max(1, some_positions // self.positions)
        for kernel in range(0, self.kernels, some_kernels):
            for start in range(0, self.positions, some_positions):
                place = self._places(leaves[kernel : kernel + some_kernels], start, start + some_positions)
                place = place.reshape(len(place), nodes, fan, choices, -1).transpose(2, 0, 1, 4, 3)
                wires[:, kernel : kernel + some_kernels, :, start : start + some_positions] = place
        flat = wires.reshape(fan, self.kernels * nodes * self.positions, choices)
        return torch.from_numpy(flat if self.candidates is not None else flat[:, :, 0]), self._rows(nodes)

    def _places(self, leaves: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
        """[kernels, leaves, K, positions]: the input that each leaf [..., 3] reads at positions start to stop."""
        _, height, width = self.input_shape
        top, left = grid(self.output_shape, self.stride, start, stop)
        channel, down, right = (leaves[..., axis, None] for axis in range(3))  # [kernels, leaves, K, 1]
        y, x = down + top - self.padding, right + left - self.padding  # [kernels, leaves, K, positions]
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        colour, level = np.divmod(channel, np.int32(self.levels_per_value))
        place = ((colour * height + y) * width + x) * self.levels_per_value + level
        return np.where(inside, place, np.int32(CONST_ZERO))

    def _inner_wires(self, tree_level: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A higher tree level: node g of a kernel reads nodes n*g to n*g + n - 1 of the one below, where it is."""
        fan, nodes = self.form.fan, self.form.nodes_on(tree_level)
        first = np.arange(self.kernels * fan * nodes * self.positions, dtype=np.int32)
        wires = first.reshape(self.kernels * nodes, fan, self.positions).transpose(1, 0, 2).reshape(fan, -1)
        return torch.from_numpy(np.ascontiguousarray(wires)), self._rows(nodes)

    def _rows(self, nodes: int) -> torch.Tensor:
        return torch.arange(self.kernels * nodes, dtype=torch.int32).repeat_interleave(self.positions)

    def _default_bonus(self) -> float:
        if self.arity is not None:
            return TABLE_BONUS
        return TREE_BONUS if self.start == TREE else RESIDUAL_BONUS


def _others(first: NDArray[np.int64], places: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Further candidate places for each leaf, [leaves, count], all different from its first."""
    return np.array([rng.permutation(np.delete(np.arange(places), place))[:count] for place in first])


def _balanced(channels: int, kernels: int, each: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The channels of each kernel, [kernels, each], all different and used equally often (to within one round)."""
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
