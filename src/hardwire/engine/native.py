"""The native engine: the same mathematics in C++, for float32 networks on the CPU.

The whole stack is one autograd operation. Where all activations are bits (a hard method on binary input, and every
deployed pass) samples travel packed, 64 to a word. Surprising: nothing is stored for the backward pass but the input
and the choices; a tile of samples runs forwards again, which costs less than fetching its activations from memory.
"""

import functools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.bits import Bits, word_count
from hardwire.engine.stack import Confidence, Head, Input, Level, Request, Rule, Stack
from hardwire.errors import HardwireError
from hardwire.gates import THRESHOLD
from hardwire.noise import place_of

try:
    from hardwire import _native
except ImportError:  # installed without a compiler
    _native = None


def available() -> bool:
    """Whether the native module was built."""
    return _native is not None


def instruction_set() -> str:
    """Which of its instruction sets the native code uses on this machine."""
    return str(_native.instruction_set())


@functools.cache
def warn_if_missing() -> None:
    """Says once what is lost without the native module."""
    if _native is None:
        warnings.warn(
            "hardwire was installed without its native engine (no C++ compiler): training and evaluation work, "
            "10 to 100 times slower; install g++ or clang and reinstall hardwire to get it",
            stacklevel=2,
        )


def supports(request: Request) -> bool:
    return (
        _native is not None
        and not torch.compiler.is_compiling()
        and request.x.device.type == "cpu"
        and not any(rule.noise and rule.noise.per_sample for rule in request.rules)
        and all(_takes(level) for level in request.stack.levels)
    )


def _takes(level: Level) -> bool:
    logits = level.gate_logits
    plain = level.wire_logits is None and level.rows is None and not level.padded
    return plain and logits is not None and logits.dtype == torch.float32 and logits.device.type == "cpu"


@dataclass(frozen=True, eq=False)
class Prepared:
    """The wiring of a stack as the native code wants it, and what it was made from."""

    wires: tuple[tuple[torch.Tensor, int], ...]  # each level's tensor, and how often it had been written to
    native: Any

    def fits(self, stack: Stack) -> bool:
        return len(self.wires) == len(stack.levels) and all(
            level.wires is wires and wires._version == version
            for level, (wires, version) in zip(stack.levels, self.wires, strict=True)
        )


def prepare(stack: Stack, before: object) -> Prepared:
    """The native stack for this wiring: the one from `before`, or a new one where there was none or it has changed."""
    if isinstance(before, Prepared) and before.fits(stack):
        return before
    arrays = [level.wires.to(torch.int32).contiguous().numpy() for level in stack.levels]
    versions = tuple((level.wires, level.wires._version) for level in stack.levels)
    return Prepared(versions, _native.Stack(stack.inputs, arrays))


@dataclass(frozen=True, eq=False)
class Choice:
    """What every neuron chose, and the batch as it travels: exactly one of words and floats."""

    native: Any
    words: NDArray[np.uint64] | None
    floats: NDArray[np.float32] | None


def select(request: Request, prepared: Prepared, confidence: bool) -> tuple[Choice, list[Confidence]]:
    """Logits to choices, by the rules; the confidences of all levels come with it."""
    words, floats = _samples(request.x, request.hard, deploy=request.mode == "deploy")
    choice = Choice(_native.Choice(), words, floats)
    bits = request.hard and words is not None
    found, finite = prepared.native.select(
        _arrays(request.stack), _rules(request), bits, not bits, torch.get_num_threads(), choice.native
    )
    if not finite:
        raise HardwireError("the logits hold NaN or infinity; lower the learning rate or check the inputs")
    return choice, [Confidence(gates=gates) for gates in found]


def run(request: Request, prepared: Prepared, choice: Choice) -> torch.Tensor:
    """The batch through all levels and the class sums -> [batch, columns]."""
    logits = request.stack.parameters()
    if request.mode != "method":
        logits = [z.detach() for z in logits]
    x = request.x
    source = x if isinstance(x, torch.Tensor) and request.mode != "deploy" else None
    call = _Call(prepared.native, choice, _rules(request), request.stack.head, request.stack.columns)
    return _Run.apply(call, source, *logits)


@dataclass(frozen=True, eq=False)
class _Call:
    """One forward pass as the native code wants it."""

    stack: Any
    choice: Choice
    rules: list[Any]
    head: Head | None
    columns: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        classes, temperature = (self.head.classes, self.head.temperature) if self.head else (0, 1.0)
        choice = self.choice
        return (choice.native, choice.words, choice.floats, classes, temperature, torch.get_num_threads())

    @property
    def rows(self) -> int:
        batch = self.choice.words if self.choice.floats is None else self.choice.floats
        assert batch is not None
        return len(batch)


class _Run(torch.autograd.Function):
    """The stack as one operation: (call, float input or None, logits of every level) -> scores or outputs."""

    @staticmethod
    def forward(ctx: Any, call: _Call, x: torch.Tensor | None, *logits: torch.Tensor) -> torch.Tensor:
        ctx.call = call
        ctx.save_for_backward(x, *logits)
        out = torch.empty(call.rows, call.columns)
        call.stack.forward(*call.arguments, out.numpy())
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, *logits = ctx.saved_tensors
        call: _Call = ctx.call
        gradients = [torch.empty_like(z, memory_format=torch.contiguous_format) for z in logits]
        in_gradient = torch.empty(x.shape) if ctx.needs_input_grad[1] else None
        call.stack.backward(
            *call.arguments,
            gradient.contiguous().numpy(),
            [z.detach().contiguous().numpy() for z in logits],
            call.rules,
            [g.numpy() for g in gradients],
            None if in_gradient is None else in_gradient.numpy(),
        )
        return None, None if in_gradient is None else in_gradient.to(x.dtype), *gradients


def _arrays(stack: Stack) -> list[NDArray[np.float32]]:
    return [z.detach().contiguous().numpy() for z in stack.parameters()]


def _rules(request: Request) -> list[Any]:
    return [_rule(rule) for rule in request.rules]


def _rule(rule: Rule) -> Any:
    key = rule.noise if rule.mode == "method" and rule.method.noisy else None
    return _native.SelectionRule(
        hard=rule.mode != "method" or rule.method.hard,
        noisy=key is not None,
        tau=rule.heat.number,
        seed=key.seed if key else 0,
        step=int(key.step) & 0xFFFFFFFF if key else 0,
        draw=key.draw if key else 0,
        place=place_of(key, rule.place) if key else 0,
    )


def _samples(x: Input, hard: bool, deploy: bool) -> tuple[NDArray[np.uint64], None] | tuple[None, NDArray[np.float32]]:
    """(words, None) where the batch travels packed or is packed already, else (None, floats)."""
    if isinstance(x, Bits):
        return np.ascontiguousarray(x.numpy()), None
    floats = x.detach().to(torch.float32).contiguous().numpy()
    if hard:
        words = np.empty((len(floats), word_count(floats.shape[1])), np.uint64)
        if _native.pack_floats(floats, THRESHOLD, words) or deploy:
            return words, None
    return None, floats
