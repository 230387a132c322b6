"""The native engine: the same mathematics in C++, for float32 networks on the CPU.

The whole stack is one autograd operation. Where all activations are bits (a hard method on binary input, and every
deployed pass) samples travel packed, 64 to a word. Surprising: nothing is stored for the backward pass but the input
and the choices; a tile of samples runs forwards again, which costs less than fetching its activations from memory.
Only where every sample chooses for itself, which is slow, are the activations kept, if they are bits.
"""

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.bits import Bits, word_count
from hardwire.engine.checks import Seen
from hardwire.engine.stack import FORMULA, MAXIMUM, Confidence, Input, Level, Reading, Request, Rule, Stack
from hardwire.errors import HardwireError
from hardwire.gates import THRESHOLD
from hardwire.noise import WIRES, check_samples, place_of, sample_place
from hardwire.selection import Method

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
        and all(_takes(level) for level in request.stack.levels)
        and not (_per_sample(request) and any(level.wire_logits is not None for level in request.stack.levels))
    )


def _per_sample(request: Request) -> bool:
    return any(rule.noise is not None and rule.noise.per_sample for rule in request.rules)


def _takes(level: Level) -> bool:
    plain_gradient = level.gradient == FORMULA or level.wire_logits is None
    return plain_gradient and all(z.dtype == torch.float32 and z.is_cpu for z in level.parameters())


@dataclass(frozen=True, eq=False)
class Prepared:
    """A stack as the native code wants it, and what it was made from."""

    seen: Seen
    native: Any


def prepare(stack: Stack, before: object, fuse: bool = True) -> Prepared:
    """The native stack for these wires: the one from `before`, or a new one where there was none or it has changed.

    fuse: levels that are a convolution of trees run as one; otherwise one by one, which is what they mean.
    """
    if isinstance(before, Prepared) and before.seen.fits(stack):
        return before
    seen = Seen.check(stack)
    return Prepared(seen, _native.Engine([_native_level(level) for level in stack.levels], fuse))


def _native_level(level: Level) -> Any:
    def numbers(x: torch.Tensor) -> NDArray[np.int32]:
        return x.to(torch.int32).contiguous().view(-1).numpy()

    return _native.level(
        inputs=level.inputs,
        neurons=level.neurons,
        rows=level.row_count or level.neurons,
        candidates=0 if level.wire_logits is None else level.wire_logits.shape[2],
        wires=numbers(level.wires),
        row_of=None if level.rows is None else numbers(level.rows),
        gate=-1 if level.gate is None else level.gate,
        maximum=level.gradient == MAXIMUM,
    )


@dataclass(frozen=True, eq=False)
class Choice:
    """What every neuron chose, from which logits, and the batch as it travels: exactly one of words and floats."""

    native: Any
    logits: list[tuple["_Array", "_Array"]]
    words: NDArray[np.uint64] | None
    floats: NDArray[np.float32] | None


def select(request: Request, prepared: Prepared, confidence: bool) -> tuple[Choice, list[Confidence]]:
    """Logits to choices, by the rules, and the confidences of all levels if they are asked for."""
    if _per_sample(request):
        check_samples(request.x.shape[0])
    words, floats = _samples(request.x, request.hard, deploy=request.mode == "deploy")
    logits = _pairs(request.stack, _arrays(request.stack.parameters()))
    choice = Choice(_native.Choice(), logits, words, floats)
    gates, wires, finite = prepared.native.select(
        logits=logits,
        rules=_rules(request, confidence),
        packed=request.hard and words is not None and not _per_sample(request),
        readers_from=_first_to_read(request),
        threads=torch.get_num_threads(),
        choice=choice.native,
    )
    if not finite:
        raise HardwireError("the logits hold NaN or infinity; lower the learning rate or check the inputs")
    if not confidence:
        return choice, [Confidence() for _ in request.stack.levels]
    return choice, [
        Confidence(None if level.gate_logits is None else g, None if level.wire_logits is None else w)
        for level, g, w in zip(request.stack.levels, gates, wires, strict=True)
    ]


def _first_to_read(request: Request) -> int:
    """The first level of which a backward pass asks who reads whom."""
    if not torch.is_grad_enabled() or request.mode == "deploy":
        return len(request.stack.levels)
    return 0 if isinstance(request.x, torch.Tensor) and request.x.requires_grad else 1


