"""`WiredLayer`: the base class of flat layers, whose neurons have fixed wires or learn them.

A kind of layer says how many inputs a neuron has and what it computes; wires, candidates, the selector and the file
entry are the same for all.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import nn

from hardwire.engine.functions import Function
from hardwire.engine.stack import Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.layers.base import GateLayer
from hardwire.layers.selector import Selector
from hardwire.layers.size import MOST_INPUTS, LayerSize
from hardwire.randomness import check_seed, normal
from hardwire.selection import Method
from hardwire.temperature import Temperature
from hardwire.wiring import check_wiring, make_wiring

STARTS = ("normal", "residual")
RESIDUAL_SPREAD = 0.3  # the standard deviation of the logits before the bonus

_Layer = TypeVar("_Layer", bound="WiredLayer")


class WiredLayer(GateLayer):
    """A flat layer of neurons: [batch, inputs] -> [batch, neurons]. The arguments are those of its subclasses.

    Attributes:
        arity: The inputs of each neuron.
        wiring: int32 [arity, neurons], or candidates [arity, neurons, K].
        logits: [neurons, logits of a neuron].
        wire_logits: [arity, neurons, K], for candidates.
    """

    columns: ClassVar[str]  # the argument that names the number of neurons
    arity: int
    wiring: torch.Tensor
    input_subset: torch.Tensor | None
    wire_logits: nn.Parameter | None

    def __init__(
        self,
        inputs: int,
        neurons: int,
        arity: int,
        method: str | Method | None,
        tau: float | Temperature | None,
        cage: bool | None,
        seed: int | None,
        engine: str,
        *,
        wiring: str,
        candidates: int | None,
        start: str,
        bonus: float,
        groups: int,
        noise: str | None,
        input_subset: Sequence[int] | torch.Tensor | None,
        wires: torch.Tensor | None,
        options: dict[str, Any],
    ):
        super().__init__(engine)
        self.arity = arity
        self.input_shape = (whole_number("inputs", inputs),)
        self.output_shape = (whole_number(self.columns, neurons),)
        self.seed, self.groups = check_seed(seed), whole_number("groups", groups)
        self.wiring_name, self.start, self.bonus = wiring, start, float(bonus)
        self.options = options if candidates is None else {"candidates": candidates, **options}
        check_wiring(wiring, self.options, arity)
        subset = None if input_subset is None else check_subset(input_subset, self.inputs)
        self.register_buffer("input_subset", subset)
        count = self.inputs if subset is None else len(subset)
        self.check_readable(count)
        if wires is None:
            wires = make_wiring(wiring, count, self.neurons, self.seed, groups, self.options, arity)
            wires = wires if subset is None else subset[wires.long()]
        self.register_buffer("wiring", check_wires(wires, self.inputs, self.neurons, arity))
        self.logits = nn.Parameter(self._start())
        self.wire_logits = None
        if self.wiring.ndim == 3:
            shape = (arity, self.neurons, self.wiring.shape[2])
            self.wire_logits = nn.Parameter(normal(self.seed, f"{self.kind}.wire_logits", *shape))
        self.own_choice = any(argument is not None for argument in (method, tau, cage, noise))
        self.selector = Selector(
            "hard-st" if method is None else method,
            1.0 if tau is None else tau,
            bool(cage),
            self.seed,
            choices=self.function_choices(),
            noise="pass" if noise is None else noise,
        )
        self.selector.prepare_for(self.levels())

    def function(self) -> Function:
        """What the neurons compute."""
        raise NotImplementedError

    def check_readable(self, inputs: int) -> None:
        """Raises if this many inputs are too few."""

    @classmethod
    def function_choices(cls) -> int:
        """Among how many each choice of a function is made."""
        raise NotImplementedError

    @classmethod
    def logit_count(cls, arity: int) -> int:
        """The logits of a neuron, without those of its wires."""
        raise NotImplementedError

    @classmethod
    def arity_of(cls, config: dict[str, Any]) -> int:
        """The inputs of each neuron of a layer with these arguments."""
        raise NotImplementedError

    def start_pattern(self) -> torch.Tensor:
        """Where the bonus of a residual start goes, [logits of a neuron]: the function of the first input alone."""
        raise NotImplementedError

    def levels(self) -> list[Level]:
        return [Level(self.inputs, self.neurons, self.wiring, self.function(), self.wire_logits)]

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"inputs": self.inputs, self.columns: self.neurons, "seed": self.seed}
        config |= {"wiring": self.wiring_name, **self.options, "start": self.start, "groups": self.groups}
        if self.wire_logits is not None:
            config["candidates"] = self.wire_logits.shape[2]
        return config | ({"bonus": self.bonus} if self.start == "residual" else {})

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        neurons, inputs = (whole_number(name, config.get(name)) for name in (cls.columns, "inputs"))
        if inputs > MOST_INPUTS:
            raise HardwireError(f"{inputs:,} inputs of a layer are more than {MOST_INPUTS:,}")
        arity, candidates = cls.arity_of(config), config.get("candidates")
        # candidates and their logits, or one wire
        each = 1 if candidates is None else 2 * whole_number("candidates", candidates)
        return LayerSize(neurons * (cls.logit_count(arity) + arity * each))

    @classmethod
    def restore(cls: type[_Layer], config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> _Layer:
        logits, wires = tensors.get("logits"), tensors.get("wiring")
        if logits is None or wires is None:
            raise HardwireError(f"a {cls.kind} layer needs the tensors logits and wiring")
        neurons, count = config.get(cls.columns), cls.logit_count(cls.arity_of(config))
        if logits.shape != (neurons, count):
            raise HardwireError(f"logits {list(logits.shape)} do not fit {neurons} neurons of {count} logits each")
        return cls(**config, wires=wires, input_subset=tensors.get("input_subset"))

    def wider(self: _Layer, times: int) -> _Layer:
        config = self.config() | {self.columns: self.neurons * whole_number("times", times)}
        return type(self)(**config, input_subset=self.input_subset)._taking_choice_of(self)

    def keep(self: _Layer, units: Sequence[int] | torch.Tensor) -> _Layer:
        """A layer of some of the neurons, with their wires and logits, in this order.

        Args:
            units: The numbers of the neurons, each once.

        Returns:
            The new layer. It shares no tensors with this one, and stays frozen where this one is.

        Example:
            >>> import hardwire as hw
            >>> layer = hw.LogicLayer(8, 6, seed=0)
            >>> layer.keep([1, 4]).neurons
            2
        """
        kept = check_subset(units, self.neurons, "keep", "neurons").long().to(self.wiring.device)
        config = self.config() | {self.columns: len(kept), "groups": 1}
        wires = self.wiring[:, kept].contiguous()
        layer = type(self)(**config, wires=wires, input_subset=self.input_subset)._taking_choice_of(self)
        layer.logits = part_of(self.logits, self.logits[kept])
        if self.wire_logits is not None:
            layer.wire_logits = part_of(self.wire_logits, self.wire_logits[:, kept])
        return layer

    def _start(self) -> torch.Tensor:
        return start_logits(
            self.start_pattern(), self.neurons, self.seed, f"{self.kind}.logits", self.start, self.bonus
        )


def start_logits(pattern: torch.Tensor, rows: int, seed: int, path: str, start: str, bonus: float) -> torch.Tensor:
    """Initial logits [rows, *pattern.shape], drawn from the stream of this seed and path.

    pattern: where a residual start adds the bonus, and with which sign.
    """
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    logits = normal(seed, path, rows, len(pattern))
    if start == "residual":
        if not torch.isfinite(torch.tensor(bonus)):
            raise HardwireError(f"bonus {bonus} is not a finite number; 2 to 5 are usual")
        logits *= RESIDUAL_SPREAD
        logits += bonus * pattern
    return logits


def part_of(whole: nn.Parameter, part: torch.Tensor) -> nn.Parameter:
    """A copy of a part of a parameter, as a parameter that learns if the whole does."""
    return nn.Parameter(part.detach().clone(), requires_grad=whole.requires_grad)


def check_subset(
    subset: Sequence[int] | torch.Tensor, count: int, name: str = "input_subset", things: str = "inputs"
) -> torch.Tensor:
    """Returns some of the numbers below `count` as int32; raises unless each exists and is named once."""
    numbers = torch.as_tensor(subset)
    whole = not (numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool)
    if not (whole and numbers.ndim == 1 and len(numbers) and numbers.min() >= 0 and numbers.max() < count):
        raise HardwireError(f"{name} holds some of the {things} 0 to {count - 1}, at least one, not {subset!r:.60}")
    if len(numbers.unique()) < len(numbers):
        raise HardwireError(f"{name} names one of the {things} twice; name each once")
    return numbers.to(torch.int32)


def check_wires(wires: torch.Tensor, inputs: int, neurons: int, arity: int) -> torch.Tensor:
    """Returns the wires, int32 [arity, neurons] or [arity, neurons, K]; raises unless each is an existing input."""
    if wires.dtype != torch.int32 or wires.shape[:2] != (arity, neurons) or wires.ndim not in (2, 3):
        raise HardwireError(
            f"wires are int32 [{arity}, {neurons}] or [{arity}, {neurons}, candidates], not {wires.dtype} "
            f"{list(wires.shape)}"
        )
    if wires.ndim == 3 and not 2 <= wires.shape[2] <= inputs:
        raise HardwireError(f"{wires.shape[2]} candidates for each wire of {inputs} inputs; use 2 to {inputs}")
    if wires.min() < 0 or wires.max() >= inputs:
        raise HardwireError(f"wires must lie in 0 to {inputs - 1}")
    return wires
