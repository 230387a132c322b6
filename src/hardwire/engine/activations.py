"""What every neuron reads and by which weights it chooses in one pass, in double precision.

Measurements compare these numbers with what is deployed. Double precision, because they look for differences that
float32 would round away; and in torch on any device, for every kind of level.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from hardwire.bits import Bits
from hardwire.engine.functions import Fixed, interpolate
from hardwire.engine.reference import choose_functions, choose_wires
from hardwire.engine.stack import Input, Level, Rule, Source
from hardwire.noise import sample_race


@dataclass(frozen=True, eq=False)
class NodePass:
    """The nodes of one level in one pass.

    Attributes:
        inputs: What their n inputs read, [samples, neurons] each.
        weights: Of the choices, [rows, C] or [rows, 2**n, 2] for look-up tables; with the samples in front where each
            draws for itself; None where the function is fixed.
    """

    inputs: list[torch.Tensor]
    weights: torch.Tensor | None

    def interpolate(self, level: Level, values: torch.Tensor) -> torch.Tensor:
        """The functions with these values [..., rows, 2**n] at what the nodes read, [samples, neurons]."""
        return interpolate(values if level.rows is None else values[..., level.rows.long(), :], self.inputs)


def node_passes(levels: Sequence[tuple[Level, Rule]], x: Input) -> Iterator[NodePass]:
    """The nodes of every level, in order, for a batch x [samples, inputs]."""
    h = x.unpack(torch.float64) if isinstance(x, Bits) else x.double()
    made = [h.flatten(1)]
    for number, (level, rule) in enumerate(levels):
        reads = level.reads or (Source(number - 1, 0, level.inputs),)
        h = torch.cat([made[source.level + 1][:, source.start : source.stop] for source in reads], dim=1)
        inputs = _inputs(h, level, rule)
        if isinstance(level.function, Fixed):
            node = NodePass(inputs, None)
            made.append(interpolate(h.new_tensor(level.function.table), inputs))
        else:
            weights = choice_weights(level, rule, len(h))
            node = NodePass(inputs, weights)
            made.append(node.interpolate(level, level.function.values(weights)))
        yield node


def draws_per_sample(rule: Rule) -> bool:
    """Whether every sample makes its own noisy choice."""
    return rule.noise is not None and rule.noise.per_sample


def choice_weights(level: Level, rule: Rule, samples: int) -> torch.Tensor:
    """The weights of the level's choices of functions in a pass, as in `NodePass`."""
    assert level.logits is not None
    z = level.logits.double()
    if draws_per_sample(rule):
        return sampled_weights(z, torch.arange(len(z), device=z.device), rule, samples)
    return choose_functions(level, z, rule).weights(rule.tau.tau)


def sampled_weights(z: torch.Tensor, rows: torch.Tensor, rule: Rule, samples: int) -> torch.Tensor:
    """The weights of the gates of these rows for each sample, [samples, rows, 16]; z: their logits."""
    assert rule.noise is not None
    winner, noisy = sample_race(rule.noise, rule.noise_stream, rows, samples, z)
    weights = F.one_hot(winner, z.shape[1]).double() if rule.method.hard else torch.softmax(noisy / rule.tau.tau, -1)
    return weights.transpose(0, 1)


def _inputs(h: torch.Tensor, level: Level, rule: Rule) -> list[torch.Tensor]:
    """What the n inputs of each neuron read, [samples, neurons] each, from h [samples, inputs]."""
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
