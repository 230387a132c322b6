"""The selection gap of every node, and the paper's bound on it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from hardwire.bits import Bits
from hardwire.engine.functions import Choose, Entries, Fixed, interpolate
from hardwire.engine.reference import choose_functions, choose_wires
from hardwire.engine.stack import Input, Level, Rule, Source
from hardwire.errors import HardwireError
from hardwire.layers import Fused, Selector, selection_mode
from hardwire.layers.base import Passes
from hardwire.measure.choices import parts_in, selecting_modules
from hardwire.measure.gap import evaluating
from hardwire.noise import sample_race
from hardwire.selection import pick

_CHUNK = 1 << 21  # nodes x samples at a time: 16 MB for each float64 array


@dataclass(frozen=True)
class NodeGap:
    """The selection gap of the nodes of one level over a batch.

    Attributes:
        actual_mean: The mean gap |sum_i w_i (g_i - g_i*)| over nodes and samples.
        actual_max: The largest gap.
        bound_mean: The mean bound (1 - w_i*) Delta_max.
        bound_max: The largest bound.
        violations: The number of (node, sample) pairs whose gap is above their bound by more than float64 rounding.
    """

    actual_mean: float
    actual_max: float
    bound_mean: float
    bound_max: float
    violations: int


@torch.no_grad()
def node_gaps(model: nn.Module, x: Input) -> list[NodeGap]:
    """The selection gap of the nodes of each level, and the paper's unified bound on it.

    The inputs of a level are those of the method's pass. The effective weights w are one-hot for hard-st (gap and bound
    are then exactly 0), softmax(z / tau) for soft-mix, softmax((z + G) / tau) for soft-gumbel, and softmax(z) for
    gumbel-st, whose gap is the expected one. Everything is computed in float64, with errors around 1e-14; a violation
    is an excess above 1e-12.

    Args:
        model: A network, or any module that holds layers of gates.
        x: Rows [rows, inputs].

    Returns:
        A NodeGap for each level that chooses its gates.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=2, method="soft-mix", seed=0)
        >>> [gap.violations for gap in hw.node_gaps(net, data.test.x[:32])]
        [0, 0]
    """
    if len(x) == 0:
        raise HardwireError("the batch is empty; give at least one row")
    parts = parts_in(model)
    widest = max(max(part.level.inputs, part.level.neurons) for part in parts)
    per_sample = any(part.selector is not None and part.selector.noise == "sample" for part in parts)
    each = max(part.level.function.entries for part in parts) // 4
    rows = max(1, _CHUNK // (widest * (16 if per_sample else each)))
    tallies: list[_Tally] = []
    for number, start in enumerate(range(0, len(x), rows)):
        chunk = list(_node_tallies(model, x[start : start + rows], draw=number if per_sample else 0))
        tallies = [a.add(b) for a, b in zip(tallies, chunk, strict=True)] if tallies else chunk
    return [tally.result() for tally in tallies]


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


def _node_tallies(model: nn.Module, x: Input, draw: int) -> Iterator[_Tally]:
    """One tally for each level that chooses its functions."""
    for module, given in _selecting_inputs(model, x, draw):
        h = given.unpack(torch.float64) if isinstance(given, Bits) else given.double()
        made, tallies = [h.flatten(1)], dict[int, _Tally]()
        for number, (level, rule) in enumerate(_method_rules(module, draw)):
            reads = level.reads or (Source(number - 1, 0, level.inputs),)
            h = torch.cat([made[source.level + 1][:, source.start : source.stop] for source in reads], dim=1)
            inputs = _inputs(h, level, rule)
            if isinstance(level.function, Fixed):
                made.append(interpolate(h.new_tensor(level.function.table), inputs))
                continue
            forward, effective, deployed = _node_values(level, rule, len(h))
            tally = _Tally.of(*_gap_and_bound(level, effective, deployed, inputs))
            own = number if level.repeats is None else level.repeats
            tallies[own] = tallies[own].add(tally) if own in tallies else tally
            made.append(interpolate(_by_neuron(forward, level), inputs))
        yield from tallies.values()


def _gap_and_bound(
    level: Level, effective: torch.Tensor, deployed: torch.Tensor, inputs: list[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """|sum_i w_i (g_i - g_i*)| of every node and sample, and its bound, from effective and one-hot weights.

    The sum leaves the winner out, which is exact where 1 - w would cancel.
    """
    assert isinstance(level.function, Choose | Entries)
    others = effective * (1 - deployed)
    rest = others.sum(-1, keepdim=True)
    change = _by_neuron(level.function.values(others - rest * deployed), level)
    actual = interpolate(change, inputs).abs()
    if isinstance(level.function, Entries):  # what each address may lose, by how much of the sample is there
        return actual, interpolate(_by_neuron(rest.squeeze(-1), level), inputs)
    g = interpolate(_by_neuron(level.function.values(deployed), level), inputs)
    open_share = rest.squeeze(-1) if level.rows is None else rest.squeeze(-1)[..., level.rows.long()]
    return actual, open_share * torch.maximum(g, 1 - g)  # FALSE and TRUE are among the gates


@contextlib.contextmanager
def _method_pass(model: nn.Module, draw: int) -> Iterator[None]:
    """Makes a model run its method's own pass with the noise of evaluation number `draw`, inside a with block."""
    with selection_mode(model, "method"):
        for module in model.modules():
            if isinstance(module, Selector):
                module.draws = draw
        yield


