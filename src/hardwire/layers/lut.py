"""`LutLayer`: a layer of look-up tables, which learns every entry of each table and, with learned wiring, its inputs.

A table of n inputs is any of the 2**(2**n) functions of them: each of its 2**n entries is a choice between 0 and 1 by
the methods that choose gates, with one logit for each entry.
"""

from collections.abc import Sequence
from typing import Any

import torch

from hardwire.engine.functions import Entries, Function, check_arity
from hardwire.errors import HardwireError
from hardwire.gates import LEAST_ARITY, MOST_ARITY
from hardwire.layers.base import register_layer
from hardwire.layers.wired import WiredLayer
from hardwire.selection import Method
from hardwire.temperature import Temperature

TABLE_BONUS = 2.0  # of a residual start: an entry is then open by 1 - sigmoid(2), 12%


@register_layer
class LutLayer(WiredLayer):
    """A layer of look-up tables: [batch, inputs] -> [batch, tables].

    A layer made without method, tau and cage uses those of the network that it is put into.

    Args:
        inputs: The number of inputs.
        tables: The number of tables.
        arity: The inputs of each table, 2 to 6.
        method: "soft-mix", "soft-gumbel", "hard-st" (the default) or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number (1 by default) or a temperature object.
        cage: The same as "+cage": CAGE by the confidence of this layer. In a network, CAGE uses that of all layers.
        seed: The seed of wires, initial logits and noise. By default torch's generator gives one. Two layers of the
            same shape with the same seed are equal.
        engine: "auto", "native" or "reference".
        wiring: "random", "structured", "learned", or a registered name.
        candidates: For learned wiring: the number of candidates for each wire.
        start: The initial logits: "normal" for N(0, 1), or "residual" for tables that pass their first input through:
            a bonus on entries where it is 1, and the same below zero where it is 0.
        bonus: The size of this bonus.
        groups: Tables are sorted by first input within this many equal groups; in a last layer the number of classes.
        input_subset: The inputs that may be wired; by default all.
        wires: Your own wires, int32 [arity, tables] or candidates [arity, tables, K], in place of a wiring by name.
        **options: Further arguments of the wiring.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> layers = [hw.LutLayer(784, 1000, arity=6, wiring="learned", candidates=16), hw.LutLayer(1000, 500, arity=4)]
        >>> net = hw.LogicNetwork(classes=10, layers=layers, seed=0)
        >>> net(torch.rand(32, 784).round()).shape
        torch.Size([32, 10])
    """

    kind = "lut"
    columns = "tables"

    def __init__(
        self,
        inputs: int,
        tables: int,
        arity: int = MOST_ARITY,
        method: str | Method | None = None,
        tau: float | Temperature | None = None,
        cage: bool | None = None,
        seed: int | None = None,
        engine: str = "auto",
        *,
        wiring: str = "random",
        candidates: int | None = None,
        start: str = "normal",
        bonus: float = TABLE_BONUS,
        groups: int = 1,
        input_subset: Sequence[int] | torch.Tensor | None = None,
        wires: torch.Tensor | None = None,
        **options: Any,
    ):
        super().__init__(
            inputs, tables, check_arity(arity), method, tau, cage, seed, engine, wiring=wiring, candidates=candidates,
            start=start, bonus=bonus, groups=groups, noise=None, input_subset=input_subset, wires=wires,
            options=options,
        )  # fmt: skip

    def function(self) -> Function:
        return Entries(self.logits)

    def config(self) -> dict[str, Any]:
        return {**super().config(), "arity": self.arity}

    def check_readable(self, inputs: int) -> None:
        if inputs < self.arity:
            fewer = f"use arity={inputs} or less" if inputs >= LEAST_ARITY else "give it more inputs"
            raise HardwireError(f"tables of {self.arity} inputs read different ones, and there are {inputs}; {fewer}")

    @classmethod
    def function_choices(cls) -> int:
        return Entries.choices

    @classmethod
    def logit_count(cls, arity: int) -> int:
        return 1 << arity

    @classmethod
    def arity_of(cls, config: dict[str, Any]) -> int:
        return check_arity(config.get("arity"))

    def start_pattern(self) -> torch.Tensor:
        return table_pattern(self.arity)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, arity={self.arity}"


def table_pattern(arity: int) -> torch.Tensor:
    """[2**arity]: 1 at the addresses where the first input is 1, and -1 elsewhere."""
    first = torch.arange(1 << arity) & 1
    return 2.0 * first - 1.0
