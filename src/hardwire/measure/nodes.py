"""The selection gap of every node, and the paper's bound on it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from hardwire.engine.activations import NodePass, choice_weights, draws_per_sample, node_passes, sampled_weights
from hardwire.engine.functions import Choose, Entries
from hardwire.engine.stack import Input, Level, Rule
from hardwire.errors import HardwireError
from hardwire.layers import Fused, Selector, selection_mode
from hardwire.layers.base import Passes
from hardwire.measure.choices import parts_in, selecting_modules
from hardwire.measure.gap import evaluating
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

    Example:
        >>> for layer in hw.node_gaps(net, data.test.x[:64]):  # doctest: +SKIP
        ...     print(layer.actual_max, layer.bound_max)
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
    tallies: list[_GapSums] = []
    for number, start in enumerate(range(0, len(x), rows)):
        chunk = list(_node_tallies(model, x[start : start + rows], draw=number if per_sample else 0))
        tallies = [a.add(b) for a, b in zip(tallies, chunk, strict=True)] if tallies else chunk
    return [tally.result() for tally in tallies]


@dataclass
class _GapSums:
    """Running sums of one level's node gaps."""

    actual_sum: float
    actual_max: float
    bound_sum: float
    bound_max: float
    violations: int
    count: int

    @classmethod
    def of(cls, actual: torch.Tensor, bound: torch.Tensor) -> "_GapSums":
        return cls(
            actual.sum().item(),
            actual.max().item(),
            bound.sum().item(),
            bound.max().item(),
            int((actual > bound + 1e-12).sum()),
            actual.numel(),
        )

    def add(self, other: "_GapSums") -> "_GapSums":
        return _GapSums(
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


def _node_tallies(model: nn.Module, x: Input, draw: int) -> Iterator[_GapSums]:
    """One tally for each level that chooses its functions; one that repeats another level counts with it."""
    for module, given in _selecting_inputs(model, x, draw):
        levels, tallies = _method_rules(module, draw), dict[int, _GapSums]()
        for number, ((level, rule), node) in enumerate(zip(levels, node_passes(levels, given), strict=True)):
            if node.weights is None:
                continue
            tally = _GapSums.of(*_gap_and_bound(level, rule, node))
            own = number if level.repeats is None else level.repeats
            tallies[own] = tallies[own].add(tally) if own in tallies else tally
        yield from tallies.values()


def _gap_and_bound(level: Level, rule: Rule, node: NodePass) -> tuple[torch.Tensor, torch.Tensor]:
    """|sum_i w_i (g_i - g_i*)| of every node and sample, and its bound.

    The sum leaves the winner out, which is exact where 1 - w would cancel.
    """
    assert isinstance(level.function, Choose | Entries) and node.weights is not None
    with_choices = level.function.with_choices(level.function.logits.double())
    effective = torch.softmax(with_choices, -1) if _is_expected(rule) else node.weights
    deployed = pick(with_choices)
    others = effective * (1 - deployed)
    rest = others.sum(-1, keepdim=True)
    actual = node.interpolate(level, level.function.values(others - rest * deployed)).abs()
    if isinstance(level.function, Entries):  # what each address may lose, by how much of the sample is there
        return actual, node.interpolate(level, rest.squeeze(-1))
    g = node.interpolate(level, level.function.values(deployed))
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


def _is_expected(rule: Rule) -> bool:
    """Whether the theorem is about the expectation over draws: where noise chooses one gate."""
    return rule.method.hard and rule.method.noisy


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
    if not draws_per_sample(rule):
        return of(choice_weights(level, rule, samples), with_choices)
    chunks = torch.arange(len(z), device=z.device).split(max(1, _CHUNK // (samples * z.shape[1])))
    return torch.cat([of(sampled_weights(z[rows], rows, rule, samples), z[rows]) for rows in chunks], dim=-1)
