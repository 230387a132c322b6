"""The reference engine: plain torch, any device, every kind of level; the judge of every other engine.

A level is four numbers per neuron, out = c0 + c1*a + c2*b + c3*a*b, whatever the method; the method decides how logits
become these numbers, and autograd takes the four batch sums of the backward pass from there to the 16 logits.
Surprising: activations run feature-major, [features, batch], because gathering whole rows is what memory likes.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch

from hardwire import selection
from hardwire.bits import Bits
from hardwire.engine.checks import Seen
from hardwire.engine.sampled import run_sampled
from hardwire.engine.stack import MAXIMUM, Confidence, Input, Level, Request, Rule, Stack
from hardwire.gates import COEFFICIENTS, GATES, THRESHOLD
from hardwire.noise import gumbel, wire_gumbel

_COEFFICIENTS = COEFFICIENTS.tolist()  # numbers, because torch.compile warns about arrays

PART = 1 << 20  # activations handled at a time


def supports(request: Request) -> bool:
    return True


def prepare(stack: Stack, before: object) -> Seen | None:
    """Nothing is kept from one pass to the next but that the stack has been checked."""
    if torch.compiler.is_compiling():
        return None
    return before if isinstance(before, Seen) and before.fits(stack) else Seen.check(stack)


def select(request: Request, prepared: Seen | None, confidence: bool) -> tuple[None, list[Confidence]]:
    """The confidence of every level's choices, if asked for; the choices themselves `run` makes again."""
    if not confidence:
        return None, [Confidence() for _ in request.stack.levels]
    found = []
    for level in request.stack.levels:
        gates, wires = (None if z is None else selection.confidence(z) for z in (level.gate_logits, level.wire_logits))
        found.append(Confidence(gates, wires))
    return None, found


def run(request: Request, prepared: Seen | None, choice: None) -> torch.Tensor:
    """x [batch, inputs] through all levels and the class sums -> [batch, columns]; differentiable in logits and x."""
    stack, rules = request.stack, request.rules
    parameters = stack.parameters()
    dtype = parameters[0].dtype if parameters else torch.float32
    h = _columns(request.x, dtype, deploy=request.mode == "deploy")
    for level, rule in zip(stack.levels, rules, strict=True):
        h = _level(h, level, rule)
    if stack.head is None:
        return h.T
    result: torch.Tensor = h.unflatten(0, (stack.head.classes, -1)).sum(1).T / stack.head.temperature
    return result


def _columns(x: Input, dtype: torch.dtype, deploy: bool) -> torch.Tensor:
    """Input as [inputs, batch]; thresholded where hard gates are meant."""
    h = x.unpack(dtype) if isinstance(x, Bits) else x.to(dtype)
    if deploy:
        h = (h > THRESHOLD).to(dtype)
    return h.T.contiguous()


def _level(h: torch.Tensor, level: Level, rule: Rule) -> torch.Tensor:
    """One level: h [inputs, batch] -> [neurons, batch]."""
    if level.padded:  # the constant 0 is one more input, the last
        h = torch.cat([h, h.new_zeros(1, h.shape[1])])
    below = h
    if level.wire_logits is not None:
        weights = wire_weights(level.wire_logits, rule)
        learning = rule.wires_by_mixture and not rule.inputs_by_mixture and level.gate_logits is not None
        h = _read_wires(below, level, weights.detach() if learning else weights)
        first = torch.arange(level.neurons, device=h.device)
        second = first + level.neurons
        if learning:  # a second pass: only the logits of wires hear of it
            soft = _read_wires(below.detach(), level, weights)
            return _bilinear(h, _coefficients(level, rule, h), first, second) + _mixed(soft, level, rule, first, second)
    else:
        first, second = level.wires.unbind(0)
        if level.padded:
            first, second = (torch.where(side < 0, level.inputs, side) for side in (first, second))
    if rule.noise and rule.noise.per_sample and level.parameters():
        return run_sampled(h, level, rule, first, second)
    if level.gradient == MAXIMUM:
        larger: torch.Tensor = _Maximum.apply(h.index_select(0, first), h.index_select(0, second))  # type: ignore[no-untyped-call]
        return larger
    if rule.inputs_by_mixture and level.gate_logits is not None:  # a second pass: only the inputs hear of it
        picked = _bilinear(h.detach(), _coefficients(level, rule, h), first, second)
        return picked + _mixed(h, level, rule, first, second)
    return _bilinear(h, _coefficients(level, rule, h), first, second)


