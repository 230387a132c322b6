"""`GateLayer`: the base of all layers, which are nothing but ways to write levels; and the one way to run them.

A new kind of layer says how it is wired (`levels`), what shape comes out, and how it is made again from a file
(`config`); engines, measurements and circuits then know it already. `LAYERS` holds the kinds by name, and
`register_layer` adds one.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import torch

from hardwire import engine as engines
from hardwire.bits import Bits
from hardwire.engine.stack import Confidence, Head, Input, Level, Request, Rule, Stack
from hardwire.errors import HardwireError, check_new
from hardwire.layers.selector import Pass, Selecting, Selector
from hardwire.temperature import Temperature

LAYERS: dict[str, type["GateLayer"]] = {}
_Kind = TypeVar("_Kind", bound="type[GateLayer]")


def register_layer(kind: _Kind) -> _Kind:
    """A class decorator: the layer can be saved and loaded under its `kind`."""
    check_new("layer", kind.kind, LAYERS)
    LAYERS[kind.kind] = kind
    return kind


class Fused(Selecting):
    """Base of modules that run levels as one operation. engine: auto, or an engine by name."""

    def __init__(self, engine: str = "auto"):
        super().__init__()
        self.engine = engines.check_engine(engine)
        self._prepared: object = None  # what an engine keeps between passes; rebuilt where it is missing

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_prepared": None}

    def parts(self) -> list["Part"]:
        """All levels, each with the selector that chooses for it."""
        raise NotImplementedError(f"{type(self).__name__} must say its parts")

    def head(self) -> Head | None:
        """The class sums behind the last level, if there are any."""
        return None

    def stack(self) -> Stack:
        """The module as plain data: what engines run, measurements look into and circuits are lowered from."""
        return Stack(tuple(part.level for part in self.parts()), self.head())

    def engine_name(self, x: Input) -> str:
        """Which engine takes the next pass on such an x."""
        request = Request(self.stack(), Passes(self.parts(), self.mode, self.trains).rules(), x)
        chosen = engines.choose(self.engine, request)
        return next(name for name, engine in engines.ENGINES.items() if engine is chosen)

    def run(self, x: Input) -> torch.Tensor:
        """x [batch, inputs] through all levels and the class sums."""
        parts = self.parts()
        passes = Passes(parts, self.mode, self.trains)
        stack = Stack(tuple(part.level for part in parts), self.head())
        if x.shape[1] != stack.inputs:
            raise HardwireError(
                f"the first level reads {stack.inputs} values, not {x.shape[1]}; mend the layer's levels"
            )
        request = Request(stack, passes.rules(), x)
        engine = engines.choose(self.engine, request)
        self._prepared = engine.prepare(stack, self._prepared)
        adaptive = passes.begin()
        choice, confidences = engine.select(request, self._prepared, adaptive)
        if adaptive:
            passes.move(confidences)
        return engine.run(request, self._prepared, choice)


class GateLayer(Fused):
    """Base of layers of gates: [batch, inputs] -> [batch, neurons], both flat.

    kind: its name in files. selector: None in a network whose own serves all its layers. input_shape, output_shape:
    what a row means, such as (channels, height, width).
    """

    kind: ClassVar[str]
    selector: Selector | None
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    learns = True  # whether it has anything to choose
    own_choice = False  # whether the layer was made with a method of its own, which a network then leaves to it

    @property
    def inputs(self) -> int:
        return math.prod(self.input_shape)

    @property
    def neurons(self) -> int:
        return math.prod(self.output_shape)

    def levels(self) -> list[Level]:
        """The layer as plain data."""
        raise NotImplementedError(f"{type(self).__name__} must say its levels")

    def config(self) -> dict[str, Any]:
        """The arguments that make a layer of the same form, as plain JSON values."""
        raise NotImplementedError(f"{type(self).__name__} must say its config")

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "GateLayer":
        """A layer of this form for the state in `tensors`; it must not take more memory than they do."""
        return cls(**config)

    def connect(self, shape: tuple[int, ...]) -> None:
        """Called by a network with the shape of what comes in; the default takes any of the right size."""
        if math.prod(shape) != self.inputs:
            raise HardwireError(
                f"a layer that reads {self.inputs} values cannot follow one that makes {math.prod(shape)}; "
                f"make it with {math.prod(shape)} inputs"
            )

    def parts(self) -> list["Part"]:
        return parts_of([self])

    def forward(self, x: Input) -> torch.Tensor:
        parts = self.parts()
        check_input(x, self.inputs)
        if any(part.selector is None and part.level.parameters() for part in parts):
            raise HardwireError("this layer belongs to a network, whose selector it uses; call the network")
        return self.run(x)

    def extra_repr(self) -> str:
        return f"{self.inputs} -> {self.neurons}"


@dataclass(frozen=True, eq=False)
class Part:
    """A level and who chooses for it; None where nothing is to be chosen."""

    level: Level
    selector: Selector | None


class Passes:
    """The passes of all selectors over a sequence of parts: one rule a level, and temperatures that move once."""

    def __init__(self, parts: Sequence[Part], mode: str, training: bool):
        self.parts, self.mode = parts, mode
        selectors = dict.fromkeys(part.selector for part in parts if part.selector is not None)
        self.passes: dict[Selector, Pass] = {selector: selector.next_pass(mode, training) for selector in selectors}

    def begin(self) -> bool:
        """Counts the passes; whether a temperature waits for a confidence."""
        begun = [one.begin() for one in self.passes.values()]
        return any(one.moves and t.uses_confidence for one in begun for t in one.selector.temperatures())

    def rules(self) -> list[Rule]:
        """One for each level; a selector numbers the levels that choose by it from 0."""
        rules, count = [], dict.fromkeys(self.passes, 0)
        for part in self.parts:
            if part.selector is None:
                rules.append(fixed_rule(self.mode))
                continue
            rules.append(self.passes[part.selector].rule(count[part.selector], part.level.candidates))
            count[part.selector] += 1
        return rules

    def move(self, confidences: Sequence[Confidence]) -> None:
        """Moves each temperature by the mean confidence of all choices made at it, every choice counting the same."""
        found: dict[Temperature, list[tuple[torch.Tensor | float, torch.Tensor, int]]] = {}
        for part, confidence in zip(self.parts, confidences, strict=True):
            selector, level = part.selector, part.level
            if selector is None or not self.passes[selector].moves:
                continue
            if confidence.gates is not None and level.gate_logits is not None:
                share = confidence.gates, level.gate_logits, level.row_count
                found.setdefault(selector.temperature, []).append(share)
            if confidence.wires is not None and level.wire_logits is not None and level.candidates is not None:
                share = confidence.wires, level.wire_logits, 2 * level.row_count
                found.setdefault(selector.wire_temperature(level.candidates), []).append(share)
        for temperature, shares in found.items():
            if temperature.uses_confidence:
                user = next(iter(self.passes))
                temperature.hear(user, [(c, n) for c, _, n in shares], [(z, n) for _, z, n in shares])
        for one in self.passes.values():
            one.read_again()


def parts_of(layers: Iterable[GateLayer], selector: Selector | None = None) -> list[Part]:
    """The levels of layers in order, each with its layer's selector or, where it has none, this one."""
    parts = []
    for layer in layers:
        chooser = layer.selector or selector
        parts += [Part(level, chooser if level.parameters() else None) for level in layer.levels()]
    return parts


