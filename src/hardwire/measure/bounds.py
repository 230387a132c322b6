"""The paper's bounds beside what they bound: the selection gap of every node, and the gap of the loss."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from hardwire.bits import Bits
from hardwire.engine.reference import gate_weights, wire_weights
from hardwire.engine.stack import MODES, Input, Level, Rule
from hardwire.errors import HardwireError, whole_number
from hardwire.gates import COEFFICIENTS, GATES
from hardwire.layers import Fused, selection_mode
from hardwire.layers.base import Passes
from hardwire.measure.choices import choosers, parts_in
from hardwire.measure.gap import evaluating, rows_and_labels, scored
from hardwire.network import LogicNetwork
from hardwire.selection import pick

_CHUNK = 1 << 21  # nodes x samples at a time in `node_gaps`: 16 MB for each float64 array


@dataclass(frozen=True)
class NodeGap:
    """One level's nodes over a batch: the actual gap |sum_i w_i (g_i - g_i*)| beside its bound (1 - w_i*) Delta_max.

    violations counts (node, sample) pairs above their bound by more than float64 rounding.
    """

    actual_mean: float
    actual_max: float
    bound_mean: float
    bound_max: float
    violations: int


@dataclass(frozen=True)
class LossGap:
    """The loss gap |L(y^M) - L(y^hard)| of a sample, and the paper's two first-order bounds on it.

    selection, computation: its two parts, |L(y^M) - L(y^soft)| and |L(y^soft) - L(y^hard)|; the latter is 0 on binary
    inputs. holder: 2 (1 - sigma_y) max_c |y^M_c - y^hard_c|. nodes: the most uncommitted class instead of the logit
    gap, max_c sum_n (1 - w_n,i*) / group temperature over the last level with the weights of the sample's own draw. It
    speaks of selection alone: nodes_exceeded compares it with the selection part, nodes_exceeded_in_all with the whole.
    Both bounds leave out second-order terms, and `nodes` also that the last level reads different inputs in the two
    passes; so they can be exceeded, and ..._exceeded are the shares of samples where they are.
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
def node_gaps(model: nn.Module, x: Input) -> list[NodeGap]:
    """For each level the selection gap of its nodes on x [rows, inputs], beside the paper's unified bound.

    The inputs of a level are those of the method's pass. The effective weights w are one-hot for hard-st (both sides
    are then exactly 0), softmax(z / tau) for soft-mix, softmax((z + G) / tau) for soft-gumbel, and softmax(z) for
    gumbel-st, whose gap is the expected one. All is computed in float64, where each side is off by at most some
    1e-14; a violation is an excess above 1e-12.
    """
    if len(x) == 0:
        raise HardwireError("the batch is empty; give at least one row")
    widest = max(max(part.level.inputs, part.level.neurons) for part in parts_in(model))
    rows = max(1, _CHUNK // widest)
    tallies: list[_Tally] = []
    for start in range(0, len(x), rows):
        chunk = list(_node_tallies(model, x[start : start + rows]))
        tallies = [a.add(b) for a, b in zip(tallies, chunk, strict=True)] if tallies else chunk
    return [tally.result() for tally in tallies]


@torch.no_grad()
def loss_bound(net: LogicNetwork, data: Any, batch_size: int = 1000) -> LossGap:
    """The paper's loss gap bound beside the actual cross-entropy gap, on a split or a pair (x, y)."""
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
                    if mode == "method":  # before the pass, which goes on to the next draw
                        uncommitted.append(torch.full((len(part[1]),), _uncommitted_class(net), dtype=torch.float64))
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
    """|dL/dy|_1 of cross entropy at these scores: 2 (1 - sigma_y), for each sample."""
    return 2 * (1 - torch.softmax(scores, -1).gather(1, y.unsqueeze(1)).squeeze(1))


def _share_above(gap: torch.Tensor, bound: torch.Tensor) -> float:
    return (gap > bound + 1e-9).double().mean().item()


@dataclass
class _Tally:
    """Running sums of one level's node gaps."""

    actual_sum: float
    actual_max: float
    bound_sum: float
    bound_max: float
    violations: int
    count: int

    @classmethod
    def of(cls, actual: torch.Tensor, bound: torch.Tensor) -> "_Tally":
        return cls(
            actual.sum().item(),
            actual.max().item(),
            bound.sum().item(),
            bound.max().item(),
            int((actual > bound + 1e-12).sum()),
            actual.numel(),
        )

    def add(self, other: "_Tally") -> "_Tally":
        return _Tally(
            self.actual_sum + other.actual_sum,
            max(self.actual_max, other.actual_max),
            self.bound_sum + other.bound_sum,
            max(self.bound_max, other.bound_max),
            self.violations + other.violations,
            self.count + other.count,
        )

    def result(self) -> NodeGap:
        mean_actual, mean_bound = self.actual_sum / self.count, self.bound_sum / self.count
        return NodeGap(mean_actual, self.actual_max, mean_bound, self.bound_max, self.violations)


def _node_tallies(model: nn.Module, x: Input) -> Iterator[_Tally]:
    """One tally for each level that chooses its gates."""
    for chooser, given in _inputs_of_choosers(model, x):
        h = given.unpack(torch.float64) if isinstance(given, Bits) else given.double()
        for level, rule in method_rules(chooser):
            a, b = _both_inputs(h, level, rule)
            if level.gate_logits is None:
                h = _mix(_fixed_weights(level, a), a, b)
                continue
            forward, effective, deployed = (_by_neuron(w, level) for w in node_weights(level.gate_logits, rule))
            others = effective * (1 - deployed)  # summed without the winner: exact where 1 - w would cancel
            rest = others.sum(-1)
            g = _mix(deployed, a, b)
            actual = _mix(others - rest.unsqueeze(-1) * deployed, a, b).abs()
            bound = rest * torch.maximum(g, 1 - g)  # FALSE and TRUE are among the gates
            yield _Tally.of(actual, bound)
            h = _mix(forward, a, b)


def method_rules(chooser: Fused) -> list[tuple[Level, Rule]]:
    """The levels of a network or layer, each with its rule in the first evaluation by the method's own pass."""
    parts = chooser.parts()
    with selection_mode(chooser, "method"):  # begins the draws anew, as every measurement does
        rules = Passes(parts, "method", training=False).rules()
    return [(part.level, rule) for part, rule in zip(parts, rules, strict=True)]


def node_weights(logits: torch.Tensor, rule: Rule) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weights [rows, 16] of the method's pass, the effective ones of the theorem, and the deployed one-hot."""
    z = logits.detach().double()
    forward, deployed = gate_weights(z, rule), pick(z)
    expected = rule.method.hard and rule.method.noisy
    return forward, torch.softmax(z, -1) if expected else forward, deployed


def _by_neuron(weights: torch.Tensor, level: Level) -> torch.Tensor:
    return weights if level.rows is None else weights[level.rows.long()]


def _fixed_weights(level: Level, like: torch.Tensor) -> torch.Tensor:
    assert level.gate is not None
    weights = like.new_zeros(level.neurons, len(GATES))
    weights[:, level.gate] = 1.0
    return weights


def _both_inputs(h: torch.Tensor, level: Level, rule: Rule) -> tuple[torch.Tensor, torch.Tensor]:
    """h [rows, inputs] -> what the two inputs of each neuron read in this pass, [rows, neurons] each."""
    if level.padded:
        h = torch.cat([h, h.new_zeros(len(h), 1)], dim=1)  # index -1 is the constant 0
    if level.wire_logits is None:
        return h[:, level.wires[0].long()], h[:, level.wires[1].long()]
    weights = wire_weights(level.wire_logits.detach().double(), rule)
    if level.rows is not None:
        weights = weights[:, level.rows.long()]
    a, b = (
        sum(w * h[:, wire.long()] for w, wire in zip(side.unbind(-1), wires.unbind(-1), strict=True))
        for side, wires in zip(weights, level.wires, strict=True)
    )
    assert isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    return a, b


def _inputs_of_choosers(model: nn.Module, x: Input) -> list[tuple[Fused, Input]]:
    """(module, its input) for every network and layer, in the order the method's pass reaches them."""
    seen: list[tuple[Fused, Input]] = []
    hooks = [
        module.register_forward_pre_hook(lambda module, args: seen.append((module, args[0])))
        for module in choosers(model)
    ]
    try:
        with evaluating(model), selection_mode(model, "method"):
            model(x.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def _mix(weights: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The weighted sum of the 16 gates: weights [neurons, 16], a and b [rows, neurons] -> [rows, neurons]."""
    c0, c1, c2, c3 = (weights @ torch.tensor(COEFFICIENTS, dtype=weights.dtype, device=weights.device)).unbind(-1)
    return c0 + c1 * a + (c2 + c3 * a) * b


def _uncommitted_class(net: LogicNetwork) -> float:
    """max over classes of sum over its neurons of (1 - w_i*), in units of the scores, in the method's next pass."""
    parts = net.parts()
    level, rule = parts[-1].level, Passes(parts, "method", training=False).rules()[-1]
    if level.gate_logits is None:
        return 0.0
    _, effective, deployed = node_weights(level.gate_logits, rule)
    open_weight = _by_neuron((effective * (1 - deployed)).sum(-1), level)
    temperature = net.group_sum.temperature_for(level.neurons)
    result: float = open_weight.unflatten(0, (net.classes, -1)).sum(-1).max().item() / temperature
    return result
