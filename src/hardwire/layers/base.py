"""`GateLayer`: the base class of all layers, and the code that runs them.

A new kind of layer defines its wiring (`levels`), its output shape, and how it is rebuilt from a file (`config`,
`size_of`); engines, measurements and circuits then support it. `LAYERS` holds the kinds by name, and `register_layer`
adds one.
"""

import copy
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import torch

from hardwire import engine as engines
from hardwire import selection
from hardwire.bits import Bits
from hardwire.engine.functions import Fixed
from hardwire.engine.reference import function_confidence
from hardwire.engine.stack import Confidence, Head, Input, Level, Request, Rule, Source, Stack
from hardwire.errors import HardwireError, check_holds_values, check_new
from hardwire.layers.selector import Pass, Selecting, Selector
from hardwire.layers.size import LayerSize
from hardwire.temperature import Temperature

LAYERS: dict[str, type["GateLayer"]] = {}
_Measured = tuple[torch.Tensor | float, torch.Tensor, int, Callable[[torch.Tensor], torch.Tensor]]  # and a Share
_Kind = TypeVar("_Kind", bound="type[GateLayer]")
_Layer = TypeVar("_Layer", bound="GateLayer")


def register_layer(kind: _Kind) -> _Kind:
    """A class decorator that registers a kind of layer, so that it can be saved and loaded.

    Args:
        kind: A subclass of `GateLayer` with a name `kind`, and the methods `levels`, `config` and `size_of`.

    Returns:
        The class itself.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> from hardwire.layers.base import GateLayer
        >>> from hardwire.layers.size import LayerSize
        >>> @hw.layers.register_layer
        ... class Negate(GateLayer):
        ...     kind, selector, learns = "negate", None, False
        ...
        ...     def __init__(self, inputs):
        ...         super().__init__()
        ...         self.input_shape = self.output_shape = (inputs,)
        ...
        ...     def levels(self):
        ...         wires = torch.arange(self.inputs, dtype=torch.int32).expand(2, -1)
        ...         return [hw.engine.Level(self.inputs, self.neurons, wires, hw.engine.Fixed.of_gate(12))]  # NOT A
        ...
        ...     def config(self):
        ...         return {"inputs": self.inputs}
        ...
        ...     @classmethod
        ...     def size_of(cls, config):
        ...         return LayerSize(state=0, derived=2 * config["inputs"])
        >>> Negate(3)(torch.tensor([[0.0, 1.0, 0.0]]))
        tensor([[1., 0., 1.]])
    """
    check_new("layer", kind.kind, LAYERS)
    if getattr(kind.size_of, "__func__", None) is getattr(GateLayer.size_of, "__func__", None):
        raise HardwireError(
            f"layer {kind.kind} has no class method size_of(config); add one, so that a file cannot ask for all memory"
        )
    LAYERS[kind.kind] = kind
    return kind


