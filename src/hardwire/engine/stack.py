"""What is run, as plain data: a `Stack` of `Level`s, and for each level a `Rule` that says how its logits become
choices.

Modules write levels; engines run them, measurements look into them, circuits are lowered from them. So a convolution
is a level whose neurons share rows of parameters, pooling is a level of one fixed gate, and no reader ever learns the
word. Surprising: a wire may be `NOTHING`, the constant 0; that is all there is to padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from hardwire.bits import Bits
from hardwire.gates import GATES, algebra
from hardwire.noise import NoiseKey
from hardwire.selection import Method, check_logits, first_argmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODES = ("method", "argmax", "deploy")
"""The three passes: the method's own (A^M), argmax with soft gates (A^soft), argmax with hard gates (A^hard)."""

NOTHING = -1  # a wire that reads the constant 0
FORMULA: str = "formula"  # how a fixed gate passes a gradient on: by its formula,
MAXIMUM: str = "maximum"  # or, of an OR, as max-pooling does
GRADIENTS = (MAXIMUM, FORMULA)
CHOSEN: str = "chosen"  # how a gradient passes a gate that was picked: as this gate has it,
MIXTURE: str = "mixture"  # or as the mixture of gates has it
PASSAGES = (CHOSEN, MIXTURE)

Input: TypeAlias = "torch.Tensor | Bits"


@dataclass(frozen=True, eq=False)
class Level:
    """A row of gates that read `inputs` values and make `neurons`.

    wires: int32 [2, neurons], or K candidates for each input [2, neurons, K] with wire_logits [2, rows, K] over them.
    gate_logits: [rows, 16], or None where all neurons are the one gate number `gate`. rows: int32 [neurons], the row
    of parameters of each neuron, or None where each has its own. padded: whether a wire may be NOTHING. gradient, of a
    fixed OR: "formula", or "maximum" as max-pooling has it: all of it to the larger input, the first of equals.

    Levels that follow each other may be one convolution of gate trees, and an engine may run them as one: where the
    neurons of a row stand side by side, and row r reads rows 2r and 2r + 1 of the level below at the same position.
    """

    inputs: int
    neurons: int
    wires: torch.Tensor
    gate_logits: torch.Tensor | None = None
    wire_logits: torch.Tensor | None = None
    rows: torch.Tensor | None = None
    gate: int | None = None
    padded: bool = False
    gradient: str = FORMULA

    @property
    def row_count(self) -> int:
        """Rows of parameters: how many different gates the level chooses."""
        for logits, axis in ((self.gate_logits, 0), (self.wire_logits, 1)):
            if logits is not None:
                return logits.shape[axis]
        return 0

    @property
    def candidates(self) -> int | None:
        """Among how many wires each input chooses; None where they are fixed."""
        return self.wires.shape[2] if self.wires.ndim == 3 else None

    def parameters(self) -> list[torch.Tensor]:
        """The logits there are: of gates, then of wires."""
        return [logits for logits in (self.gate_logits, self.wire_logits) if logits is not None]


@dataclass(frozen=True)
class Head:
    """What follows the last level: sums of `classes` equal, contiguous groups over `temperature`."""

    classes: int
    temperature: float


@dataclass(frozen=True, eq=False)
class Stack:
    """Levels that feed each other, and class sums or (without a head) the last level's outputs as they are."""

    levels: tuple[Level, ...]
    head: Head | None = None

    @property
    def inputs(self) -> int:
        return self.levels[0].inputs

    @property
    def columns(self) -> int:
        """How many numbers a sample has in the end."""
        return self.head.classes if self.head else self.levels[-1].neurons

    def parameters(self) -> list[torch.Tensor]:
        return [logits for level in self.levels for logits in level.parameters()]


class Reading:
    """A temperature as one pass reads it: `tau`, a 0-d tensor. It may move once, between choosing and running."""

    __slots__ = ("_number", "tau")

    def __init__(self, tau: torch.Tensor):
        self.read(tau)

    def read(self, tau: torch.Tensor) -> None:
        # a copy, because the next training step moves tau in place while this graph may still be alive
        self.tau = tau.clone()
        self._number: float | None = None

    @property
    def number(self) -> float:
        """The same as a number."""
        if self._number is None:
            self._number = self.tau.item()
        return self._number


