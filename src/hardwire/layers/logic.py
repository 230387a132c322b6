"""`LogicLayer`: a layer of gates that learns the gate of each neuron and, with learned wiring, its inputs."""

from collections.abc import Sequence
from typing import Any

import torch

from hardwire.engine.functions import Choose, Function
from hardwire.gates import GATE_ARITY, GATES
from hardwire.layers.base import register_layer
from hardwire.layers.wired import WiredLayer
from hardwire.selection import Method
from hardwire.temperature import Temperature

RESIDUAL_BONUS = 5.0


@register_layer
class LogicLayer(WiredLayer):
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
    columns = "neurons"

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
        super().__init__(
            inputs, neurons, GATE_ARITY, method, tau, cage, seed, engine, wiring=wiring, candidates=candidates,
            start=start, bonus=bonus, groups=groups, noise=noise, input_subset=input_subset, wires=wires,
            options=options,
        )  # fmt: skip

    def function(self) -> Function:
        return Choose(self.logits)

    @classmethod
    def function_choices(cls) -> int:
        return len(GATES)

    @classmethod
    def logit_count(cls, arity: int) -> int:
        return len(GATES)

    @classmethod
    def arity_of(cls, config: dict[str, Any]) -> int:
        return GATE_ARITY

    def start_pattern(self) -> torch.Tensor:
        return gate_pattern()


def gate_pattern() -> torch.Tensor:
    """[16]: 1 at the gate that passes its first input through."""
    return torch.tensor([float(gate.name == "A") for gate in GATES])
