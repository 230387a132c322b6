"""`Recurrent`: a cell of layers that runs once for every step of a sequence, and keeps a state between steps.

A loop is its unrolled levels: those of the first step, and their repetitions (`Level.repeats`). Engines, measurements
and circuits know nothing else about time. Surprising: a loop of T steps has the parameters of one, and the gradient of
each is the sum over the steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from hardwire.bits import Bits
from hardwire.engine.functions import Entries, Fixed
from hardwire.engine.stack import CONST_ZERO, THE_INPUT, THE_STATE, Input, Level, Source, unrolled
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES, algebra
from hardwire.layers.base import LAYERS, GateLayer, register_layer
from hardwire.layers.selector import Selector
from hardwire.layers.size import LayerSize, check_derived
from hardwire.randomness import check_seed, generator, normal
from hardwire.selection import Method
from hardwire.temperature import Temperature

OUTPUTS = ("last", "all", "sum")
INITIAL = ("zeros", "learned", "input")
MOST_STEPS = 10_000
MOST_LEVELS = 100_000  # of all steps together

_GATES = {gate.name: Fixed.of_gate(gate.index) for gate in GATES}
_ZEROS, _ONES, _COPY = _GATES["FALSE"], _GATES["TRUE"], _GATES["A"]
_AND, _AND_NOT, _OR = (Fixed.of_gate(gate) for gate in (algebra.AND, algebra.AND_OF[0, 1, 0], algebra.OR))


class CellLayers(nn.ModuleList):
    """An nn.ModuleList of layers of gates, for type checkers."""

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[GateLayer]: ...
        def __getitem__(self, index: int) -> GateLayer: ...  # type: ignore[override]


@register_layer
class Recurrent(GateLayer):
    """A loop: a cell reads [state, input] and makes [state, output], once for each step.

    Maps sequences [batch, steps, bits] (or flat, [batch, steps * bits]) to outputs, flat. A cell that makes nothing but
    its state has the state as its output.

    Args:
        cell: A layer or several, the first of which reads `state` bits and then those of a step; the last makes
            `state` bits and then those of the output.
        steps: The number of steps.
        state: The number of bits of the state.
        initial: The state before the first step: "zeros"; a list of bits; "learned" bits; or "input", where the input
            of the layer is the state in which it starts.
        outputs: The output of the "last" step; of "all", step by step; or "sum": of all, the steps of each bit side by
            side, so that class sums count all steps.
        held: Whether every step reads the same input, [batch, bits].
        masked: The number of bits of a mask that each step reads; bit i of the state changes only where bit
            i % masked of it is 1. For loops whose input is their state: [batch, state + steps * masked], the state and
            then the masks. 0 for none.
        rate: The share of ones in masks that the layer draws itself, for an input [batch, state] without any: from the
            stream of its seed, others in each step and row of each pass. In a network, masks come with the input.
        method: As in `LogicLayer`; the cell's layers have none of their own.
        tau: As in `LogicLayer`.
        cage: As in `LogicLayer`. It moves once for a training step, however many steps the loop has.
        seed: The seed of learned initial bits and of the noise.
        engine: As in `LogicLayer`.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> cell = [hw.LogicLayer(24 + 8, 200, seed=0), hw.LogicLayer(200, 24 + 10, seed=1)]
        >>> loop = hw.Recurrent(cell, steps=5, state=24, seed=2)
        >>> loop(torch.rand(3, 5, 8).round()).shape
        torch.Size([3, 10])
    """

    kind = "recurrent"
    steps: int
    state: int
    initial: str | list[int]
    outputs: str
    held: bool
    masked: int
    bits: int
    output_bits: int
    cell: "CellLayers"

    def __init__(
        self,
        cell: GateLayer | Sequence[GateLayer],
        steps: int,
        state: int,
        initial: str | Sequence[int] = "zeros",
        outputs: str = "last",
        held: bool = False,
        masked: int = 0,
        rate: float = 0.5,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
    ):
        super().__init__(engine)
        if outputs not in OUTPUTS:
            raise unknown_name("outputs", outputs, OUTPUTS)
        self.cell = CellLayers(_check_cell(cell))
        self.steps, self.state = _check_steps(steps, self.cell), whole_number("state", state)
        self.initial, self.outputs, self.held = _check_initial(initial, self.state), outputs, bool(held)
        self.seed = check_seed(seed)
        first, last = self.cell[0].inputs, self.cell[-1].neurons
        if first < self.state or last < self.state:
            raise HardwireError(
                f"a cell with a state of {self.state} bits reads and makes at least {self.state}; this one reads "
                f"{first} and makes {last}"
            )
        self.bits, self.output_bits = first - self.state, last - self.state or self.state
        self._output_start = self.state if last > self.state else 0
        if (self.initial == "input") != (self.bits == 0):
            raise HardwireError(
                f"the cell reads {self.bits} bits beside its state; with initial='input' it reads its state alone, and "
                "otherwise at least one more"
            )
        self.masked, self.rate = self._check_masked(masked), _check_rate(rate)
        self.input_shape = self._shape_of_input()
        parts = 1 if outputs == "last" else self.steps
        self.output_shape = (self.output_bits,) if parts == 1 else (parts, self.output_bits)
        self.initial_logits: nn.Parameter | None = None
        if self.initial == "learned":
            self.initial_logits = nn.Parameter(normal(self.seed, "recurrent.initial", self.state, 1))
        check_derived(2 * (parts * self.output_bits + 2 * self.state))
        self._wires = [_constant_wires(self.state), self._output_wires(parts), *self._mask_wires()]
        self.own_choice = any(argument is not None for argument in (method, tau, cage))
        self.selector = Selector(
            "hard-st" if method is None else method, 1.0 if tau is None else tau, bool(cage), self.seed
        )
        self.selector.prepare_for(self.levels())
        self._evaluations = 0  # since the last training step; each draws masks of its own

    def levels(self) -> list[Level]:
        levels, starts = self._start()
        inputs = [self._input_of(step) for step in range(self.steps)]
        cell = self.step_levels()
        levels += unrolled(cell, self.state, starts, inputs, len(levels))
        ends = range(len(levels) - len(cell) * (self.steps - 1) - 1, len(levels), len(cell))
        span = self._output_start, self._output_start + self.output_bits
        reads = tuple(Source(end, *span) for end in (ends[-1:] if self.outputs == "last" else ends))
        wires = self._wires[1]
        levels.append(Level(wires.shape[1], wires.shape[1], wires, _COPY, reads=reads))
        return levels

    def step_levels(self) -> list[Level]:
        """The levels of one step, as `unrolled` takes them."""
        cell = [level for layer in self.cell for level in layer.levels()]
        if not self.masked:
            return cell
        state, last = self.state, len(cell)
        masked, either = self._wires[2:4]
        before, new, mask = Source(THE_STATE, 0, state), Source(last - 1, 0, state), Source(THE_INPUT, 0, self.masked)
        return [
            replace(cell[0], reads=(before,)),
            *cell[1:],
            Level(state + self.masked, state, masked, _AND, reads=(new, mask)),
            Level(state + self.masked, state, masked, _AND_NOT, reads=(before, mask)),
            Level(2 * state, state, either, _OR, reads=(Source(last, 0, state), Source(last + 1, 0, state))),
        ]

    def one_step(self) -> list[Level]:
        """The levels of one step by itself, from [state, input] to [state, output]."""
        copy, sources = self._parted(self.state + self.masked)
        given = Source(-1, self.state, self.state + (self.masked or self.bits))
        return copy + unrolled(self.step_levels(), self.state, sources, [given], len(copy))

    def forward(self, x: Input) -> torch.Tensor:
        return super().forward(self._with_masks(self.flat(x)))

    def flat(self, x: Input) -> Input:
        """Sequences [batch, steps, bits] as rows [batch, steps * bits]; rows stay as they are."""
        if isinstance(x, list | tuple):
            lengths = sorted({len(sequence) for sequence in x})
            raise HardwireError(
                f"sequences come as one tensor [batch, {self.steps}, {self.bits}]; these have lengths {lengths}"[:200]
            )
        if isinstance(x, Bits) or x.ndim != 3:
            return x
        if x.shape[1:] != self.input_shape:
            raise HardwireError(
                f"these sequences are {list(x.shape[1:])}, [steps, bits]; this loop reads {list(self.input_shape)}"
            )
        return x.flatten(1)

    def draw_masks(self, rows: int) -> torch.Tensor:
        """Masks of zeros and ones [rows, steps * masked] for the next pass, from the stream of the layer's seed."""
        if self.selector is None:
            raise HardwireError("in a network, the masks of a loop come with its input, behind the state")
        pass_number = int(self.selector.steps) - self.selector.step_counted
        if self.trains and torch.is_grad_enabled():
            self._evaluations, path = 0, f"{pass_number}.{self.selector.micro_batches}"
        else:
            path = f"{pass_number}.evaluation.{self._evaluations}"
            self._evaluations += 1
        drawn = generator(self.seed, f"recurrent.masks.{path}").random((rows, self.steps * self.masked), np.float32)
        return torch.from_numpy(drawn < self.rate)

    def _with_masks(self, x: Input) -> Input:
        """The input with masks behind the state, drawn where it has none."""
        if not self.masked or not isinstance(x, torch.Tensor | Bits) or tuple(x.shape[1:]) != (self.state,):
            return x
        masks = self.draw_masks(x.shape[0]).to(x.device)
        if isinstance(x, Bits):
            return Bits.pack(torch.cat([x.unpack(torch.bool), masks], dim=1))
        return torch.cat([x, masks.to(x.dtype)], dim=1)

    def initial_bits(self) -> tuple[int, ...]:
        """The deployed state before the first step; zeros where it is the input of the loop."""
        if self.initial_logits is not None:
            return tuple(int(logit > 0) for logit in self.initial_logits[:, 0].tolist())
        return (0,) * self.state if isinstance(self.initial, str) else tuple(self.initial)

    def with_steps(self, steps: int) -> "Recurrent":
        """The same loop for sequences of another length; both share their parameters, so training one trains both.

        Args:
            steps: The number of steps.

        Example:
            >>> import hardwire as hw
            >>> loop = hw.Recurrent(hw.LogicLayer(4 + 1, 4 + 2, seed=0), steps=8, state=4, seed=0)
            >>> loop.with_steps(16).cell[0] is loop.cell[0]
            True
        """
        shape = steps, self.state, self.initial, self.outputs, self.held, self.masked, self.rate
        longer = Recurrent(list(self.cell), *shape, seed=self.seed, engine=self.engine)
        longer.initial_logits = self.initial_logits
        longer.own_choice, longer.selector = self.own_choice, self.selector
        return longer.train(self.training)

    def config(self) -> dict[str, Any]:
        cell = [{"kind": layer.kind, "arguments": layer.config()} for layer in self.cell]
        names = ("steps", "state", "initial", "outputs", "held", "seed")
        masked = (
            {"masked": self.masked, "rate": self.rate} if self.masked else {}
        )  # so that older files stay as they are
        return {"cell": cell, **{name: getattr(self, name) for name in names}, **masked}

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        entries = _entries(config)
        sizes = [LAYERS[entry["kind"]].size_of(entry["arguments"]) for entry in entries]
        steps = whole_number("steps", config.get("steps"))
        state = whole_number("state", config.get("state"))
        if steps > MOST_STEPS or steps * len(entries) > MOST_LEVELS:
            raise HardwireError(f"{steps:,} steps of {len(entries)} layers are more than a loop may have")
        # the last layer's neurons are numbers in its state or wires, so its outputs are no more than these
        outputs = max(sizes[-1].state, sizes[-1].derived) * (1 if config.get("outputs") == "last" else steps)
        masked = config.get("masked", 0) and whole_number("masked", config["masked"])
        derived = sum(size.derived for size in sizes) + 4 * state + (6 * state + 2 * masked if masked else 0)
        learned = state if config.get("initial") == "learned" else 0
        check_derived(outputs // 2)  # a neuron has four numbers at least
        return LayerSize(sum(size.state for size in sizes) + learned, derived)

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "Recurrent":
        cell = []
        for number, entry in enumerate(_entries(config)):
            prefix = f"cell.{number}."
            own = {name.removeprefix(prefix): x for name, x in tensors.items() if name.startswith(prefix)}
            cell.append(LAYERS[entry["kind"]].restore(entry["arguments"], own))
        return cls(**(config | {"cell": cell}))

    def extra_repr(self) -> str:
        return f"steps={self.steps}, state={self.state}, initial={self.initial!r:.20}, outputs={self.outputs}"

    def _apply(self, fn: Any, recurse: bool = True) -> "Recurrent":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._wires = [fn(wires) for wires in self._wires]
        return self

    def _shape_of_input(self) -> tuple[int, ...]:
        if self.initial == "input":
            return (self.state + self.steps * self.masked,)
        return (self.bits,) if self.held else (self.steps, self.bits)

    def _input_of(self, step: int) -> Source:
        if self.masked:
            start = self.state + step * self.masked
            return Source(-1, start, start + self.masked)
        start = 0 if self.held else step * self.bits
        return Source(-1, start, start + self.bits)

    def _parted(self, inputs: int) -> tuple[list[Level], list[Source]]:
        """Where a state is that comes first in an input: behind a copy of it if masks follow, as a first level reads
        the whole input."""
        copy = [Level(inputs, self.state, self._wires[4], _COPY)] if self.masked else []
        return copy, [Source(len(copy) - 1, 0, self.state)]

    def _check_masked(self, masked: int) -> int:
        if isinstance(masked, int) and masked == 0:
            return 0
        bits = whole_number("masked", masked)
        if self.initial != "input" or self.held or self._output_start or self.state % bits:
            raise HardwireError(
                f"a mask of {masked} bits is for a loop with initial='input' that makes nothing but its state, of "
                f"which it is a part; this one has {self.state} bits of state and initial={self.initial!r:.20}"
            )
        return bits

    def _mask_wires(self) -> list[torch.Tensor]:
        """The wires of the gates behind a masked cell, and of the level that parts the state from the masks."""
        if not self.masked:
            return []
        places = torch.arange(self.state, dtype=torch.int32)
        pairs = (self.state + places % self.masked, self.state + places, places)
        return [torch.stack([places, other]) for other in pairs]

    def _start(self) -> tuple[list[Level], list[Source]]:
        """The levels that make the initial state, and where it is."""
        if self.initial == "input":
            return self._parted(self.inputs)
        wires, state = self._wires[0], self.state
        if self.initial_logits is not None:  # no input decides which entry of a table is read, so all are the same one
            logits = self.initial_logits.expand(-1, 4)
            return [Level(self.inputs, state, wires, Entries(logits), padded=True)], [Source(0, 0, state)]
        bits = [0] * state if isinstance(self.initial, str) else self.initial
        used = sorted(set(bits))
        levels = []
        for number, bit in enumerate(used):
            reads = None if number == 0 else (Source(-1, 0, self.inputs),)
            levels.append(Level(self.inputs, state, wires, (_ZEROS, _ONES)[bit], padded=True, reads=reads))
        sources: list[Source] = []
        for place, bit in enumerate(bits):
            level = used.index(bit)
            if sources and sources[-1].level == level:
                sources[-1] = Source(level, sources[-1].start, place + 1)
            else:
                sources.append(Source(level, place, place + 1))
        return levels, sources

    def _output_wires(self, parts: int) -> torch.Tensor:
        order = torch.arange(parts * self.output_bits, dtype=torch.int32)
        if self.outputs == "sum":
            order = order.view(parts, self.output_bits).T.flatten()
        return order.expand(2, -1).contiguous()


def _constant_wires(neurons: int) -> torch.Tensor:
    return torch.full((2, neurons), CONST_ZERO, dtype=torch.int32)


def _check_cell(cell: GateLayer | Sequence[GateLayer]) -> list[GateLayer]:
    """Returns the layers of a cell, connected and without a method of their own."""
    layers: list[GateLayer] = [cell] if isinstance(cell, GateLayer) else list(cell)
    if not layers:
        raise HardwireError("a cell has at least one layer; give a list such as [hw.LogicLayer(...)]")
    for layer in layers:
        if not isinstance(layer, GateLayer) or isinstance(layer, Recurrent):
            raise HardwireError(f"{type(layer).__name__} cannot be in a cell; it consists of layers such as LogicLayer")
        if layer.own_choice:
            raise HardwireError("a layer of a cell has no method, tau or cage of its own; give them to the loop")
        layer.selector = None
    if len(set(layers)) < len(layers):
        raise HardwireError("a layer is in the cell twice; make one for each position")
    shape = layers[0].input_shape
    for layer in layers:
        layer.connect(shape)
        shape = layer.output_shape
    return layers


def _check_steps(steps: int, cell: nn.ModuleList) -> int:
    if whole_number("steps", steps) > MOST_STEPS or steps * len(cell) > MOST_LEVELS:
        raise HardwireError(f"{steps:,} steps of {len(cell)} layers are more than a loop may have; use {MOST_STEPS:,}")
    return steps


def _check_rate(rate: float) -> float:
    if not 0 < rate <= 1:
        raise HardwireError(f"rate {rate} is not above 0 and at most 1, the share of bits that change in a step")
    return float(rate)


def _check_initial(initial: str | Sequence[int], state: int) -> str | list[int]:
    if isinstance(initial, str):
        if initial not in INITIAL:
            raise unknown_name("initial", initial, INITIAL)
        return initial
    bits = [int(bit) for bit in initial]
    if len(bits) != state or not set(bits) <= {0, 1}:
        raise HardwireError(f"the initial state is {state} bits, each 0 or 1, not {initial!r:.60}")
    return bits


def _entries(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The layers of a cell in a file, of known kinds; a cell in a cell is none."""
    entries = config.get("cell")
    if not isinstance(entries, list) or not entries:
        raise HardwireError(f"the cell of its config is {entries!r:.60}")
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
            raise HardwireError(f"a layer of the cell of its config is {entry!r:.60}")
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in LAYERS or issubclass(LAYERS[kind], Recurrent):
            raise unknown_name("kind of layer in a cell", str(kind), [name for name in LAYERS if name != "recurrent"])
    return entries
