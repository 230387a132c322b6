"""The native engine: the same mathematics in C++, for float32 networks on the CPU.

The whole stack is one autograd operation. Where all activations are bits (a hard method on binary input, and every
deployed pass), 64 samples are packed into a word. Surprising: only the input and the choices are stored for the
backward pass, which computes a tile of samples again; that costs less than reading its activations from memory. Where
every sample chooses for itself, which is slow, activations are stored if they are bits.
"""

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.bits import Bits, word_count
from hardwire.build import native as _native
from hardwire.build import why_no_native
from hardwire.engine.checks import CheckedStack
from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import FORMULA, MAXIMUM, Confidence, Input, Level, Request, Rule, Stack, TauSnapshot
from hardwire.errors import HardwireError
from hardwire.gates import THRESHOLD
from hardwire.noise import WIRE_STREAMS, check_samples, sample_stream_word, stream_word
from hardwire.selection import CLEAN, Method

_Item = TypeVar("_Item")


def available() -> bool:
    """Whether the native module was built."""
    return _native is not None


def instruction_set() -> str:
    """The instruction set that the native code uses on this machine."""
    return str(_native.instruction_set())


@functools.cache
def warn_if_missing() -> None:
    """Warns once if the native module is missing."""
    if _native is None:
        warnings.warn(
            f"hardwire was installed without its native engine: {why_no_native()}; training and evaluation work, "
            "10 to 100 times slower",
            stacklevel=2,
        )


def supports(request: Request) -> bool:
    return (
        _native is not None
        and not torch.compiler.is_compiling()
        and request.x.device.type == "cpu"
        and all(_supports_level(level) for level in request.stack.levels)
        and not (_per_sample(request) and any(level.wire_logits is not None for level in request.stack.levels))
        and (not any(has_tables(level) for level in request.stack.levels) or _is_packed(request))
    )


def has_tables(level: Level) -> bool:
    """Whether the neurons are look-up tables, which this engine runs on bits alone."""
    return isinstance(level.function, Entries) or level.arity != 2


def _is_packed(request: Request) -> bool:
    """Whether all activations are bits."""
    if not request.hard or _per_sample(request):
        return False
    x = request.x
    return isinstance(x, Bits) or request.mode == "deploy" or bool(((x == 0) | (x == 1)).all())


def _per_sample(request: Request) -> bool:
    return any(rule.noise is not None and rule.noise.per_sample for rule in request.rules)


def _supports_level(level: Level) -> bool:
    plain_gradient = level.gradient == FORMULA or level.wire_logits is None
    known = not isinstance(level.function, Choose) or level.function.is_gates
    return plain_gradient and known and all(z.dtype == torch.float32 and z.is_cpu for z in level.parameters())


@dataclass(frozen=True, eq=False)
class Prepared:
    """A stack in the format of the native code, and the checked stack behind it."""

    checked: CheckedStack
    native: Any


def prepare(stack: Stack, before: object, fuse: bool = True) -> Prepared:
    """Builds the native stack, unless `before` is already that of this stack.

    fuse: whether levels that form a convolution of trees run as one. Run one by one they give the same result.
    """
    if isinstance(before, Prepared) and before.checked.fits(stack):
        return before
    checked = CheckedStack.check(stack)
    return Prepared(checked, _native.Engine([_native_level(x) for x in _own(stack.levels)], fuse, _steps(stack)))


def _own(levels: Sequence[_Item], of: Sequence[Level] | None = None) -> list[_Item]:
    """Of the levels, or of what there is for each level, those that make their own choice."""
    return [x for x, level in zip(levels, of or levels, strict=True) if level.repeats is None]  # type: ignore[attr-defined]


def _own_numbers(stack: Stack) -> list[int]:
    """The number of each level among those that make their own choice; that of the other one where it repeats one."""
    numbers: list[int] = []
    for level in stack.levels:
        numbers.append(numbers[level.repeats] if level.repeats is not None else max(numbers, default=-1) + 1)
    return numbers


def _steps(stack: Stack) -> list[tuple[int, list[tuple[int, int, int]]]]:
    if not stack.read_later and all(level.repeats is None for level in stack.levels):
        return []
    return [
        (own, [(source.level, source.start, source.stop) for source in level.reads or ()])
        for own, level in zip(_own_numbers(stack), stack.levels, strict=True)
    ]


def _native_level(level: Level) -> Any:
    def numbers(x: torch.Tensor) -> NDArray[np.int32]:
        return x.to(torch.int32).contiguous().view(-1).numpy()

    gate = level.function.gate if isinstance(level.function, Fixed) else None
    table = None
    if isinstance(level.function, Fixed) and gate is None:
        table = sum(bit << address for address, bit in enumerate(level.function.table))
    return _native.level(
        inputs=level.inputs,
        neurons=level.neurons,
        rows=level.row_count or level.neurons,
        candidates=0 if level.wire_logits is None else level.wire_logits.shape[2],
        wires=numbers(level.wires),
        row_of=None if level.rows is None else numbers(level.rows),
        gate=-1 if gate is None else gate,
        maximum=level.gradient == MAXIMUM,
        arity=level.arity,
        entries=isinstance(level.function, Entries),
        table=table,
    )