@dataclass(frozen=True, eq=False)
class Rule:
    """How the logits of one level become choices in one pass.

    mode: one of MODES; the method matters in "method" alone. heat, wire_heat: the temperatures of gates and wires,
    which many levels share. place: the level's number among those of its selector, which numbers its noise.
    wire_gradient: the logits of wires learn from the gradient through the "chosen" gate, or through the "mixture" of
    gates as a soft method has it; what goes down the chosen wires is that of the forward pass either way.
    input_gradient: what a picked gate passes down to all that it reads, and to the logits of its wires: its own
    gradient, or that of the "mixture", as where the straight-through estimator stands behind the neuron's output and
    not behind its weights.
    """

    mode: str
    method: Method
    heat: Reading
    wire_method: Method
    wire_heat: Reading | None = None
    noise: NoiseKey | None = None
    place: int = 0
    wire_gradient: str = CHOSEN
    input_gradient: str = CHOSEN

    @property
    def hard(self) -> bool:
        """Whether every choice of the forward pass is one of the candidates."""
        return self.mode != "method" or (self.method.hard and self.wire_method.hard)

    @property
    def inputs_by_mixture(self) -> bool:
        """Whether the inputs of picked gates get their gradient through the mixture of gates."""
        return self.input_gradient == MIXTURE and self._trains_hard

    @property
    def wires_by_mixture(self) -> bool:
        """Whether the logits of wires are asked to learn through it; where all inputs do, these do in any case."""
        return self.wire_gradient == MIXTURE and self._trains_hard

    @property
    def _trains_hard(self) -> bool:
        return self.mode == "method" and self.method.hard


@dataclass(frozen=True, eq=False)
class Request:
    """One forward pass as an engine is asked for it: it may decline (`supports`) whatever is in here."""

    stack: Stack
    rules: Sequence[Rule]
    x: Input

    @property
    def mode(self) -> str:
        return self.rules[0].mode

    @property
    def hard(self) -> bool:
        return all(rule.hard for rule in self.rules)


@dataclass(frozen=True, eq=False)
class Confidence:
    """The mean over a level's choices of max softmax(logits), without temperature; None where there is no choice."""

    gates: torch.Tensor | float | None = None
    wires: torch.Tensor | float | None = None


@dataclass(frozen=True, eq=False)
class FrozenLevel:
    """A level as it is deployed: wires int32 [2, neurons], each an input that there is, and gates uint8 [neurons]."""

    inputs: int
    wires: "NDArray[np.int32]"
    gates: "NDArray[np.uint8]"


@torch.no_grad()
def freeze(stack: Stack) -> list[FrozenLevel]:
    """The deployed circuit: of every choice the largest logit, ties to the lowest index.

    A gate that reads NOTHING becomes the gate that it is there, such as AND with a constant 0 the gate FALSE.
    """
    return [_freeze_level(level) for level in stack.levels]


def _freeze_level(level: Level) -> FrozenLevel:
    wires, gates = frozen_wires(level).numpy(), frozen_gates(level).numpy()
    if level.padded:
        for side, held in enumerate((algebra.FIRST_IS[0], algebra.SECOND_IS[0])):
            gates = np.where(wires[side] == NOTHING, np.array(held, np.uint8)[gates], gates)
        wires = np.maximum(wires, 0)
    return FrozenLevel(level.inputs, wires, gates)


def frozen_gates(level: Level) -> torch.Tensor:
    """uint8 [neurons]: the deployed gate of each neuron."""
    if level.gate_logits is None:
        assert level.gate is not None and 0 <= level.gate < len(GATES)
        return torch.full((level.neurons,), level.gate, dtype=torch.uint8)
    gates = first_argmax(check_logits(level.gate_logits.detach())).to(torch.uint8).cpu()
    return gates if level.rows is None else gates[level.rows.cpu().long()]


def frozen_wires(level: Level) -> torch.Tensor:
    """int32 [2, neurons]: the deployed wires of each neuron."""
    if level.wire_logits is None:
        return level.wires.detach().cpu()
    chosen = first_argmax(check_logits(level.wire_logits.detach())).cpu()
    if level.rows is not None:
        chosen = chosen[:, level.rows.cpu().long()]
    return level.wires.cpu().gather(2, chosen.unsqueeze(2)).squeeze(2)
