"""The reference engine: plain torch on any device, for every kind of level; the standard for all other engines.

A neuron of n inputs is given by its outputs at the 2**n corners; between them it is their multilinear extension. The
method decides how logits become these values. With two inputs a neuron is c0 + c1*a + c2*b + c3*a*b, and the backward
pass needs four sums over the batch. Surprising: activations are feature-major, [features, batch], because gathering
whole rows is fast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from hardwire import selection
from hardwire.bits import Bits
from hardwire.engine.checks import CheckedStack
from hardwire.engine.functions import Choose, Entries, Fixed, interpolate
from hardwire.engine.sampled import run_sampled
from hardwire.engine.stack import MAXIMUM, Confidence, Input, Level, Request, Rule, Stack
from hardwire.gates import THRESHOLD
from hardwire.noise import gumbel, logistic, wire_gumbel
from hardwire.selection import Selection

# From the values at (a, b) = 00, 10, 01 and 11 to the coefficients of 1, a, b and ab; numbers, because torch.compile
# warns about arrays.
_TERMS = [[1, -1, -1, 1], [0, 1, 0, -1], [0, 0, 1, -1], [0, 0, 0, 1]]

PART = 1 << 20  # activations handled at a time


def supports(request: Request) -> bool:
    return True


def prepare(stack: Stack, before: object) -> CheckedStack | None:
    """Checks the stack, unless it is the one that was checked before."""
    if torch.compiler.is_compiling():
        return None
    return before if isinstance(before, CheckedStack) and before.fits(stack) else CheckedStack.check(stack)


@dataclass(frozen=True, eq=False)
class LevelChoice:
    """The choices of a level; None where there is nothing to choose, or where every sample has its own choice."""

    functions: Selection | None  # [rows, C], or [rows, 2**n, 2] of look-up tables
    wires: Selection | None  # [n, rows, K]


def select(
    request: Request, prepared: CheckedStack | None, confidence: bool
) -> tuple[list[LevelChoice], list[Confidence]]:
    """Makes the choices of every level, and computes their confidence if asked for.

    Where every sample draws its own noise there are as many choices as samples; `run` makes them, a few at a time.
    """
    levels = request.stack.levels
    choices: list[LevelChoice] = []
    for level, rule in zip(levels, request.rules, strict=True):
        choices.append(_choose(level, rule) if level.repeats is None else choices[level.repeats])
    if not confidence:
        return choices, [Confidence() for _ in levels]
    confidences = []
    for level in levels:
        own = level.repeats is None
        functions = function_confidence(level)(level.logits) if own and level.logits is not None else None
        wires = None if level.wire_logits is None or not own else selection.confidence(level.wire_logits)
        confidences.append(Confidence(functions, wires))
    return choices, confidences


def function_confidence(level: Level) -> Callable[[torch.Tensor], torch.Tensor]:
    """What measures the confidence of the level's choices of functions, from their logits."""
    return selection.entry_confidence if isinstance(level.function, Entries) else selection.confidence


def _choose(level: Level, rule: Rule) -> LevelChoice:
    if _per_sample(level, rule):
        return LevelChoice(None, None)
    wires = level.wire_logits
    return LevelChoice(
        None if level.logits is None else choose_functions(level, level.logits, rule),
        None if wires is None else choose_wires(wires, rule),
    )


def choose_functions(level: Level, logits: torch.Tensor, rule: Rule) -> Selection:
    """The choices of functions of a level, shared by all samples; logits: those of the level, in any precision."""
    with_choices = _with_choices(level, logits)
    if rule.mode != "method":
        return selection.deployed(with_choices)
    noise = None
    if rule.noise and rule.method.noisy:
        rows, columns = logits.shape
        draw = logistic if isinstance(level.function, Entries) else gumbel
        noise = draw(rule.noise, rule.noise_stream, rows, columns, like=logits)
        noise = _with_choices(level, noise)
    return selection.choose(with_choices, rule.method, noise, rule.surrogate)


