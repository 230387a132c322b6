"""The reference engine: plain torch, any device, the judge of every other engine.

A layer is four numbers per neuron, out = c0 + c1*a + c2*b + c3*a*b, whatever the method; the method decides how logits
become these numbers, and autograd takes the four batch sums of the backward pass from there to the 16 logits.
Surprising: activations run feature-major, [features, batch], because gathering whole rows is what memory likes.
"""

import torch

from hardwire import selection
from hardwire.bits import Bits
from hardwire.gates import COEFFICIENTS, THRESHOLD
from hardwire.noise import gumbel

_COEFFICIENTS = COEFFICIENTS.tolist()  # numbers, because torch.compile warns about arrays


PART = 1 << 20  # activations handled at a time


def supports(x, logits) -> bool:
    return True


def run_layer(x, logits, wiring, plan) -> torch.Tensor:
    """x [batch, inputs] (floats in [0, 1] or Bits), logits [neurons, 16], wiring [2, neurons] -> [batch, neurons]."""
    _advance([logits], plan)
    return _gates(_columns(x, logits.dtype, plan), logits, wiring, plan, layer=0).T


def run_network(x, logits, wirings, plan, classes: int, group_temperature: float) -> torch.Tensor:
    """x [batch, inputs] through all layers and the class sums -> scores [batch, classes].

    logits, wirings: one tensor a layer, [neurons, 16] and [2, neurons].
    """
    _advance(logits, plan)
    h = _columns(x, logits[0].dtype, plan)
    for layer, (z, wiring) in enumerate(zip(logits, wirings, strict=True)):
        h = _gates(h, z, wiring, plan, layer)
    return h.unflatten(0, (classes, -1)).sum(1).T / group_temperature


def _advance(logits, plan) -> None:
    """Moves the temperature; with CAGE by the confidence over all nodes, each node counting the same."""
    if not plan.advance:
        return
    confidence = None
    if plan.temperature.uses_confidence:
        nodes = sum(z.shape[0] for z in logits)
        confidence = sum(selection.confidence(z) * (z.shape[0] / nodes) for z in logits)
    plan.temperature.advance(confidence)


def _columns(x, dtype, plan) -> torch.Tensor:
    """Input as [inputs, batch]; thresholded where hard gates are meant."""
    h = x.unpack(dtype) if isinstance(x, Bits) else x.to(dtype)
    if plan.mode == "deploy":
        h = (h > THRESHOLD).to(dtype)
    return h.T.contiguous()


def _gates(h, logits, wiring, plan, layer) -> torch.Tensor:
    """One layer: h [inputs, batch] -> [neurons, batch]."""
    matrix = torch.tensor(_COEFFICIENTS, dtype=logits.dtype, device=logits.device)
    return _Bilinear.apply(h, _weights(logits, plan, layer) @ matrix, wiring[0], wiring[1])


def _weights(logits, plan, layer) -> torch.Tensor:
    """The 16 selection weights of each neuron, [neurons, 16]."""
    if plan.mode != "method":
        return selection.pick(selection.check_logits(logits.detach()))
    noise = gumbel(plan.noise, layer, *logits.shape, like=logits) if plan.method.noisy else None
    # a copy, because the next training step moves tau in place while this graph may still be alive
    return selection.selection_weights(logits, plan.method, plan.temperature.tau.clone(), noise)


class _Bilinear(torch.autograd.Function):
    """out = c0 + c1*a + c2*b + c3*a*b with a = h[first], b = h[second].

    h [inputs, batch], c [neurons, 4], first and second [neurons] -> [neurons, batch]. Only h is kept for the
    backward pass; a and b are gathered again, which costs less than keeping them.
    """

    @staticmethod
    def forward(h, c, first, second):
        out = h.new_empty(len(first), h.shape[1])
        for part in _parts(*out.shape):
            a, b = h.index_select(0, first[part]), h.index_select(0, second[part])
            c0, c1, c2, c3 = c[part].unsqueeze(-1).unbind(1)
            out[part] = torch.addcmul(c2, c3, a).mul_(b).addcmul_(c1, a).add_(c0)
        return out

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
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


def _parts(neurons: int, batch: int) -> list[slice]:
    """The neurons in parts whose activations, and what is computed from them on the way, take few megabytes."""
    if torch.compiler.is_compiling():
        return [slice(None)]  # a compiler fuses what we would otherwise split
    size = max(1, PART // batch)
    return [slice(start, start + size) for start in range(0, neurons, size)]
