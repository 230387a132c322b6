"""A network as plain data: a `Stack` of `Level`s, and for each level a `Rule` that turns its logits into choices.

Layers describe themselves as levels; engines run levels, measurements inspect them, and circuits are made from them. A
convolution is levels whose neurons share rows of parameters, and pooling is a level of one fixed gate, so none of these
has to know either. Surprising: a wire may be `CONST_ZERO`, the constant 0; padding needs nothing else.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch

from hardwire.bits import Bits
from hardwire.engine.functions import GATE_TABLES, Choose, Entries, Fixed, Function, table_words
from hardwire.errors import HardwireError, check_holds_values
from hardwire.gates import GATE_ARITY
from hardwire.noise import NoiseKey
from hardwire.selection import CHOSEN, CLEAN, MIXTURE, NOISY, Method, check_logits, first_argmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODES = ("method", "argmax", "deploy")
"""The three passes: the method's own (A^M), argmax with soft gates (A^soft), and argmax with hard gates (A^hard)."""

CONST_ZERO = -1  # a wire that reads the constant 0
THE_STATE, THE_INPUT = -2, -3  # in place of the number of a level in `reads`: that before the step, and of the step
FORMULA: str = "formula"  # the gradient of a fixed gate: that of its formula,
MAXIMUM: str = "maximum"  # or for an OR that of max-pooling
GRADIENTS = (MAXIMUM, FORMULA)

Input: TypeAlias = "torch.Tensor | Bits"


class Source(NamedTuple):
    """A part of what a level reads: the values [start, stop) of level number `level`; -1 is the input."""

    level: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Level:
    """A row of neurons, each a Boolean function of a few inputs.

    An engine may run consecutive levels as one convolution of gate trees: where the neurons of a row are adjacent, and
    row r reads rows 2r and 2r + 1 of the level below at the same position.

    Attributes:
        inputs: The number of values that the level reads.
        neurons: The number of values that it computes.
        wires: int32 [n, neurons] for neurons of n inputs, or K candidates for each input [n, neurons, K].
        function: What the neurons compute.
        wire_logits: [n, rows, K], for candidates.
        rows: int32 [neurons], the row of parameters of each neuron, or None where each has its own.
        padded: Whether a wire may be CONST_ZERO.
        gradient: For a fixed OR: "formula", or "maximum" to give the gradient to the larger input as max-pooling does;
            of equal inputs to the first.
        repeats: The number of an earlier level of the stack that this one is once more: the same wires, choice and
            noise, on other values. Gradients of all repetitions add up. None where it makes its own choice.
        reads: What it reads, side by side; None for all that the level before computes.

    Example:
        >>> import hardwire as hw
        >>> level = hw.LogicLayer(8, 4, seed=0).levels()[0]
        >>> level.inputs, level.neurons, level.wires.shape
        (8, 4, torch.Size([2, 4]))
    """

    inputs: int
    neurons: int
    wires: torch.Tensor
    function: Function
    wire_logits: torch.Tensor | None = None
    rows: torch.Tensor | None = None
    padded: bool = False
    gradient: str = FORMULA
    repeats: int | None = None
    reads: tuple[Source, ...] | None = None

    @property
    def arity(self) -> int:
        """Inputs of each neuron."""
        return self.wires.shape[0]

    @property
    def logits(self) -> torch.Tensor | None:
        """The logits of the function; None where it is fixed."""
        return self.function.logits

    @property
    def row_count(self) -> int:
        """The number of rows of parameters, which is the number of functions that the level chooses."""
        for logits, axis in ((self.logits, 0), (self.wire_logits, 1)):
            if logits is not None:
                return logits.shape[axis]
        return 0

    @property
    def function_choices(self) -> int:
        """How many choices of functions the level makes: one for each row, or one for each entry of its table."""
        if isinstance(self.function, Entries):
            return self.function.logits.numel()
        return self.row_count if isinstance(self.function, Choose) else 0

    @property
    def candidates(self) -> int | None:
        """The number of wires that each input chooses from; None where wires are fixed."""
        return self.wires.shape[2] if self.wires.ndim == 3 else None

    def parameters(self) -> list[torch.Tensor]:
        """The logits of functions and of wires, where there are any of its own."""
        if self.repeats is not None:
            return []
        return [logits for logits in (self.logits, self.wire_logits) if logits is not None]


@dataclass(frozen=True)
class Head:
    """The class sums after the last level: sums of `classes` equal, contiguous groups, divided by `temperature`."""

    classes: int
    temperature: float


