"""Noise for each sample, in the reference engine: every sample of a batch makes its own noisy choice of gates.

The paper does not say whether a batch shares one draw. Here every neuron and sample has its own weights, and nothing
can be summed over the batch before the softmax. Weights are computed for a few neurons at a time, and again in the
backward pass.
"""

from typing import Any

import torch

from hardwire.engine.functions import Choose
from hardwire.engine.stack import Level, Rule
from hardwire.errors import HardwireError
from hardwire.gates import COEFFICIENTS, GATES
from hardwire.noise import sample_race
from hardwire.selection import check_logits

_PART = 1 << 22  # weights handled at a time


def run_sampled(h: torch.Tensor, level: Level, rule: Rule, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Maps h [inputs, batch] to [neurons, batch]; first and second [neurons] are the rows of h that neurons read."""
    if level.wire_logits is not None:
        raise HardwireError("noise='sample' is for fixed wires; use noise='pass' with learned ones")
    if not isinstance(level.function, Choose) or not level.function.is_gates:
        raise HardwireError("noise='sample' is for two-input gates; use noise='pass' with look-up tables")
    assert rule.method.noisy
    logits = check_logits(level.function.logits)
    rows = torch.arange(level.neurons, device=h.device) if level.rows is None else level.rows
    result: torch.Tensor = _Sampled.apply(h, logits.index_select(0, rows), first, second, rows, rule)  # type: ignore[no-untyped-call]
    return result


class _Sampled(torch.autograd.Function):
    """out = sum_i w_i g_i(a, b), with weights w [16] of each neuron and sample from its own noisy logits."""

    @staticmethod
    def forward(
        ctx: Any,
        h: torch.Tensor,
        logits: torch.Tensor,
        first: torch.Tensor,
        second: torch.Tensor,
        rows: torch.Tensor,
        rule: Rule,
    ) -> torch.Tensor:
        ctx.save_for_backward(h, logits, first, second, rows)
        ctx.rule = rule
        out = h.new_empty(len(first), h.shape[1])
        for part in _parts(*out.shape):
            a, b = h.index_select(0, first[part]), h.index_select(0, second[part])
            hard, soft = _weights(logits[part], rows[part], rule, h.shape[1])
            out[part] = (_features(a, b) * ((hard if rule.method.hard else soft) @ _matrix(h))).sum(-1).clamp_(0, 1)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        h, logits, first, second, rows = ctx.saved_tensors
        rule: Rule = ctx.rule
        grad_h, grad_logits = torch.zeros_like(h), torch.empty_like(logits)
        for part in _parts(*grad.shape):
            a, b, d = h.index_select(0, first[part]), h.index_select(0, second[part]), grad[part].unsqueeze(-1)
            hard, soft = _weights(logits[part], rows[part], rule, h.shape[1])
            values = _features(a, b) @ _matrix(h).T  # of all 16 gates
            mean = (soft * values).sum(-1, keepdim=True)
            grad_logits[part] = (d * soft * (values - mean)).sum(1) / rule.tau.tau
            chosen = rule.method.hard and not rule.inputs_by_mixture
            _, c1, c2, c3 = ((hard if chosen else soft) @ _matrix(h)).unbind(-1)
            grad_h.index_add_(0, first[part], grad[part] * (c1 + c3 * b))
            grad_h.index_add_(0, second[part], grad[part] * (c2 + c3 * a))
        return grad_h if ctx.needs_input_grad[0] else None, grad_logits, None, None, None, None


def _weights(logits: torch.Tensor, rows: torch.Tensor, rule: Rule, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The chosen gate as one-hot weights, and the softmax, both [nodes, batch, 16]."""
    assert rule.noise is not None
    winner, noisy = sample_race(rule.noise, rule.noise_stream, rows, batch, logits)
    chosen = torch.nn.functional.one_hot(winner, len(GATES)).to(logits.dtype)
    surrogate = logits.unsqueeze(1).expand_as(noisy) if rule.clean_surrogate else noisy
    return chosen, torch.softmax(surrogate / rule.tau.tau, -1)


def _features(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """1, a, b and a*b on the last axis, which the four coefficients of a gate multiply."""
    return torch.stack([torch.ones_like(a), a, b, a * b], dim=-1)


def _matrix(like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(COEFFICIENTS, dtype=like.dtype, device=like.device)


def _parts(neurons: int, batch: int) -> list[slice]:
    size = max(1, _PART // (batch * len(GATES)))
    return [slice(start, min(start + size, neurons)) for start in range(0, neurons, size)]
