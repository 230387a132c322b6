"""`LogicLayer`: a layer of gates that learns the gate of each neuron and, with learned wiring, its inputs."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from hardwire.engine.functions import Choose
from hardwire.engine.stack import Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.selector import Selector
from hardwire.layers.size import MOST_INPUTS, LayerSize
from hardwire.randomness import check_seed, normal
from hardwire.selection import Method
from hardwire.temperature import Temperature
from hardwire.wiring import check_wiring, make_wiring

PASS_THROUGH = next(gate.index for gate in GATES if gate.name == "A")
RESIDUAL_BONUS = 5.0
RESIDUAL_SPREAD = 0.3  # the standard deviation of the logits before the bonus


@register_layer
class LogicLayer(GateLayer):
    """A layer of two-input gates: [batch, inputs] -> [batch, neurons].

    A layer made without method, tau, cage and noise uses those of the network that it is put into.

    Args:
        inputs: The number of inputs.
        neurons: The number of gates.
        method: "soft-mix", "soft-gumbel", "hard-st" (the default) or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number (1 by default) or a temperature object.
        cage: The same as "+cage": CAGE by the confidence of this layer. In a network, CAGE uses that of all layers.
        seed: The seed of wires, initial logits and noise. By default torch's generator gives one. Two layers of the
            same shape with the same seed are equal.
        engine: "auto", "native" or "reference".
        wiring: "random", "structured", "learned", or a registered name.
        candidates: For learned wiring: the number of candidates for each wire.
        start: The initial logits: "normal" for the paper's N(0, 1), or "residual" for a bonus on the gate that passes
            its first input through.
        bonus: The size of this bonus.
        groups: Neurons are sorted by first input within this many equal groups; in a last layer the number of classes.
        noise: For the noisy methods: one draw for each "pass" (the default) or one for each "sample".
        input_subset: The inputs that may be wired; by default all.
        wires: Your own wires, int32 [2, neurons] or candidates [2, neurons, K], in place of a wiring by name.
        **options: Further arguments of the wiring.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = torch.nn.Sequential(
        ...     hw.LogicLayer(784, 2000, method="hard-st+cage", seed=0),
        ...     hw.LogicLayer(2000, 1000, method="hard-st+cage", seed=1),
        ...     hw.GroupSum(10),
        ... )
        >>> model(torch.rand(32, 784).round()).shape
        torch.Size([32, 10])
    """

    kind = "logic"
    wiring: torch.Tensor
    input_subset: torch.Tensor | None

    def __init__(
        self,
        inputs: int,
        neurons: int,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
        *,
        wiring: str = "random",
        candidates: int | None = None,
        start: str = "normal",
        bonus: float = RESIDUAL_BONUS,
        groups: int = 1,
        noise: str | None = None,
        input_subset: Sequence[int] | torch.Tensor | None = None,
        wires: torch.Tensor | None = None,
        **options: Any,
    ):
        super().__init__(engine)
        self.input_shape, self.output_shape = (whole_number("inputs", inputs),), (whole_number("neurons", neurons),)
        self.seed, self.groups = check_seed(seed), whole_number("groups", groups)
        self.wiring_name, self.start, self.bonus = wiring, start, float(bonus)
        self.options = options if candidates is None else {"candidates": candidates, **options}
        check_wiring(wiring, self.options)
        subset = None if input_subset is None else check_input_subset(input_subset, self.inputs)
        self.register_buffer("input_subset", subset)
        if wires is None:
            count = self.inputs if subset is None else len(subset)
            wires = make_wiring(wiring, count, self.neurons, self.seed, groups, self.options)
            wires = wires if subset is None else subset[wires.long()]
        self.register_buffer("wiring", check_wires(wires, self.inputs, self.neurons))
        self.logits = nn.Parameter(start_logits(self.neurons, self.seed, "logic.logits", start, self.bonus))
        self.wire_logits: nn.Parameter | None = None
        if self.wiring.ndim == 3:
            shape = (2, self.neurons, self.wiring.shape[2])
            self.wire_logits = nn.Parameter(normal(self.seed, "logic.wire_logits", *shape))
        self.own_choice = any(argument is not None for argument in (method, tau, cage, noise))
        self.selector = Selector(
            "hard-st" if method is None else method,
            1.0 if tau is None else tau,
            bool(cage),
            self.seed,
            noise="pass" if noise is None else noise,
        )
        if self.wire_logits is not None:
            self.selector.add_wires(self.wire_logits.shape[2])

    def levels(self) -> list[Level]:
        return [Level(self.inputs, self.neurons, self.wiring, Choose(self.logits), self.wire_logits)]

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"inputs": self.inputs, "neurons": self.neurons, "seed": self.seed}
        config |= {"wiring": self.wiring_name, **self.options, "start": self.start, "groups": self.groups}
        if self.wire_logits is not None:
            config["candidates"] = self.wire_logits.shape[2]
        return config | ({"bonus": self.bonus} if self.start == "residual" else {})

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        neurons, inputs = (whole_number(name, config.get(name)) for name in ("neurons", "inputs"))
        if inputs > MOST_INPUTS:
            raise HardwireError(f"{inputs:,} inputs of a layer are more than {MOST_INPUTS:,}")
        candidates = config.get("candidates")
        wires = 2 * neurons * (1 if candidates is None else 2 * whole_number("candidates", candidates))  # and logits
        return LayerSize(neurons * len(GATES) + wires)

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "LogicLayer":
        logits, wires = tensors.get("logits"), tensors.get("wiring")
        if logits is None or wires is None:
            raise HardwireError("a logic layer needs the tensors logits and wiring")
        if logits.shape != (config.get("neurons"), len(GATES)):
            raise HardwireError(f"logits {list(logits.shape)} do not fit {config.get('neurons')} neurons")
        return cls(**config, wires=wires, input_subset=tensors.get("input_subset"))


def check_input_subset(input_subset: Sequence[int] | torch.Tensor, inputs: int) -> torch.Tensor:
    """Returns the inputs that a layer may wire, as int32; raises unless each exists and is named once."""
    subset = torch.as_tensor(input_subset)
    whole = not (subset.is_floating_point() or subset.is_complex() or subset.dtype == torch.bool)
    if not (whole and subset.ndim == 1 and len(subset) and subset.min() >= 0 and subset.max() < inputs):
        raise HardwireError(
            f"input_subset holds some of the inputs 0 to {inputs - 1}, at least one, not {input_subset!r:.60}"
        )
    if len(subset.unique()) < len(subset):
        raise HardwireError("input_subset names an input twice; name each once")
    return subset.to(torch.int32)


def check_wires(wires: torch.Tensor, inputs: int, neurons: int) -> torch.Tensor:
    """Returns the wires, int32 [2, neurons] or [2, neurons, K]; raises unless each is an existing input."""
    if wires.dtype != torch.int32 or wires.shape[:2] != (2, neurons) or wires.ndim not in (2, 3):
        raise HardwireError(
            f"wires are int32 [2, {neurons}] or [2, {neurons}, candidates], not {wires.dtype} {list(wires.shape)}"
        )
    if wires.ndim == 3 and not 2 <= wires.shape[2] <= inputs:
        raise HardwireError(f"{wires.shape[2]} candidates for each wire of {inputs} inputs; use 2 to {inputs}")
    if wires.min() < 0 or wires.max() >= inputs:
        raise HardwireError(f"wires must lie in 0 to {inputs - 1}")
    return wires


def start_logits(rows: int, seed: int, path: str, start: str, bonus: float = RESIDUAL_BONUS) -> torch.Tensor:
    """Initial logits [rows, 16], drawn from the stream of this seed and path."""
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    logits = normal(seed, path, rows, len(GATES))
    if start == "residual":
        if not torch.isfinite(torch.tensor(bonus)):
            raise HardwireError(f"bonus {bonus} is not a finite number; 2 to 5 are usual")
        logits *= RESIDUAL_SPREAD
        logits[:, PASS_THROUGH] += bonus
    return logits


STARTS = ("normal", "residual")
