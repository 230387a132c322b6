"""The native engine: the same mathematics in C++, for float32 networks on the CPU.

The whole stack is one autograd operation. Where all activations are bits (a hard method on binary input, and every
deployed pass) samples travel packed, 64 to a word. Surprising: nothing is stored for the backward pass but the input
and the choices; a tile of samples runs forwards again, which costs less than fetching its activations from memory.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.weak import WeakIdKeyDictionary

from hardwire.bits import Bits, word_count
from hardwire.errors import HardwireError
from hardwire.gates import THRESHOLD

try:
    from hardwire import _native
except ImportError:  # installed without a compiler
    _native = None

_stacks = WeakIdKeyDictionary()  # last wiring tensor -> (what it was built from, native stack)


def available() -> bool:
    """Whether the native module was built."""
    return _native is not None


def instruction_set() -> str:
    """Which of its instruction sets the native code uses on this machine."""
    return _native.instruction_set()


@functools.cache
def warn_if_missing() -> None:
    """Says once what is lost without the native module."""
    if _native is None:
        warnings.warn(
            "hardwire was installed without its native engine (no C++ compiler): training and evaluation work, "
            "10 to 100 times slower; install g++ or clang and reinstall hardwire to get it",
            stacklevel=2,
        )


def supports(x, logits: torch.Tensor) -> bool:
    return (
        _native is not None
        and not torch.compiler.is_compiling()
        and logits.dtype == torch.float32
        and logits.device.type == "cpu"
        and x.device.type == "cpu"
    )


def run_layer(x, logits, wiring, plan) -> torch.Tensor:
    """x [batch, inputs] (floats in [0, 1] or Bits), logits [neurons, 16], wiring [2, neurons] -> [batch, neurons]."""
    return _run(x, [logits], [wiring], plan, classes=0, group_temperature=1.0)


def run_network(x, logits, wirings, plan, classes: int, group_temperature: float) -> torch.Tensor:
    """x [batch, inputs] through all layers and the class sums -> scores [batch, classes]."""
    return _run(x, logits, wirings, plan, classes, group_temperature)


@dataclass(frozen=True)
class _Call:
    """One forward pass as the native code wants it. Exactly one of words and floats is the batch."""

    stack: object
    rule: object
    choice: object
    words: np.ndarray | None
    floats: np.ndarray | None
    classes: int
    group_temperature: float
    columns: int
    threads: int

    @property
    def batch(self) -> tuple:
        return (self.choice, self.words, self.floats, self.classes, self.group_temperature, self.threads)


def _run(x, logits, wirings, plan, classes, group_temperature) -> torch.Tensor:
    inputs = x.shape[1]
    stack = _stack(inputs, wirings)
    arrays = [z.detach().contiguous().numpy() for z in logits]
    threads = torch.get_num_threads()
    hard = plan.method.hard or plan.mode != "method"
    words, floats = _samples(x, hard, deploy=plan.mode == "deploy")
    if plan.advance and not plan.temperature.uses_confidence:
        plan.temperature.advance()
    choice = _native.Choice()
    rule = _rule(plan, hard)
    bits = hard and words is not None
    confidence, finite = stack.select(arrays, rule, bits, not bits, threads, choice)
    if not finite:
        raise HardwireError("the logits hold NaN or infinity; lower the learning rate or check the inputs")
    if plan.advance and plan.temperature.uses_confidence:
        # only the hard methods come here (CAGE), and their forward pass has no temperature: only the backward's moves
        plan.temperature.advance(confidence)
        rule.tau = plan.temperature.tau.item()
    columns = classes or logits[-1].shape[0]
    call = _Call(stack, rule, choice, words, floats, classes, group_temperature, columns, threads)
    if plan.mode != "method":
        logits = [z.detach() for z in logits]
    source = x if isinstance(x, torch.Tensor) and plan.mode != "deploy" else None
    return _Stack.apply(call, source, *logits)


class _Stack(torch.autograd.Function):
    """The stack as one operation: (call, float input or None, logits of every layer) -> scores or outputs."""

    @staticmethod
    def forward(ctx, call, x, *logits):
        ctx.call = call
        ctx.save_for_backward(x, *logits)
        rows = len(call.words) if call.floats is None else len(call.floats)
        out = torch.empty(rows, call.columns)
        call.stack.forward(*call.batch, out.numpy())
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        x, *logits = ctx.saved_tensors
        gradients = [torch.empty_like(z, memory_format=torch.contiguous_format) for z in logits]
        in_gradient = torch.empty(x.shape) if ctx.needs_input_grad[1] else None
        ctx.call.stack.backward(
            *ctx.call.batch,
            gradient.contiguous().numpy(),
            [z.detach().contiguous().numpy() for z in logits],
            ctx.call.rule,
            [g.numpy() for g in gradients],
            None if in_gradient is None else in_gradient.numpy(),
        )
        return None, None if in_gradient is None else in_gradient.to(x.dtype), *gradients


def _rule(plan, hard):
    key = plan.noise if plan.mode == "method" and plan.method.noisy else None
    return _native.SelectionRule(
        hard=hard,
        noisy=key is not None,
        tau=plan.temperature.tau.item(),
        seed=key.seed if key else 0,
        step=int(key.step) & 0xFFFFFFFF if key else 0,
        draw=key.draw if key else 0,
        evaluation=key.evaluation if key else False,
    )


def _samples(x, hard: bool, deploy: bool):
    """(words, None) where the batch travels packed or is packed already, else (None, floats)."""
    if isinstance(x, Bits):
        return np.ascontiguousarray(x.numpy()), None
    floats = x.detach().to(torch.float32).contiguous().numpy()
    if hard:
        words = np.empty((len(floats), word_count(floats.shape[1])), np.uint64)
        if _native.pack_floats(floats, THRESHOLD, words) or deploy:
            return words, None
    return None, floats


def _stack(inputs: int, wirings):
    """The native stack for this wiring, built on first use and again if the wiring has changed."""
    state = (inputs, *((w.data_ptr(), w._version, w.shape[1]) for w in wirings))
    known = _stacks.get(wirings[-1])
    if known is None or known[0] != state:
        arrays = [w.to(torch.int32).contiguous().numpy() for w in wirings]
        try:
            known = (state, _native.Stack(inputs, arrays))
        except ValueError as error:
            raise HardwireError(f"bad wiring: {error}") from None
        _stacks[wirings[-1]] = known
    return known[1]
