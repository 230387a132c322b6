"""`LocalLayer` and `CellularAutomaton`: every position of a grid runs the same small network on its neighbourhood.

A local layer has a few neurons that all positions share: neurons of one level with shared rows of parameters, as a
convolution has them, but with wires of their own choice and borders that may be periodic. Surprising: an automaton is
nothing but a loop whose cell consists of such layers.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import CONST_ZERO, Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.images import grid, image_shape
from hardwire.layers.logic import gate_pattern
from hardwire.layers.lut import table_pattern
from hardwire.layers.recurrent import Recurrent
from hardwire.layers.selector import Selector
from hardwire.layers.size import LayerSize, check_derived
from hardwire.layers.wired import start_logits
from hardwire.randomness import check_seed, child_seed, generator, normal
from hardwire.selection import Method
from hardwire.temperature import Temperature

BORDERS = ("periodic", "zero")
UPDATES = ("all", "random")
MOST_KERNEL = 255
_ARGUMENTS = ("neurons", "kernel_size", "border", "arity", "votes", "candidates", "start", "bonus", "seed")
_MAJORITY = {m: Fixed(tuple(int(2 * a.bit_count() > m) for a in range(1 << m))) for m in (3, 5)}


@register_layer
class LocalLayer(GateLayer):
    """A few neurons at every position of a grid, the same everywhere: [batch, channels * height * width], flat.

    Args:
        shape: (channels, height, width) of the input.
        neurons: The number of outputs at each position.
        kernel_size: The height and width of the neighbourhood that a position reads, an odd number; 1 for itself alone.
        border: "periodic", where opposite edges meet, or "zero".
        arity: 2 to 6 for look-up tables with so many inputs; by default two-input gates, each one of 16.
        votes: The number of neurons whose majority is an output: a product of threes and fives, or 1.
        candidates: The number of places that each input chooses among; by default all wires are fixed.
        start: "normal" or "residual", as in `LogicLayer`.
        bonus: The size of the bonus of a residual start.
        method: As in `LogicLayer`.
        tau: As in `LogicLayer`.
        cage: As in `LogicLayer`.
        seed: As in `LogicLayer`.
        engine: As in `LogicLayer`.
        places: The places that inputs read or choose among, int32 [inputs of a neuron, neurons * votes, candidates
            or 1, 3] of (channel, row, column), in place of random ones.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> layer = hw.LocalLayer((1, 8, 8), neurons=4, seed=0)
        >>> layer(torch.rand(2, 64).round()).shape
        torch.Size([2, 256])
    """

    kind = "local"
    places: torch.Tensor
    _wires: list[torch.Tensor]  # of every level
    _rows: torch.Tensor
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]

    def __init__(
        self,
        shape: tuple[int, int, int],
        neurons: int,
        kernel_size: int = 3,
        border: str = "periodic",
        arity: int | None = None,
        votes: int = 1,
        candidates: int | None = None,
        start: str = "normal",
        bonus: float = 5.0,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
        places: torch.Tensor | None = None,
    ):
        super().__init__(engine)
        if border not in BORDERS:
            raise unknown_name("border", border, BORDERS)
        self.border, self.arity = border, arity
        self.seed, self.start, self.bonus = check_seed(seed), start, float(bonus)
        self.votes, self.candidates = votes, candidates
        self.input_shape, self.kernel_size = image_shape(shape), whole_number("kernel_size", kernel_size)
        check_derived(self.size_of(self._arguments() | {"neurons": neurons}).derived)
        self.output_shape = (neurons, *self.input_shape[1:])
        rows, inputs = neurons * votes, arity or 2
        pattern = gate_pattern() if arity is None else table_pattern(arity)
        self.logits = nn.Parameter(start_logits(pattern, rows, self.seed, "local.logits", start, self.bonus))
        self.wire_logits: nn.Parameter | None = None
        if candidates is not None:
            self.wire_logits = nn.Parameter(normal(self.seed, "local.wire_logits", inputs, rows, candidates))
        self.register_buffer("places", self._draw_places(rows) if places is None else self._check_places(places))
        self._connect_places()
        self.own_choice = any(argument is not None for argument in (method, tau, cage))
        self.selector = Selector(
            "hard-st" if method is None else method,
            1.0 if tau is None else tau,
            bool(cage),
            self.seed,
            choices=len(GATES) if arity is None else 2,
        )
        self.selector.prepare_for(self.levels())

    def levels(self) -> list[Level]:
        function = Choose(self.logits) if self.arity is None else Entries(self.logits)
        first, *majorities = self._wires
        padded = self.border == "zero" and self.kernel_size > 1
        levels = [Level(self.inputs, first.shape[1], first, function, self.wire_logits, self._rows, padded)]
        for wires in majorities:
            levels.append(Level(levels[-1].neurons, wires.shape[1], wires, _MAJORITY[len(wires)]))
        return levels

    def config(self) -> dict[str, Any]:
        return self._arguments() | {"neurons": self.output_shape[0]}

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        channels, height, width = image_shape(config.get("shape"))
        neurons = whole_number("neurons", config.get("neurons"))
        side = whole_number("kernel_size", config.get("kernel_size"))
        votes, arity = whole_number("votes", config.get("votes")), config.get("arity")
        _factors(votes)
        if side % 2 == 0 or side > MOST_KERNEL:
            raise HardwireError(f"kernel_size {side} has no middle or is too large; use an odd number to {MOST_KERNEL}")
        if arity is not None and not 2 <= whole_number("arity", arity) <= 6:
            raise HardwireError(f"arity {arity} is not 2 to 6, the inputs that a look-up table can have")
        there, candidates = channels * side**2, config.get("candidates")
        if candidates is not None and not 2 <= whole_number("candidates", candidates) <= there:
            raise HardwireError(f"{candidates} candidates for each input of {there} places; use 2 to {there}")
        rows, inputs, choices = neurons * votes, 2 if arity is None else arity, 1 if candidates is None else candidates
        logits = len(GATES) if arity is None else 1 << arity
        own = rows * (logits + inputs * choices * 3 + (0 if candidates is None else inputs * choices))
        return LayerSize(own, rows * height * width * (inputs * choices + 2))

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "LocalLayer":
        if "places" not in tensors:
            raise HardwireError("a local layer needs the tensor places")
        return cls(**config, places=tensors["places"])

    def extra_repr(self) -> str:
        return f"{self.input_shape} -> {self.output_shape}, kernel_size={self.kernel_size}, border={self.border}"

    def _arguments(self) -> dict[str, Any]:
        names = [name for name in _ARGUMENTS if name != "neurons"]
        return {"shape": list(self.input_shape), **{name: getattr(self, name) for name in names}}

    def _apply(self, fn: Any, recurse: bool = True) -> "LocalLayer":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires, self._rows = [fn(wires) for wires in self._wires], fn(self._rows)
        return self

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._connect_places()  # they may be others now

    def _draw_places(self, rows: int) -> torch.Tensor:
        """int32 [inputs, rows, K, 3]: each place is the first choice of equally many inputs, as near as that goes."""
        rng, inputs = generator(self.seed, "local.places"), self.arity or 2
        side, choices = self.kernel_size, self.candidates or 1
        there = self.input_shape[0] * side**2
        drawn = np.empty((rows, inputs, choices), np.int64)
        stream: list[int] = []
        for row in range(rows):
            for number in range(inputs):
                stream = stream or rng.permutation(there).tolist()
                first = stream.pop()
                others = rng.permutation(there)[:choices]
                drawn[row, number] = [first, *others[others != first][: choices - 1]]
        channel, inside = np.divmod(drawn.transpose(1, 0, 2), side**2)
        return torch.from_numpy(np.stack([channel, *np.divmod(inside, side)], axis=-1).astype(np.int32))

    def _check_places(self, places: torch.Tensor) -> torch.Tensor:
        expected = (self.arity or 2, len(self.logits), self.candidates or 1, 3)
        if places.dtype != torch.int32 or tuple(places.shape) != expected:
            raise HardwireError(f"places are int32 {list(expected)}, not {places.dtype} {list(places.shape)}")
        most = torch.tensor([self.input_shape[0], self.kernel_size, self.kernel_size])
        if (places < 0).any() or (places >= most).any():
            raise HardwireError("a place lies outside the neighbourhood")
        return places

    def _connect_places(self) -> None:
        """The wires of all levels and the row of each neuron, from the places; they are not part of the state."""
        _, height, width = self.input_shape
        top, left = grid(self.input_shape, 1)  # [positions]
        channel, down, right = self.places.cpu().numpy().transpose(3, 0, 1, 2)[..., None]  # [inputs, rows, K, 1]
        y, x = down - self.kernel_size // 2 + top, right - self.kernel_size // 2 + left
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        wires = (channel * height + y % height) * width + x % width  # [inputs, rows, K, positions]
        if self.border == "zero":
            wires = np.where(inside, wires, CONST_ZERO)
        wires = wires.transpose(0, 1, 3, 2).reshape(len(wires), -1, wires.shape[2])
        flat = wires if self.candidates is not None else wires[..., 0]
        device, positions = self.places.device, len(top)
        rows = torch.arange(len(self.logits), dtype=torch.int32).repeat_interleave(positions)
        self._rows = rows.to(device)
        self._wires = [torch.from_numpy(np.ascontiguousarray(flat, np.int32)).to(device)]
        count = len(self.logits)
        for m in _factors(self.votes):
            below = torch.arange(count * positions, dtype=torch.int32).view(count // m, m, positions)
            self._wires.append(below.transpose(0, 1).reshape(m, -1).contiguous().to(device))
            count //= m


class CellularAutomaton(Recurrent):
    """A grid of cells that all run the same learned rule: [batch, channels * height * width] -> the same, later.

    Each cell has `channels` bits. In every step it reads its neighbourhood through perception gates, and gates behind
    them make its new bits. The input is the state to start with.

    Args:
        shape: (height, width) of the grid.
        channels: The bits of a cell.
        kernel_size: The height and width of the neighbourhood, an odd number.
        steps: The number of steps.
        widths: The gates of a cell, layer by layer: those that read the neighbourhood, then those behind them. One more
            layer makes the new bits.
        border: "periodic", where opposite edges meet, or "zero".
        arity: 2 to 6 for look-up tables with so many inputs; by default two-input gates, each one of 16.
        votes: The number of neurons whose majority is a new bit: a product of threes and fives, or 1.
        candidates: The number of places, or gates, that each input chooses among, as far as there are so many.
        start: "normal" or "residual", as in `LogicLayer`.
        bonus: The size of the bonus of a residual start.
        outputs: The state after the "last" step, or after each of "all".
        updates: Which cells change in a step: "all" at once, or a "random" part of them. Random ones are a mask that
            each step reads, one bit for each cell: [batch, state + steps * height * width] is the state and the masks.
            For a state alone the automaton draws masks of its own from the stream of its seed.
        rate: The share of the cells that change in a step with random updates.
        method: As in `LogicLayer`.
        tau: As in `LogicLayer`.
        cage: As in `LogicLayer`.
        seed: As in `LogicLayer`.
        engine: As in `LogicLayer`.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> automaton = hw.CellularAutomaton((16, 16), channels=2, widths=[32, 16], steps=5, seed=0)
        >>> automaton(torch.rand(3, 512).round()).shape
        torch.Size([3, 512])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        channels: int = 1,
        kernel_size: int = 3,
        steps: int = 1,
        widths: Sequence[int] = (64, 64),
        border: str = "periodic",
        arity: int | None = None,
        votes: int = 1,
        candidates: int | None = None,
        start: str = "normal",
        bonus: float = 5.0,
        outputs: str = "last",
        updates: str = "all",
        rate: float = 0.5,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
    ):
        if not isinstance(shape, tuple | list) or len(shape) != 2:
            raise HardwireError(f"a grid has the shape (height, width), not {shape!r:.60}")
        if not widths:
            raise HardwireError("widths [] leaves no layer that reads the neighbourhood; name at least one")
        if updates not in UPDATES:
            raise unknown_name("updates", updates, UPDATES)
        seed, cells = check_seed(seed), image_shape((channels, *shape))
        layers: list[GateLayer] = []
        for number, width in enumerate([*widths, channels]):
            below = (channels if number == 0 else widths[number - 1], *shape)
            side, last = kernel_size if number == 0 else 1, number == len(widths)
            there = math.prod((below[0], side, side))
            layers.append(
                LocalLayer(
                    below, width, side, border, arity, votes if last else 1,
                    None if candidates is None or there < 2 else min(candidates, there),
                    start, bonus, seed=child_seed(seed, f"cell.{number}"),
                )
            )  # fmt: skip
        super().__init__(
            layers,
            steps,
            math.prod(cells),
            "input",
            outputs,
            masked=math.prod(cells[1:]) if updates == "random" else 0,
            rate=rate,
            method=method,
            tau=tau,
            cage=cage,
            seed=seed,
            engine=engine,
        )  # fmt: skip


def _factors(votes: int) -> list[int]:
    """A number of votes as threes and fives."""
    factors, rest = [], votes
    for m in (3, 5):
        while rest % m == 0:
            factors.append(m)
            rest //= m
    if rest != 1:
        raise HardwireError(f"votes {votes} is not a product of threes and fives, such as 3, 5, 9, 15 or 25")
    return factors