@functools.cache
def fixed_rule(mode: str) -> Rule:
    """The rule of a level that has nothing to choose."""
    return Pass(Selector(), mode, step=False).rule(0)


def check_input(x: object, inputs: int) -> None:
    """Raises unless x is Bits or a float tensor in [0, 1], two-dimensional, with `inputs` features."""
    if not isinstance(x, torch.Tensor | Bits) or (isinstance(x, torch.Tensor) and x.is_complex()):
        raise HardwireError(f"input is a float tensor [batch, {inputs}] or hardwire.Bits, not {type(x).__name__}")
    if len(x.shape) != 2 or x.shape[1] != inputs:
        raise HardwireError(f"input has shape {list(x.shape)}; this layer reads [batch, {inputs}]")
    if x.shape[0] == 0:
        raise HardwireError("the batch is empty; give at least one row")
    if isinstance(x, Bits) or x.dtype == torch.bool or torch.compiler.is_compiling():
        return
    low, high = torch.aminmax(x.detach())
    # a mixture of gates may leave [0, 1] by a rounding error, and the next layer of an nn.Sequential must take it
    slack = 16 * torch.finfo(x.dtype).eps if x.is_floating_point() else 0
    if not (low >= -slack and high <= 1 + slack):  # also true for NaN
        raise HardwireError(
            f"input values must lie in [0, 1]; found {low.item():g} to {high.item():g}; make bits of them at "
            "thresholds (hw.Encoder.fit finds some); bytes may be x / 255"
        )