def _with_choices(level: Level, logits: torch.Tensor) -> torch.Tensor:
    assert not isinstance(level.function, Fixed)
    return level.function.with_choices(logits)


def choose_wires(logits: torch.Tensor, rule: Rule) -> Selection:
    """The choices of wires [n, rows, K] of a level."""
    if rule.mode != "method":
        return selection.deployed(logits)
    noise = wire_gumbel(rule.noise, rule.noise_stream, logits) if rule.noise and rule.wire_method.noisy else None
    return selection.choose(logits, rule.wire_method, noise, rule.surrogate)


def _per_sample(level: Level, rule: Rule) -> bool:
    return rule.noise is not None and rule.noise.per_sample and bool(level.parameters())


def run(request: Request, prepared: CheckedStack | None, choice: Sequence[LevelChoice]) -> torch.Tensor:
    """Maps x [batch, inputs] to [batch, columns] through all levels and the class sums; differentiable."""
    stack = request.stack
    parameters = stack.parameters()
    dtype = parameters[0].dtype if parameters else torch.float32
    h = _columns(request.x, dtype, deploy=request.mode == "deploy")
    made, read_later = {-1: h}, stack.read_later  # outputs that a later level reads
    for number, (level, rule, chosen) in enumerate(zip(stack.levels, request.rules, choice, strict=True)):
        if level.reads is not None:
            h = torch.cat([made[source.level][source.start : source.stop] for source in level.reads])
        h = _level(h, level, rule, chosen)
        if number in read_later:
            made[number] = h
    if stack.head is None:
        return h.T
    sums: torch.Tensor = h.unflatten(0, (stack.head.classes, -1)).sum(1, dtype=sum_dtype(h)).T
    return sums / stack.head.temperature


def sum_dtype(x: torch.Tensor) -> torch.dtype:
    """The type of class sums: at least float32, because bfloat16 has no whole numbers beyond 256 in steps of 1."""
    return torch.promote_types(x.dtype, torch.float32)


def _columns(x: Input, dtype: torch.dtype, deploy: bool) -> torch.Tensor:
    """The input as [inputs, batch], thresholded for the deployed pass."""
    h = x.unpack(dtype) if isinstance(x, Bits) else x.to(dtype)
    if deploy:
        h = (h > THRESHOLD).to(dtype)
    return h.T.contiguous()


def _level(h: torch.Tensor, level: Level, rule: Rule, chosen: LevelChoice) -> torch.Tensor:
    """Maps h [inputs, batch] to [neurons, batch] by one level."""
    if level.padded:  # the constant 0 is one more input, the last
        h = torch.cat([h, h.new_zeros(1, h.shape[1])])
    if chosen.wires is not None:
        return _wired_level(h, level, rule, chosen)
    wires = level.wires
    if level.padded:
        wires = torch.where(wires < 0, level.inputs, wires)
    if _per_sample(level, rule):
        return run_sampled(h, level, rule, *wires.unbind(0))
    return _functions(h, level, rule, chosen.functions, wires)


def _wired_level(h: torch.Tensor, level: Level, rule: Rule, chosen: LevelChoice) -> torch.Tensor:
    """A level that chooses its wires: first the values of the wires, then the functions."""
    assert chosen.wires is not None and rule.wire_tau is not None
    weights = chosen.wires.weights(rule.wire_tau.tau)
    wires = torch.arange(level.arity * level.neurons, device=h.device).view(level.arity, level.neurons)
    if rule.inputs_by_mixture or not rule.wires_by_mixture or chosen.functions is None:
        return _functions(_read_wires(h, level, weights), level, rule, chosen.functions, wires)
    out = _functions(_read_wires(h, level, weights.detach()), level, rule, chosen.functions, wires)
    # a second pass, from which only the logits of wires learn
    return out + _mixed(_read_wires(h.detach(), level, weights), level, rule, chosen.functions, wires)