@dataclass(frozen=True, eq=False)
class Stack:
    """A sequence of levels, each of which reads the one before.

    Attributes:
        levels: The levels.
        head: The class sums; without one, the outputs of the last level are the result.

    Example:
        >>> import hardwire as hw
        >>> stack = hw.LogicNetwork(64, classes=10, width=100, depth=2, seed=0).stack()
        >>> len(stack.levels), stack.inputs, stack.columns
        (2, 64, 10)
    """

    levels: tuple[Level, ...]
    head: Head | None = None

    @property
    def inputs(self) -> int:
        """The number of values that the stack reads."""
        return self.levels[0].inputs

    @property
    def columns(self) -> int:
        """The number of outputs for a sample."""
        return self.head.classes if self.head else self.levels[-1].neurons

    def parameters(self) -> list[torch.Tensor]:
        """The logits of all levels."""
        return [logits for level in self.levels for logits in level.parameters()]

    @property
    def read_later(self) -> frozenset[int]:
        """The numbers of the levels that `reads` of others name, and -1 if one of them names the input."""
        return frozenset(source.level for level in self.levels for source in level.reads or ())


def unrolled(
    levels: Sequence[Level], state: int, starts: Sequence[Source], inputs: Sequence[Source], first: int = 0
) -> list[Level]:
    """The steps of a loop, one after another: each reads the state that the one before has made, and its own input.

    Args:
        levels: One step; its first level reads [state, input] unless it says what, its last one makes [state, output].
            What their `reads` name is numbered within the step, or is THE_STATE or THE_INPUT, as a whole.
        state: The number of bits of the state.
        starts: Where the state of the first step is.
        inputs: Where the input of each step is.
        first: The number that the first of the levels has in the stack.
    """
    result: list[Level] = []
    for step, source in enumerate(inputs):
        before = tuple(starts) if step == 0 else (Source(first + len(result) - 1, 0, state),)
        given = (source,) if source.stop > source.start else ()
        outside, here = {THE_STATE: before, THE_INPUT: given}, first + len(result)
        for number, level in enumerate(levels):
            reads = None if number else (*before, *given)
            if level.reads is not None:
                there = (outside.get(s.level, (Source(here + s.level, s.start, s.stop),)) for s in level.reads)
                reads = tuple(itertools.chain.from_iterable(there))
            result.append(replace(level, repeats=None if step == 0 else first + number, reads=reads))
    return result


class TauSnapshot:
    """The value of a temperature in one pass. It may change once, between choosing and running.

    Attributes:
        tau: The temperature, a 0-d tensor.
        number: The same as a float.
    """

    __slots__ = ("_number", "tau")

    def __init__(self, tau: torch.Tensor):
        self.refresh(tau)

    def refresh(self, tau: torch.Tensor) -> None:
        """Takes the current value of a temperature."""
        # a copy, because the next training step changes tau in place while this graph may still be needed
        self.tau = tau.clone()
        self._number: float | None = None

    @property
    def number(self) -> float:
        """The temperature as a float."""
        if self._number is None:
            self._number = self.tau.item()
        return self._number


@dataclass(frozen=True, eq=False)
class Rule:
    """How the logits of one level become choices in one pass.

    Attributes:
        mode: One of MODES; only "method" uses the methods.
        method: The method of gates.
        tau: The temperature of gates, shared by many levels.
        wire_method: The method of wires.
        wire_tau: The temperature of wires; None where they are fixed.
        noise: The key of the noise of this pass.
        noise_stream: The number of the level among those of its selector.
        wire_gradient: Whether the logits of wires learn from the gradient through the "chosen" gate, or through the
            "mixture" of gates.
        input_gradient: What the inputs of a hard choice receive, as in `methods.StraightThrough`.
        surrogate: The weights by which the logits of a hard choice learn, as in `methods.StraightThrough`.
    """

    mode: str
    method: Method
    tau: TauSnapshot
    wire_method: Method
    wire_tau: TauSnapshot | None = None
    noise: NoiseKey | None = None
    noise_stream: int = 0
    wire_gradient: str = CHOSEN
    input_gradient: str = CHOSEN
    surrogate: str = NOISY

    @property
    def hard(self) -> bool:
        """Whether the forward pass chooses single candidates throughout."""
        return self.mode != "method" or (self.method.hard and self.wire_method.hard)

    @property
    def inputs_by_mixture(self) -> bool:
        """Whether the inputs of chosen gates get their gradient through the mixture of gates."""
        return self.input_gradient == MIXTURE and self._trains_hard

    @property
    def wires_by_mixture(self) -> bool:
        """Whether the logits of wires learn through the mixture of gates; with `inputs_by_mixture` they always do."""
        return self.wire_gradient == MIXTURE and self._trains_hard

    @property
    def clean_surrogate(self) -> bool:
        """Whether gradients use weights without the noise of the forward pass."""
        return self.surrogate == CLEAN and self._trains_hard

    @property
    def _trains_hard(self) -> bool:
        return self.mode == "method" and self.method.hard