@dataclass(frozen=True, eq=False)
class NativeChoice:
    """The choices of all neurons, their logits, and the batch as either words or floats."""

    native: Any
    logits: list[tuple["_Array", "_Array"]]
    words: NDArray[np.uint64] | None
    floats: NDArray[np.float32] | None


def select(request: Request, prepared: Prepared, confidence: bool) -> tuple[NativeChoice, list[Confidence]]:
    """Makes the choices of every level, and computes their confidence if asked for."""
    if _per_sample(request):
        check_samples(request.x.shape[0])
    levels = request.stack.levels
    words, floats = _samples(request.x, request.hard, deploy=request.mode == "deploy")
    logits = _pairs(request.stack, _arrays(request.stack.parameters()))
    choice = NativeChoice(_native.Choice(), logits, words, floats)
    functions, wires, finite = prepared.native.select(
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
    own = zip(functions, wires, strict=True)
    return choice, [_confidence(level, *next(own)) if level.repeats is None else Confidence() for level in levels]


def _confidence(level: Level, functions: float, wires: float) -> Confidence:
    return Confidence(None if level.logits is None else functions, None if level.wire_logits is None else wires)


def _first_to_read(request: Request) -> int:
    """The first level whose inputs need a gradient: the one after the first that learns, where the input needs none."""
    levels = request.stack.levels
    if not torch.is_grad_enabled() or request.mode == "deploy":
        return len(levels)
    repeats = any(level.repeats is not None for level in levels)
    if repeats or (isinstance(request.x, torch.Tensor) and request.x.requires_grad):
        return 0
    learning = (number for number, level in enumerate(levels) if any(z.requires_grad for z in level.parameters()))
    return next(learning, len(levels)) + 1


def run(request: Request, prepared: Prepared, choice: NativeChoice) -> torch.Tensor:
    """Maps the batch to [batch, columns] through all levels and the class sums."""
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
    """One forward pass in the format of the native code.

    keeps: whether the outputs of neurons are kept for the backward pass, as bits.
    """

    native: Any
    choice: NativeChoice
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
    """The stack as one autograd operation of (call, float input or None, logits of every level)."""

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
        x, *logits = ctx.saved_tensors  # raises if the logits have changed since the forward pass
        call: _Call = ctx.call
        gradients = [
            torch.empty_like(z, memory_format=torch.contiguous_format) if wanted else None
            for z, wanted in zip(logits, ctx.needs_input_grad[2:], strict=True)
        ]
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


_Array: TypeAlias = "NDArray[np.float32] | None"


def _arrays(tensors: Sequence[torch.Tensor | None]) -> list[_Array]:
    """Tensors as matrices with a row for each choice; None where there is none."""
    return [
        None if z is None else (z if z.ndim == 2 else z.flatten(0, -2)).detach().contiguous().numpy() for z in tensors
    ]


def _pairs(stack: Stack, arrays: list[_Array]) -> list[tuple[_Array, _Array]]:
    """(of functions, of wires) for each level, from the arrays of all parameters in order."""
    rest = iter(arrays)
    return [
        (None if level.logits is None else next(rest), None if level.wire_logits is None else next(rest))
        for level in stack.levels
        if level.repeats is None
    ]


def _rules(request: Request, confidence: bool = False) -> list[Any]:
    return [_rule(rule, confidence) for rule in _own(request.rules, request.stack.levels)]


def _rule(rule: Rule, confidence: bool) -> Any:
    gates = wires = _selection_rule(rule, rule.method, rule.tau, rule.noise_stream, confidence)
    if rule.wire_tau is not None:  # None: the level has no wires to choose
        wires = _selection_rule(rule, rule.wire_method, rule.wire_tau, rule.noise_stream + WIRE_STREAMS, confidence)
    by_mixture = {"wires_by_mixture": rule.wires_by_mixture, "inputs_by_mixture": rule.inputs_by_mixture}
    return _native.level_rule(gates=gates, wires=wires, **by_mixture)


def _selection_rule(rule: Rule, method: Method, tau: TauSnapshot, noise_stream: int, confidence: bool) -> Any:
    key = rule.noise if rule.mode == "method" and method.noisy else None
    return _native.selection_rule(
        hard=rule.mode != "method" or method.hard,
        noisy=key is not None,
        tau=tau.number,
        seed=key.seed if key else 0,
        step=int(key.step) & 0xFFFFFFFF if key else 0,
        draw=key.draw if key else 0,
        noise_stream=(sample_stream_word if key.per_sample else stream_word)(key, noise_stream) if key else 0,
        confidence=confidence,
        per_sample=key is not None and key.per_sample,
        clean_surrogate=rule.surrogate == CLEAN and rule.mode == "method" and method.hard,
    )


def _samples(x: Input, hard: bool, deploy: bool) -> tuple[NDArray[np.uint64], None] | tuple[None, NDArray[np.float32]]:
    """(words, None) if the batch can be packed or already is, else (None, floats)."""
    if isinstance(x, Bits):
        return np.ascontiguousarray(x.numpy()), None
    floats = x.detach().to(torch.float32).contiguous().numpy()
    if hard:
        words = np.empty((len(floats), word_count(floats.shape[1])), np.uint64)
        if _native.pack_floats(floats, THRESHOLD, words) or deploy:
            return words, None
    return None, floats