class Fused(Selecting):
    """Base class of modules that run levels as one operation.

    Args:
        engine: "auto", or an engine by name: "native" or "reference".
    """

    def __init__(self, engine: str = "auto"):
        super().__init__()
        self.engine = engines.check_engine(engine)
        self._prepared: object = None  # what an engine keeps between passes; it can be rebuilt

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_prepared": None}

    def parts(self) -> list["NetworkPart"]:
        """All levels, each with the selector that makes its choices."""
        raise NotImplementedError(f"{type(self).__name__} must define parts()")

    def head(self) -> Head | None:
        """The class sums after the last level, if there are any."""
        return None

    def stack(self) -> Stack:
        """The module as plain data, which engines run, measurements inspect and circuits are made from."""
        return Stack(tuple(part.level for part in self.parts()), self.head())

    def engine_name(self, x: Input) -> str:
        """The name of the engine that would run the next pass on x."""
        request = Request(self.stack(), Passes(self.parts(), self.mode, self.trains).rules(), x)
        chosen = engines.choose(self.engine, request)
        return next(name for name, engine in engines.ENGINES.items() if engine is chosen)

    def run(self, x: Input) -> torch.Tensor:
        """Maps x [batch, inputs] through all levels and the class sums."""
        parts = self.parts()
        passes = Passes(parts, self.mode, self.trains)
        stack = Stack(tuple(part.level for part in parts), self.head())
        if x.shape[1] != stack.inputs:
            raise HardwireError(
                f"the first level reads {stack.inputs} values, not {x.shape[1]}; correct the layer's levels"
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
    """Base class of layers of gates, which map [batch, inputs] to [batch, neurons], both flat.

    Attributes:
        kind: Its name in files.
        selector: What makes its choices; None where the network does.
        input_shape: The shape of a row of inputs, such as (channels, height, width).
        output_shape: The shape of a row of outputs.
        learns: Whether it has anything to choose.
        own_choice: Whether it was made with its own method, which a network then does not replace.
    """

    kind: ClassVar[str]
    selector: Selector | None
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    learns = True
    own_choice = False

    @property
    def inputs(self) -> int:
        return math.prod(self.input_shape)

    @property
    def neurons(self) -> int:
        return math.prod(self.output_shape)

    def levels(self) -> list[Level]:
        """The layer as plain data."""
        raise NotImplementedError(f"{type(self).__name__} must define levels()")

    def config(self) -> dict[str, Any]:
        """The arguments that make a layer of the same shape, as JSON values."""
        raise NotImplementedError(f"{type(self).__name__} must define config()")

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        """The size of a layer with these arguments, computed without making it; any argument may be wrong."""
        raise NotImplementedError(f"{cls.__name__} must define size_of()")

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "GateLayer":
        """A layer with these arguments for the state in `tensors`; it must not be larger than `size_of` says."""
        return cls(**config)

    def wider(self, times: int) -> "GateLayer":
        """A new layer for which this one is a part: drawn with the same settings, and so many times as wide."""
        raise HardwireError(f"a layer of kind {self.kind} has no wider form, so nothing can be chosen by use there")

    def keep(self, units: Sequence[int] | torch.Tensor) -> "GateLayer":
        """A layer of these units (kernels or neurons) alone, which compute what they compute here."""
        raise HardwireError(f"a layer of kind {self.kind} cannot keep some of its units; rebuild it with fewer")

    def _taking_choice_of(self: _Layer, other: "GateLayer") -> _Layer:
        """Makes choices as `other` does: with its engine, and its method if it was made with one."""
        self.engine, self.own_choice = other.engine, other.own_choice
        if other.own_choice:
            self.selector = copy.deepcopy(other.selector)
        return self

    def connect(self, shape: tuple[int, ...]) -> None:
        """Called by a network with the shape of the layer before; by default any shape of the right size fits."""
        if math.prod(shape) != self.inputs:
            raise HardwireError(
                f"a layer that reads {self.inputs} values cannot follow one that makes {math.prod(shape)}; "
                f"make it with {math.prod(shape)} inputs"
            )

    def parts(self) -> list["NetworkPart"]:
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
class NetworkPart:
    """A level and the selector that makes its choices; None where it has nothing to choose."""

    level: Level
    selector: Selector | None


class Passes:
    """One forward pass of all selectors: a rule for each level, and temperatures that move once."""

    def __init__(self, parts: Sequence[NetworkPart], mode: str, training: bool):
        self.parts, self.mode = parts, mode
        selectors = dict.fromkeys(part.selector for part in parts if part.selector is not None)
        self.passes: dict[Selector, Pass] = {selector: selector.next_pass(mode, training) for selector in selectors}

    def begin(self) -> bool:
        """Counts the pass; returns whether a temperature needs the confidence of its choices."""
        begun = [one.begin() for one in self.passes.values()]
        return any(one.moves and t.uses_confidence for one in begun for t in one.selector.temperatures())

    def rules(self) -> list[Rule]:
        """A rule for each level; each selector numbers its levels from 0."""
        rules: list[Rule] = []
        count = dict.fromkeys(self.passes, 0)
        for part in self.parts:
            if part.level.repeats is not None:
                rules.append(rules[part.level.repeats])
                continue
            if part.selector is None:
                rules.append(fixed_rule(self.mode))
                continue
            rules.append(self.passes[part.selector].rule(count[part.selector], part.level))
            count[part.selector] += 1
        return rules

    def move(self, confidences: Sequence[Confidence]) -> None:
        """Moves each temperature by the mean confidence of all choices made at it, every choice counting the same."""
        by_temperature: dict[Temperature, list[_Measured]] = {}
        for part, confidence in zip(self.parts, confidences, strict=True):
            selector, level = part.selector, part.level
            if selector is None or not self.passes[selector].moves:
                continue
            if confidence.functions is not None and not isinstance(level.function, Fixed):
                temperature = selector.function_temperature(level.function.choices)
                share = confidence.functions, level.function.logits, level.function_choices, function_confidence(level)
                by_temperature.setdefault(temperature, []).append(share)
            if confidence.wires is not None and level.wire_logits is not None and level.candidates is not None:
                share = confidence.wires, level.wire_logits, level.arity * level.row_count, selection.confidence
                by_temperature.setdefault(selector.wire_temperature(level.candidates), []).append(share)
        for temperature, shares in by_temperature.items():
            if temperature.uses_confidence:
                user = next(iter(self.passes))
                temperature.update(user, [(c, n) for c, _, n, _ in shares], [share[1:] for share in shares])
        for one in self.passes.values():
            one.refresh_taus()


def parts_of(layers: Iterable[GateLayer], selector: Selector | None = None) -> list[NetworkPart]:
    """The levels of layers in order, each with the layer's selector, or with this one if it has none."""
    parts: list[NetworkPart] = []
    for layer in layers:
        chosen_by, before = layer.selector or selector, len(parts)
        for level in layer.levels():
            own = level if not before else _moved(level, before)
            parts.append(NetworkPart(own, chosen_by if own.parameters() else None))
    return parts


def _moved(level: Level, by: int) -> Level:
    """A level of a layer with so many levels before it, which what it names by number has to follow."""
    if level.repeats is None and level.reads is None:
        return level
    reads = None if level.reads is None else tuple(Source(s.level + by, s.start, s.stop) for s in level.reads)
    return replace(level, repeats=None if level.repeats is None else level.repeats + by, reads=reads)


@functools.cache
def fixed_rule(mode: str) -> Rule:
    """The rule of a level that has nothing to choose."""
    return Pass(Selector(), mode, step=False).fixed_rule()


_ROWS = (torch.Tensor, Bits)  # torch.compile of torch 2.6 cannot follow `torch.Tensor | Bits`


def check_input(x: object, inputs: int) -> None:
    """Raises unless x is Bits or a float tensor in [0, 1] of shape [batch, inputs]."""
    if not isinstance(x, _ROWS) or (isinstance(x, torch.Tensor) and x.is_complex()):
        raise HardwireError(f"input is a float tensor [batch, {inputs}] or hardwire.Bits, not {type(x).__name__}")
    if len(x.shape) != 2 or x.shape[1] != inputs:
        raise HardwireError(f"input has shape {list(x.shape)}; this layer reads [batch, {inputs}]")
    if x.shape[0] == 0:
        raise HardwireError("the batch is empty; give at least one row")
    if torch.compiler.is_compiling():
        return
    check_holds_values("the input rows", x.words if isinstance(x, Bits) else x)
    if isinstance(x, Bits) or x.dtype == torch.bool:
        return
    low, high = torch.aminmax(x.detach())
    # a mixture of gates may leave [0, 1] by a rounding error, which the next layer of an nn.Sequential must accept
    slack = 16 * torch.finfo(x.dtype).eps if x.is_floating_point() else 0
    if not (low >= -slack and high <= 1 + slack):  # also true for NaN
        raise HardwireError(
            f"input values must lie in [0, 1], not {low.item():g} to {high.item():g}; turn them into bits by "
            "thresholds (see hw.Encoder.fit), or divide bytes by 255"
        )