@dataclass(frozen=True, eq=False)
class Request:
    """One forward pass, as given to an engine."""

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
    """The mean over a level's choices of max softmax(logits), without temperature; None without a choice."""

    functions: torch.Tensor | float | None = None
    wires: torch.Tensor | float | None = None


@dataclass(frozen=True, eq=False)
class FrozenLevel:
    """A level as it is deployed.

    Attributes:
        inputs: How many values it reads.
        wires: int32 [n, neurons], each an input that there is.
        tables: uint64 [neurons]; bit `address` is the output where input j is bit j of the address.
        reads: What it reads; None for the level before.
    """

    inputs: int
    wires: "NDArray[np.int32]"
    tables: "NDArray[np.uint64]"
    reads: tuple[Source, ...] | None = None

    @property
    def gates(self) -> "NDArray[np.uint8]":
        """uint8 [neurons]: the gate of each neuron, for neurons of two inputs."""
        if len(self.wires) != GATE_ARITY:
            raise HardwireError(f"look-up tables of {len(self.wires)} inputs are not gates, and gates are asked for")
        return _GATE_OF_TABLE[self.tables.astype(np.int64)]


_GATE_OF_TABLE = np.argsort(table_words(torch.tensor(GATE_TABLES)).numpy()).astype(np.uint8)  # by the word of its table


@torch.no_grad()
def freeze(stack: Stack) -> list[FrozenLevel]:
    """The deployed levels: each choice is the largest logit, ties to the lowest index.

    A neuron that reads CONST_ZERO is replaced by what it computes there; an AND, for example, becomes FALSE.
    """
    frozen: list[FrozenLevel] = []
    for level in stack.levels:
        own = _freeze_level(level) if level.repeats is None else frozen[level.repeats]
        frozen.append(replace(own, reads=level.reads))
    return frozen


def _freeze_level(level: Level) -> FrozenLevel:
    check_holds_values("the wires", level.wires)
    wires, tables = frozen_wires(level).numpy(), frozen_tables(level).numpy()
    if level.padded:
        tables = _with_zeros(tables, wires)
        wires = np.maximum(wires, 0)
    words = table_words(torch.from_numpy(tables)).numpy().view(np.uint64)
    return FrozenLevel(level.inputs, wires, words)


def _with_zeros(tables: "NDArray[np.uint8]", wires: "NDArray[np.int32]") -> "NDArray[np.uint8]":
    """Tables [neurons, 2**n] that do not depend on inputs whose wire is CONST_ZERO."""
    address = np.broadcast_to(np.arange(tables.shape[1]), tables.shape)
    for side, wire in enumerate(wires):
        address = np.where(wire[:, None] == CONST_ZERO, address & ~(1 << side), address)
    return np.take_along_axis(tables, address, axis=1)


def frozen_tables(level: Level) -> torch.Tensor:
    """uint8 [neurons, 2**n]: the deployed function of each neuron."""
    if isinstance(level.function, Fixed):
        return torch.tensor(level.function.table, dtype=torch.uint8).expand(level.neurons, -1)
    logits = check_logits(level.function.with_choices(level.function.logits.detach()))
    chosen = first_argmax(logits)
    if isinstance(level.function, Choose):
        chosen = torch.tensor(level.function.tables, device=chosen.device)[chosen]
    tables = chosen.to(torch.uint8).cpu()
    return tables if level.rows is None else tables[level.rows.cpu().long()]


def frozen_gates(level: Level) -> torch.Tensor:
    """uint8 [neurons]: the deployed gate of each neuron of two inputs."""
    if level.arity != GATE_ARITY:
        raise HardwireError(f"look-up tables of {level.arity} inputs are not gates; net.tables() gives their entries")
    words = table_words(frozen_tables(level))
    return torch.from_numpy(_GATE_OF_TABLE)[words]


def frozen_wires(level: Level) -> torch.Tensor:
    """int32 [n, neurons]: the deployed wires of each neuron."""
    if level.wire_logits is None:
        return level.wires.detach().cpu()
    chosen = first_argmax(check_logits(level.wire_logits.detach())).cpu()
    if level.rows is not None:
        chosen = chosen[:, level.rows.cpu().long()]
    return level.wires.cpu().gather(2, chosen.unsqueeze(2)).squeeze(2)