def _method_rules(module: Fused, draw: int) -> list[tuple[Level, Rule]]:
    """The levels of a network or layer, each with its rule in the method's pass of evaluation number `draw`."""
    parts = module.parts()
    with _method_pass(module, draw):
        rules = Passes(parts, "method", training=False).rules()
    return [(part.level, rule) for part, rule in zip(parts, rules, strict=True)]


def _node_values(level: Level, rule: Rule, samples: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The values [rows, 2**n] of the method's pass, the effective weights of the theorem, and the deployed ones.

    Where every sample draws for itself, the first two are [samples, rows, ...].
    """
    assert isinstance(level.function, Choose | Entries)
    z = level.function.logits.double()
    with_choices = level.function.with_choices(z)
    rows = torch.arange(len(z), device=z.device)
    forward = _sampled_weights(z, rows, rule, samples) if _per_sample(rule) else _shared_weights(level, z, rule)
    effective = torch.softmax(with_choices, -1) if _is_expected(rule) else forward
    return level.function.values(forward), effective, pick(with_choices)


def _per_sample(rule: Rule) -> bool:
    return rule.noise is not None and rule.noise.per_sample


def _is_expected(rule: Rule) -> bool:
    """Whether the theorem is about the expectation over draws: where noise chooses one gate."""
    return rule.method.hard and rule.method.noisy


def _shared_weights(level: Level, z: torch.Tensor, rule: Rule) -> torch.Tensor:
    """The weights of the choices for all samples."""
    return choose_functions(level, z, rule).weights(rule.tau.tau)


def _sampled_weights(z: torch.Tensor, rows: torch.Tensor, rule: Rule, samples: int) -> torch.Tensor:
    """The weights of the gates of these rows for each sample, [samples, rows, 16]."""
    assert rule.noise is not None
    winner, noisy = sample_race(rule.noise, rule.noise_stream, rows, samples, z)
    weights = F.one_hot(winner, z.shape[1]).double() if rule.method.hard else torch.softmax(noisy / rule.tau.tau, -1)
    return weights.transpose(0, 1)


def _by_neuron(values: torch.Tensor, level: Level) -> torch.Tensor:
    return values if level.rows is None else values[..., level.rows.long(), :]


def _inputs(h: torch.Tensor, level: Level, rule: Rule) -> list[torch.Tensor]:
    """The values of the n inputs of each neuron in this pass, [rows, neurons] each, from h [rows, inputs]."""
    if level.padded:
        h = torch.cat([h, h.new_zeros(len(h), 1)], dim=1)  # index -1 is the constant 0
    if level.wire_logits is None:
        return [h[:, side.long()] for side in level.wires]
    assert rule.wire_tau is not None
    weights = choose_wires(level.wire_logits.double(), rule).weights(rule.wire_tau.tau)
    if level.rows is not None:
        weights = weights[:, level.rows.long()]
    return [
        torch.stack([w * h[:, wire.long()] for w, wire in zip(side.unbind(-1), wires.unbind(-1), strict=True)]).sum(0)
        for side, wires in zip(weights, level.wires, strict=True)
    ]


def _selecting_inputs(model: nn.Module, x: Input, draw: int) -> list[tuple[Fused, Input]]:
    """(module, its input) for every network and layer, in the order of the method's pass."""
    seen: list[tuple[Fused, Input]] = []
    hooks = [
        module.register_forward_pre_hook(lambda module, args: seen.append((module, args[0])))
        for module in selecting_modules(model)
    ]
    try:
        with evaluating(model), _method_pass(model, draw):
            model(x.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def open_weight(level: Level, rule: Rule, samples: int) -> torch.Tensor:
    """1 - w_i* of every row, of a table its largest entry's: [rows], or [samples, rows] where every sample draws."""
    assert isinstance(level.function, Choose | Entries)
    z = level.function.logits.double()

    def of(effective: torch.Tensor, with_choices: torch.Tensor) -> torch.Tensor:
        rest = (effective * (1 - pick(with_choices))).sum(-1)
        return rest.amax(-1) if isinstance(level.function, Entries) else rest

    with_choices = level.function.with_choices(z)
    if _is_expected(rule):
        return of(torch.softmax(with_choices, -1), with_choices)
    if not _per_sample(rule):
        return of(_shared_weights(level, z, rule), with_choices)
    chunks = torch.arange(len(z), device=z.device).split(max(1, _CHUNK // (samples * z.shape[1])))
    return torch.cat([of(_sampled_weights(z[rows], rows, rule, samples), z[rows]) for rows in chunks], dim=-1)