def run(request: Request, prepared: Prepared, choice: Choice) -> torch.Tensor:
    """The batch through all levels and the class sums -> [batch, columns]."""
    logits = request.stack.parameters()
    if request.mode != "method":
        logits = [z.detach() for z in logits]
    x = request.x
    source = x if isinstance(x, torch.Tensor) and request.mode != "deploy" else None
    keeps = torch.is_grad_enabled() and _per_sample(request) and request.hard and choice.words is not None
    call = _Call(prepared.native, choice, _rules(request), request.stack, keeps)
    result: torch.Tensor = _Run.apply(call, source, *logits)  # type: ignore[no-untyped-call]
    return result


@dataclass(frozen=True, eq=False)
class _Call:
    """One forward pass as the native code wants it. keeps: what the neurons make is kept for the way back, as bits."""

    native: Any
    choice: Choice
    rules: list[Any]
    stack: Stack
    keeps: bool

    @property
    def arguments(self) -> tuple[Any, ...]:
        head = self.stack.head
        classes, temperature = (head.classes, head.temperature) if head else (0, 1.0)
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
        out = torch.empty(call.rows, call.stack.columns)
        keeps = call.keeps and any(ctx.needs_input_grad)
        ctx.made = np.empty(call.native.made_size(call.rows), np.uint16) if keeps else None
        call.native.forward(*call.arguments, out.numpy(), ctx.made)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, *logits = ctx.saved_tensors  # which raises if somebody has changed the logits that the choice still holds
        call: _Call = ctx.call
        gradients = [torch.empty_like(z, memory_format=torch.contiguous_format) for z in logits]
        in_gradient = torch.empty(x.shape) if ctx.needs_input_grad[1] else None
        call.native.backward(
            *call.arguments,
            gradient.contiguous().numpy(),
            call.choice.logits,
            call.rules,
            _pairs(call.stack, _arrays(gradients)),
            None if in_gradient is None else in_gradient.numpy(),
            ctx.made,
        )
        return None, None if in_gradient is None else in_gradient.to(x.dtype), *gradients


def _arrays(tensors: Sequence[torch.Tensor]) -> list[NDArray[np.float32]]:
    """As matrices, a row for each choice."""
    return [(z if z.ndim == 2 else z.flatten(0, -2)).detach().contiguous().numpy() for z in tensors]


_Array: TypeAlias = "NDArray[np.float32] | None"


def _pairs(stack: Stack, arrays: list[NDArray[np.float32]]) -> list[tuple[_Array, _Array]]:
    """(of gates, of wires) for each level, from the arrays of all parameters in order."""
    rest = iter(arrays)
    return [
        (None if level.gate_logits is None else next(rest), None if level.wire_logits is None else next(rest))
        for level in stack.levels
    ]


def _rules(request: Request, confidence: bool = False) -> list[Any]:
    return [_rule(rule, confidence) for rule in request.rules]


def _rule(rule: Rule, confidence: bool) -> Any:
    gates = wires = _selection_rule(rule, rule.method, rule.heat, rule.place, confidence)
    if rule.wire_heat is not None:  # None: the level has no wires to choose
        wires = _selection_rule(rule, rule.wire_method, rule.wire_heat, rule.place + WIRES, confidence)
    by_mixture = {"wires_by_mixture": rule.wires_by_mixture, "inputs_by_mixture": rule.inputs_by_mixture}
    return _native.level_rule(gates=gates, wires=wires, **by_mixture)


def _selection_rule(rule: Rule, method: Method, heat: Reading, place: int, confidence: bool) -> Any:
    key = rule.noise if rule.mode == "method" and method.noisy else None
    return _native.selection_rule(
        hard=rule.mode != "method" or method.hard,
        noisy=key is not None,
        tau=heat.number,
        seed=key.seed if key else 0,
        step=int(key.step) & 0xFFFFFFFF if key else 0,
        draw=key.draw if key else 0,
        place=(sample_place if key.per_sample else place_of)(key, place) if key else 0,
        confidence=confidence,
        per_sample=key is not None and key.per_sample,
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