def _mixed(h: torch.Tensor, level: Level, rule: Rule, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Zeros with the gradient that h would have if the gates were mixed."""
    mixed = _bilinear(h, _mixture_coefficients(level, rule), first, second)
    return mixed - mixed.detach()


def _bilinear(h: torch.Tensor, c: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = _Bilinear.apply(h, c, first, second)  # type: ignore[no-untyped-call]
    return out


def _coefficients(level: Level, rule: Rule, like: torch.Tensor) -> torch.Tensor:
    """The four numbers of each neuron, [neurons, 4]."""
    if level.gate_logits is None:
        assert level.gate is not None
        return like.new_tensor(GATES[level.gate].coefficients).expand(level.neurons, -1)
    logits = level.gate_logits
    matrix = torch.tensor(_COEFFICIENTS, dtype=logits.dtype, device=logits.device)
    mixed = gate_weights(logits, rule) @ matrix
    return mixed if level.rows is None else mixed.index_select(0, level.rows)


def _mixture_coefficients(level: Level, rule: Rule) -> torch.Tensor:
    """What the four numbers would be if the gates were mixed; a constant."""
    soft = dataclasses.replace(rule, method=dataclasses.replace(rule.method, hard=False))
    assert level.gate_logits is not None
    return _coefficients(level, soft, level.gate_logits).detach()


def gate_weights(logits: torch.Tensor, rule: Rule) -> torch.Tensor:
    """The weights of the 16 gates in this pass, [rows, 16]."""
    if rule.mode != "method":
        return selection.pick(selection.check_logits(logits.detach()))
    noise = (
        gumbel(rule.noise, rule.place, len(logits), len(GATES), like=logits)
        if rule.noise and rule.method.noisy
        else None
    )
    return selection.selection_weights(logits, rule.method, rule.heat.tau, noise)


def wire_weights(logits: torch.Tensor, rule: Rule) -> torch.Tensor:
    """The weights of the K candidates of each input in this pass, [2, rows, K]."""
    if rule.mode != "method":
        return selection.pick(selection.check_logits(logits.detach()))
    assert rule.wire_heat is not None
    noise = wire_gumbel(rule.noise, rule.place, logits) if rule.noise and rule.wire_method.noisy else None
    return selection.selection_weights(logits, rule.wire_method, rule.wire_heat.tau, noise)


def _read_wires(h: torch.Tensor, level: Level, weights: torch.Tensor) -> torch.Tensor:
    """Both inputs of every neuron, [2 * neurons, batch], by the weights [2, rows, K] of its candidates."""
    if level.rows is not None:
        weights = weights.index_select(1, level.rows)
    candidates = level.wires
    if level.padded:
        candidates = torch.where(candidates < 0, level.inputs, candidates)
    result: torch.Tensor = _Wires.apply(h, weights.flatten(0, 1), candidates.flatten(0, 1))  # type: ignore[no-untyped-call]
    return result


class _KeepsInputs(torch.autograd.Function):
    """Base of operations that keep just their inputs for the backward pass."""

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
            out[part] = torch.addcmul(c2, c3, a).mul_(b).addcmul_(c1, a).add_(c0)
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
    """a OR b, a + b - a*b, whose gradient goes to the larger input (the first of equals), as max-pooling has it."""

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


def _parts(neurons: int, batch: int) -> Sequence[slice]:
    """The neurons in parts whose activations, and what is computed from them on the way, take few megabytes."""
    if torch.compiler.is_compiling():
        return [slice(None)]  # a compiler fuses what we would otherwise split
    size = max(1, PART // batch)
    return [slice(start, start + size) for start in range(0, neurons, size)]