def _functions(
    h: torch.Tensor, level: Level, rule: Rule, chosen: Selection | None, wires: torch.Tensor
) -> torch.Tensor:
    """The neurons of a level on the rows `wires` [n, neurons] of h."""
    if level.gradient == MAXIMUM:
        larger: torch.Tensor = _Maximum.apply(*(h.index_select(0, side) for side in wires))  # type: ignore[no-untyped-call]
        return larger
    if chosen is None:
        assert isinstance(level.function, Fixed)
        return _evaluate(h, h.new_tensor(level.function.table).expand(level.neurons, -1), wires)
    values = _values(level, chosen.weights(rule.tau.tau))
    if not rule.inputs_by_mixture:
        return _evaluate(h, values, wires)
    # a second pass, from which only the inputs get a gradient
    return _evaluate(h.detach(), values, wires) + _mixed(h, level, rule, chosen, wires)


def _mixed(h: torch.Tensor, level: Level, rule: Rule, chosen: Selection, wires: torch.Tensor) -> torch.Tensor:
    """Zeros whose gradient to h is that of the mixture of functions."""
    mixed = _evaluate(h, _values(level, chosen.mixture(rule.tau.tau)).detach(), wires)
    return mixed - mixed.detach()


def _values(level: Level, weights: torch.Tensor) -> torch.Tensor:
    """The outputs of each neuron at the corners, [neurons, 2**n], from the weights of its choices."""
    assert isinstance(level.function, (Choose, Entries))  # torch.compile of torch 2.6 cannot follow a union
    values = level.function.values(weights)
    return values if level.rows is None else values.index_select(0, level.rows)


def _evaluate(h: torch.Tensor, values: torch.Tensor, wires: torch.Tensor) -> torch.Tensor:
    """The multilinear extension of the values [neurons, 2**n] at the rows `wires` [n, neurons] of h."""
    if len(wires) > 2:
        extended: torch.Tensor = _Multilinear.apply(h, values, wires)  # type: ignore[no-untyped-call]
        return extended
    terms = torch.tensor(_TERMS, dtype=values.dtype, device=values.device)
    out: torch.Tensor = _Bilinear.apply(h, values @ terms, *wires.unbind(0))  # type: ignore[no-untyped-call]
    return out


def _read_wires(h: torch.Tensor, level: Level, weights: torch.Tensor) -> torch.Tensor:
    """All inputs of every neuron, [n * neurons, batch], by the weights [n, rows, K] of its candidates."""
    if level.rows is not None:
        weights = weights.index_select(1, level.rows)
    candidates = level.wires
    if level.padded:
        candidates = torch.where(candidates < 0, level.inputs, candidates)
    result: torch.Tensor = _Wires.apply(h, weights.flatten(0, 1), candidates.flatten(0, 1))  # type: ignore[no-untyped-call]
    return result


