"""The gap of the loss beside the paper's first-order bounds on it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from hardwire.engine.stack import MODES
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import selection_mode
from hardwire.layers.base import Passes
from hardwire.measure.gap import evaluating, rows_and_labels, scored
from hardwire.measure.nodes import open_weight
from hardwire.network import LogicNetwork


@dataclass(frozen=True)
class LossGap:
    """The loss gap |L(y^M) - L(y^hard)| of samples, and the paper's two first-order bounds on it.

    Both bounds leave out second-order terms. The bound by nodes also neglects that the last level reads different
    inputs in the two passes. So both can be exceeded.

    Attributes:
        actual_mean: The mean gap.
        actual_max: The largest gap.
        selection_mean: The mean of its selection part, |L(y^M) - L(y^soft)|.
        computation_mean: The mean of its computation part, |L(y^soft) - L(y^hard)|, which is 0 on binary inputs.
        holder_mean: The mean of the bound 2 (1 - sigma_y) max_c |y^M_c - y^hard_c|.
        nodes_mean: The mean of the bound that has in place of the logit gap the most uncommitted class,
            max_c sum_n (1 - w_n,i*) / group temperature over the last level.
        holder_exceeded: The share of samples whose gap is above the first bound.
        nodes_exceeded: The share of samples whose selection part is above the second bound, which is about it alone.
        nodes_exceeded_in_all: The share of samples whose whole gap is above the second bound.
        samples: The number of samples.

    Example:
        >>> gap = hw.loss_bound(net, data.test)  # doctest: +SKIP
        >>> print(f"{gap.holder_exceeded:.1%} of the samples exceed the first bound")  # doctest: +SKIP
    """

    actual_mean: float
    actual_max: float
    selection_mean: float
    computation_mean: float
    holder_mean: float
    nodes_mean: float
    holder_exceeded: float
    nodes_exceeded: float
    nodes_exceeded_in_all: float
    samples: int


@torch.no_grad()
def loss_bound(net: LogicNetwork, data: Any, batch_size: int = 1000) -> LossGap:
    """Compares the paper's bounds on the loss gap with the actual cross-entropy gap.

    Args:
        net: The network.
        data: A split with .x and .y, or a pair (x, y).
        batch_size: Samples at a time.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=2, method="hard-st", seed=0)
        >>> hw.loss_bound(net, data.test).actual_max
        0.0
    """
    if not isinstance(net, LogicNetwork):
        raise HardwireError(f"the loss bound is that of a LogicNetwork, not of {type(net).__name__}")
    x, y = rows_and_labels(data)
    batch_size = whole_number("batch_size", batch_size)
    passes, uncommitted = {}, []
    with evaluating(net):
        for mode in MODES:
            with selection_mode(net, mode):
                batches = []
                for start in range(0, len(y), batch_size):
                    part = x[start : start + batch_size], y[start : start + batch_size]
                    if mode == "method":  # before the pass, which uses up this draw
                        uncommitted.append(_uncommitted_class(net, len(part[1])))
                    batches += [scores.double() for scores, _ in scored(net, *part, batch_size)]
                passes[mode] = torch.cat(batches)
    y = y.to(passes["method"].device)
    losses = {mode: F.cross_entropy(scores, y, reduction="none") for mode, scores in passes.items()}
    actual = (losses["method"] - losses["deploy"]).abs()
    selection, computation = (losses["method"] - losses["argmax"]).abs(), (losses["argmax"] - losses["deploy"]).abs()
    holder = _slope(passes["deploy"], y) * (passes["method"] - passes["deploy"]).abs().amax(1)
    nodes = _slope(passes["argmax"], y) * torch.cat(uncommitted).to(y.device)
    return LossGap(
        actual_mean=actual.mean().item(),
        actual_max=actual.max().item(),
        selection_mean=selection.mean().item(),
        computation_mean=computation.mean().item(),
        holder_mean=holder.mean().item(),
        nodes_mean=nodes.mean().item(),
        holder_exceeded=_share_above(actual, holder),
        nodes_exceeded=_share_above(selection, nodes),
        nodes_exceeded_in_all=_share_above(actual, nodes),
        samples=len(y),
    )


def _slope(scores: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|dL/dy|_1 of the cross-entropy at these scores for each sample, 2 (1 - sigma_y)."""
    return 2 * (1 - torch.softmax(scores, -1).gather(1, y.unsqueeze(1)).squeeze(1))


def _share_above(gap: torch.Tensor, bound: torch.Tensor) -> float:
    return (gap > bound + 1e-9).double().mean().item()


def _uncommitted_class(net: LogicNetwork, samples: int) -> torch.Tensor:
    """The maximum over classes of the sum of 1 - w_i* over their neurons, in units of the scores, [samples].

    The weights are those of the method's next pass; samples that share a draw have the same number.
    """
    parts = net.parts()
    level, rule = parts[-1].level, Passes(parts, "method", training=False).rules()[-1]
    if level.logits is None:
        return torch.zeros(samples, dtype=torch.float64)
    uncommitted = open_weight(level, rule, samples)
    uncommitted = uncommitted if level.rows is None else uncommitted[..., level.rows.long()]
    by_class: torch.Tensor = uncommitted.unflatten(-1, (net.classes, -1)).sum(-1).amax(-1)
    return (by_class / net.group_sum.temperature_for(level.neurons)).expand(samples)
