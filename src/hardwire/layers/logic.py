"""`LogicLayer`: a layer of gates that learns which gate each neuron is and, with learned wiring, what it reads."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from hardwire.engine.stack import Level
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.gates import GATES
from hardwire.layers.base import GateLayer, register_layer
from hardwire.layers.selector import Selector, check_seed
from hardwire.selection import Method
from hardwire.temperature import Temperature
from hardwire.wiring import make_wiring

PASS_THROUGH = next(gate.index for gate in GATES if gate.name == "A")
RESIDUAL_BONUS = 5.0
RESIDUAL_SPREAD = 0.3  # of the N(0, 1) that the other logits start from


@register_layer
class LogicLayer(GateLayer):
    """A layer of `neurons` two-input gates over `inputs` features: [batch, inputs] -> [batch, neurons].

    method: soft-mix, soft-gumbel, hard-st (the default) or gumbel-st; "+cage" behind the hard two, or cage=True, for
    CAGE on this layer's own confidence (a `LogicNetwork` uses that of all its layers). tau: a number or a temperature
    object. wiring: random, structured, or learned from `candidates` for each wire. start: of the logits, "normal" (the
    paper's N(0, 1)) or "residual", a bonus on the gate that passes its first input through. groups: neurons are sorted
    by their first input within so many equal groups; the number of classes for a last layer. reads: the inputs that are
    wired, all if not given. wires: int32 [2, neurons] or [2, neurons, K], your own instead of a wiring by name. Without
    a seed, torch's generator gives one.
    """

    kind = "logic"
    wiring: torch.Tensor

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
        reads: Sequence[int] | None = None,
        wires: torch.Tensor | None = None,
        **options: Any,
    ):
        super().__init__(engine)
        self.input_shape, self.output_shape = (whole_number("inputs", inputs),), (whole_number("neurons", neurons),)
        self.seed, self.groups = check_seed(seed), groups
        self.wiring_name, self.start, self.bonus = wiring, start, float(bonus)
        self.options = options if candidates is None else {"candidates": candidates, **options}
        self.reads = None if reads is None else check_reads(reads, self.inputs)
        if wires is None:
            count = self.inputs if self.reads is None else len(self.reads)
            wires = make_wiring(wiring, count, self.neurons, self.seed, groups, self.options)
            wires = wires if self.reads is None else self.reads[wires.long()]
        self.register_buffer("wiring", check_wires(wires, self.inputs, self.neurons))
        self.logits = nn.Parameter(start_logits(self.neurons, self.seed, start, self.bonus))
        self.wire_logits: nn.Parameter | None = None
        if self.wiring.ndim == 3:
            generator = torch.Generator().manual_seed(self.seed + 1)
            shape = (2, self.neurons, self.wiring.shape[2])
            self.wire_logits = nn.Parameter(torch.randn(shape, generator=generator))
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
        return [Level(self.inputs, self.neurons, self.wiring, self.logits, self.wire_logits)]

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"inputs": self.inputs, "neurons": self.neurons, "seed": self.seed}
        config |= {"wiring": self.wiring_name, **self.options, "start": self.start, "groups": self.groups}
        return config | ({"bonus": self.bonus} if self.start == "residual" else {})

    @classmethod
    def restore(cls, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> "LogicLayer":
        logits, wires = tensors.get("logits"), tensors.get("wiring")
        if logits is None or wires is None:
            raise HardwireError("a logic layer needs the tensors logits and wiring")
        if logits.shape != (config.get("neurons"), len(GATES)):
            raise HardwireError(f"logits {list(logits.shape)} do not fit {config.get('neurons')} neurons")
        return cls(**config, wires=wires)


def check_reads(reads: Sequence[int], inputs: int) -> torch.Tensor:
    """int32: the inputs that a layer wires."""
    known = torch.as_tensor(reads)
    if known.ndim != 1 or not len(known) or known.is_floating_point() or known.min() < 0 or known.max() >= inputs:
        raise HardwireError(f"reads are some of the inputs 0 to {inputs - 1}, at least one, not {reads!r:.60}")
    return known.to(torch.int32)


def check_wires(wires: torch.Tensor, inputs: int, neurons: int) -> torch.Tensor:
    """The wires themselves, int32 [2, neurons] or [2, neurons, K], each an input that there is."""
    if wires.dtype != torch.int32 or wires.shape[:2] != (2, neurons) or wires.ndim not in (2, 3):
        raise HardwireError(
            f"wires are int32 [2, {neurons}] or [2, {neurons}, candidates], not {wires.dtype} {list(wires.shape)}"
        )
    if wires.ndim == 3 and not 2 <= wires.shape[2] <= inputs:
        raise HardwireError(f"{wires.shape[2]} candidates for each wire of {inputs} inputs; use 2 to {inputs}")
    if wires.min() < 0 or wires.max() >= inputs:
        raise HardwireError(f"wires must lie in 0 to {inputs - 1}")
    return wires


def start_logits(rows: int, seed: int, start: str, bonus: float = RESIDUAL_BONUS) -> torch.Tensor:
    """[rows, 16]: the logits before the first step."""
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    logits = torch.randn(rows, len(GATES), generator=torch.Generator().manual_seed(seed))
    if start == "residual":
        if not torch.isfinite(torch.tensor(bonus)):
            raise HardwireError(f"bonus {bonus} is not a finite number; 2 to 5 are usual")
        logits *= RESIDUAL_SPREAD
        logits[:, PASS_THROUGH] += bonus
    return logits


STARTS = ("normal", "residual")