class _KeepsInputs(torch.autograd.Function):
    """Base of operations that keep only their inputs for the backward pass."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(*inputs)


class _Bilinear(_KeepsInputs):
    """out = c0 + c1*a + c2*b + c3*a*b with a = h[first], b = h[second].

    h [inputs, batch], c [neurons, 4], first and second [neurons] -> [neurons, batch]. Only h is kept for the
    backward pass; a and b are gathered again, which costs less than keeping them.
    """

    @staticmethod
    def forward(h: torch.Tensor, c: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        out = h.new_empty(len(first), h.shape[1])
        for part in _parts(*out.shape):
            a, b = h.index_select(0, first[part]), h.index_select(0, second[part])
            c0, c1, c2, c3 = c[part].unsqueeze(-1).unbind(1)
            # through many levels an error below 0 can double in each, as in OR(x, x) = 2x - x * x
            out[part] = torch.addcmul(c2, c3, a).mul_(b).addcmul_(c1, a).add_(c0).clamp_(0, 1)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        h, c, first, second = ctx.saved_tensors
        grad_h, sums = torch.zeros_like(h), []
        for part in _parts(*grad.shape):
            a, b, d = h.index_select(0, first[part]), h.index_select(0, second[part]), grad[part]
            _, c1, c2, c3 = c[part].unsqueeze(-1).unbind(1)
            da, db = a * d, b * d
            sums.append(torch.stack([d.sum(1), da.sum(1), db.sum(1), torch.einsum("nb,nb->n", a, db)], dim=1))
            if ctx.needs_input_grad[0]:  # d * (c1 + c3*b) to the first input, d * (c2 + c3*a) to the second
                grad_h.index_add_(0, first[part], torch.addcmul(c1 * d, c3, db))
                grad_h.index_add_(0, second[part], torch.addcmul(c2 * d, c3, da))
        return grad_h if ctx.needs_input_grad[0] else None, torch.cat(sums), None, None


class _Multilinear(_KeepsInputs):
    """Neurons of n inputs: h [inputs, batch], values [neurons, 2**n], wires [n, neurons] -> [neurons, batch].

    Only h is kept for the backward pass, which runs a few neurons forwards again at a time.
    """

    @staticmethod
    def forward(h: torch.Tensor, values: torch.Tensor, wires: torch.Tensor) -> torch.Tensor:
        out = h.new_empty(wires.shape[1], h.shape[1])
        for part in _parts(len(out), h.shape[1], values.shape[1]):
            out[part] = interpolate(values[part].unsqueeze(1), h[wires[:, part]].unbind(0)).clamp_(0, 1)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        h, values, wires = ctx.saved_tensors
        grad_h, grad_values = torch.zeros_like(h), torch.empty_like(values)
        for part in _parts(len(grad), h.shape[1], values.shape[1]):
            with torch.enable_grad():
                own, x = values[part].detach().requires_grad_(), h[wires[:, part]].detach().requires_grad_()
                out = interpolate(own.unsqueeze(1), x.unbind(0))
            grad_values[part], grad_x = torch.autograd.grad(out, (own, x), grad[part])
            if ctx.needs_input_grad[0]:
                grad_h.index_add_(0, wires[:, part].flatten(), grad_x.flatten(0, 1))
        return grad_h if ctx.needs_input_grad[0] else None, grad_values, None


class _Wires(_KeepsInputs):
    """out[n] = sum_k weights[n, k] * h[candidates[n, k]]: h [inputs, batch], weights and candidates [nodes, K].

    The weights get sum_b d * h[candidate]; the inputs get the gradient of the forward pass, so under one-hot weights
    only the chosen wire carries one. A candidate at a time: nothing of size nodes * K * batch is ever made.
    """

    @staticmethod
    def forward(h: torch.Tensor, weights: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        out = h.new_zeros(len(weights), h.shape[1])
        for part in _parts(*out.shape):
            for w, wire in zip(weights[part].unbind(1), candidates[part].unbind(1), strict=True):
                out[part] += w.unsqueeze(1) * h.index_select(0, wire)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        h, weights, candidates = ctx.saved_tensors
        grad_h, grad_weights = torch.zeros_like(h), torch.empty_like(weights)
        for part in _parts(*grad.shape):
            d = grad[part]
            for k, wire in enumerate(candidates[part].unbind(1)):
                grad_weights[part, k] = torch.einsum("nb,nb->n", d, h.index_select(0, wire))
                if ctx.needs_input_grad[0]:
                    grad_h.index_add_(0, wire, weights[part, k].unsqueeze(1) * d)
        return grad_h if ctx.needs_input_grad[0] else None, grad_weights, None


class _Maximum(torch.autograd.Function):
    """a OR b = a + b - a*b, whose gradient goes to the larger input, as in max-pooling; of equals to the first."""

    @staticmethod
    def forward(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b - a * b

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        a, b = inputs
        ctx.save_for_backward(a >= b)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        (to_first,) = ctx.saved_tensors
        return grad * to_first, grad * ~to_first


def _parts(neurons: int, batch: int, each: int = 1) -> Sequence[slice]:
    """Splits the neurons into parts whose activations take a few megabytes; each: of a neuron and sample."""
    if torch.compiler.is_compiling():
        return [slice(None)]  # a compiler fuses the operations instead
    size = max(1, PART // (batch * each))
    return [slice(start, start + size) for start in range(0, neurons, size)]
