"""What the neurons of a level compute, as plain data: a choice among given functions, a look-up table whose entries are
chosen one by one, or one function for all.

A function of n inputs is 2**n values; the value at `address` is the output where input j is bit j of the address.
Whatever is chosen, every function comes to values [rows, 2**n], hard ones 0 or 1 and mixtures between; the engines
know no other difference. The 16 two-input gates are one set of given functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

from hardwire.errors import HardwireError, whole_number
from hardwire.gates import GATES, LEAST_ARITY, MOST_ARITY

Tables: TypeAlias = tuple[tuple[int, ...], ...]

GATE_TABLES: Tables = tuple(tuple(gate.hard(address & 1, address >> 1) for address in range(4)) for gate in GATES)
"""[16, 4]: the gates in the paper's order; the first input is bit 0 of an address."""


@dataclass(frozen=True, eq=False)
class Choose:
    """One of C given functions for each row of parameters.

    Attributes:
        logits: [rows, C].
        tables: [C, 2**n] of 0 and 1; by default the 16 gates. Plain numbers, because torch.compile cannot trace
            tensors that no module holds.
    """

    logits: torch.Tensor
    tables: Tables = GATE_TABLES

    @property
    def entries(self) -> int:
        """Values of each function, 2**n."""
        return len(self.tables[0])

    @property
    def choices(self) -> int:
        """Among how many each choice is made."""
        return len(self.tables)

    @property
    def is_gates(self) -> bool:
        """Whether the functions are the 16 gates."""
        return self.tables is GATE_TABLES

    def with_choices(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits with the choice on the last axis, [rows, C]."""
        return logits

    def values(self, weights: torch.Tensor) -> torch.Tensor:
        """From weights [rows, C] to values [rows, 2**n]."""
        return weights @ torch.tensor(self.tables, dtype=weights.dtype, device=weights.device)


@dataclass(frozen=True, eq=False)
class Entries:
    """A look-up table for each row of parameters; every entry is a choice between 0 and 1.

    Attributes:
        logits: [rows, 2**n]; the entry is 1 where its logit is above 0.
    """

    logits: torch.Tensor
    choices = 2

    @property
    def entries(self) -> int:
        """Entries of each table, 2**n."""
        return self.logits.shape[1]

    def with_choices(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits with the choice on the last axis, [rows, 2**n, 2]; that of 0 is 0."""
        return torch.stack([torch.zeros_like(logits), logits], dim=-1)

    def values(self, weights: torch.Tensor) -> torch.Tensor:
        """From weights [rows, 2**n, 2] to values [rows, 2**n]."""
        return weights[..., 1]


@dataclass(frozen=True)
class Fixed:
    """One function for all neurons, such as OR for pooling.

    Attributes:
        table: 2**n values of 0 and 1.
    """

    table: tuple[int, ...]
    logits = None

    @property
    def entries(self) -> int:
        """Values of the function, 2**n."""
        return len(self.table)

    @property
    def gate(self) -> int | None:
        """The number of the gate that this is; None where it has more than two inputs."""
        return GATE_TABLES.index(self.table) if self.table in GATE_TABLES else None

    @classmethod
    def of_gate(cls, gate: int) -> "Fixed":
        """The fixed function of a gate number."""
        return cls(GATE_TABLES[gate])


Function: TypeAlias = Choose | Entries | Fixed


def interpolate(values: torch.Tensor, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """The multilinear extension of functions between their corners.

    Args:
        values: [..., 2**n], the outputs at the corners.
        inputs: n tensors that broadcast to the shape [...].

    Returns:
        The outputs, of the broadcast shape [...].
    """
    for x in reversed(inputs):  # the last input is the highest bit of an address
        low, high = values.chunk(2, dim=-1)
        values = low + x.unsqueeze(-1) * (high - low)
    return values.squeeze(-1)


def check_arity(arity: object) -> int:
    """Returns the inputs of a look-up table as an int; raises unless there are 2 to 6."""
    number = whole_number("arity", arity)
    if not LEAST_ARITY <= number <= MOST_ARITY:
        raise HardwireError(f"arity {arity} is not from {LEAST_ARITY} to {MOST_ARITY}, the inputs of a look-up table")
    return number


def table_words(tables: torch.Tensor) -> torch.Tensor:
    """From hard tables [..., 2**n] of 0 and 1 to int64 words whose bit `address` is the output."""
    places = torch.arange(tables.shape[-1], device=tables.device)
    return (tables.to(torch.int64) << places).sum(-1)
