"""What the paper's propositions say about a network, measured on that network: node and loss bounds, gradients, gaps.

Names of quantities are `subject.detail`; the claims read them back from the store. All comparisons are in
float64 against the network's own float32 engine. Surprising: the gradient check takes a real training step, noise and
moving temperature included, on a copy of the network, so that the run itself stays untouched.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import torch
from torch.nn import functional as F

import hardwire as hw
from hardwire.bits import Bits
from hardwire.engine.functions import Choose
from hardwire.engine.stack import Level
from hardwire.gates import COEFFICIENTS, GATES
from hardwire.layers import selection_mode
from hardwire.noise import NoiseKey, gumbel
from hardwire.selection import CLEAN, first_argmax, selection_weights

if TYPE_CHECKING:
    from hardwire.data import Dataset
    from hardwire.engine.stack import Input

NODE_ROWS = 64  # rows on which node gaps and gradients are measured: times thousands of nodes
LOSS_ROWS = 2000  # rows of the test split for the loss bound
GUMBEL_NODES, GUMBEL_DRAWS = 64, 4000  # of the Monte Carlo for the expected Gumbel-ST gap


def class_scores(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    """The class scores before training: what the GroupSum temperature is made for."""
    rows = slice(0, LOSS_ROWS)
    with torch.no_grad(), selection_mode(net, "deploy"):
        scores = net(data.test.x[rows]).double()
    temperature = net.group_sum.temperature_for(net.widths[-1])
    sums, k = scores * temperature, net.widths[-1] / net.classes
    differences = (sums.unsqueeze(1) - sums.unsqueeze(2))[:, *torch.triu_indices(net.classes, net.classes, 1)]
    return {
        "groupsum.temperature": temperature,
        "groupsum.neurons_per_class": k,
        "groupsum.classes": net.classes,
        "groupsum.std_over_sqrt_k": differences.square().mean().sqrt().item() / math.sqrt(k),
        "groupsum.sigma_max": torch.softmax(scores, -1).amax(-1).mean().item(),
    }


def measure(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    """Node bounds, loss bound; gradient formula, where a node has one choice a pass; for gumbel-st the expected gap."""
    results = _node_bounds(net, data) | _loss_bound(net, data)
    levels = net.stack().levels
    shared = not net.selector.method.noisy or net.selector.noise == "pass"
    if shared and papers_own(levels):
        results |= gradient_check(net, *data.train.batch(slice(NODE_ROWS)))
    expected = net.method == "gumbel-st" and has_gates(levels[-1])
    return results | (expected_gumbel_gap(net) if expected else {})


def has_gates(level: Level) -> bool:
    """Whether each neuron of a level chooses one of the 16 gates."""
    return isinstance(level.function, Choose) and level.function.is_gates


def papers_own(levels: Sequence[Level]) -> bool:
    """Whether these are the paper's networks: fixed wires, and gates that each neuron chooses for itself."""
    return all(level.wire_logits is None and level.rows is None and has_gates(level) for level in levels)


def _node_bounds(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    layers = hw.node_gaps(net, data.test.x[:NODE_ROWS])
    return {
        "node.violations": sum(layer.violations for layer in layers),
        "node.pairs": sum(net.widths) * min(NODE_ROWS, len(data.test)),
        "node.actual_mean": sum(layer.actual_mean for layer in layers) / len(layers),
        "node.bound_mean": sum(layer.bound_mean for layer in layers) / len(layers),
        "node.actual_max": max(layer.actual_max for layer in layers),
        "node.bound_max": max(layer.bound_max for layer in layers),
    }


def _loss_bound(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    x, y = data.test.batch(slice(LOSS_ROWS))
    result = hw.loss_bound(net, (x, y))
    return {f"loss.{name}": value for name, value in asdict(result).items()}


def gradient_check(net: hw.LogicNetwork, x: "Input", y: torch.Tensor) -> dict[str, float]:
    """The last layer's logit gradient of one training step against (delta / tau) w_j (g_j - sum_i w_i g_i).

    The largest difference over all logits, relative to the largest gradient.
    """
    net = copy.deepcopy(net).train()
    step = net.selector.steps.clone()
    F.cross_entropy(net(x), y).backward()
    logits = net.stack().levels[-1].logits
    assert logits is not None and logits.grad is not None
    by_network = logits.grad.double()
    by_formula = _formula_gradient(net, step, x, y)
    scale = by_formula.abs().max().item()
    difference = (by_network - by_formula).abs().max().item()
    return {"gradient.largest": scale, "gradient.difference": difference / scale if scale else difference}


@torch.no_grad()
def _formula_gradient(net: hw.LogicNetwork, step: torch.Tensor, x: "Input", y: torch.Tensor) -> torch.Tensor:
    """[neurons, 16] for the last layer, with the noise of `step` and the temperature that the step used."""
    method, tau = net.selector.method, net.selector.temperature.tau.double()
    key = NoiseKey(net.seed, step)
    h = x.unpack(torch.float64) if isinstance(x, Bits) else x.double()
    for index, level in enumerate(net.stack().levels):
        assert level.logits is not None
        z = level.logits.double()
        noise = gumbel(key, index, len(z), len(GATES), like=z) if method.noisy else None
        inputs = h[:, level.wires[0]], h[:, level.wires[1]]
        h = _mixed(selection_weights(z, method, tau, noise), *inputs)
    temperature = net.group_sum.temperature_for(net.widths[-1])
    scores = h.unflatten(1, (net.classes, -1)).sum(-1) / temperature
    at_scores = (torch.softmax(scores, -1) - F.one_hot(y, net.classes)) / (len(y) * temperature)
    delta = at_scores.repeat_interleave(h.shape[1] // net.classes, dim=1)
    a, b = inputs
    sums = torch.stack([delta.sum(0), (delta * a).sum(0), (delta * b).sum(0), (delta * a * b).sum(0)], dim=1)
    gains = sums @ torch.tensor(COEFFICIENTS, dtype=torch.float64).T  # sum over the batch of delta * g_j
    if noise is not None and not (method.hard and net.selector.surrogate == CLEAN):
        z = z + noise
    w = torch.softmax(z / tau, -1)
    gradient: torch.Tensor = w * (gains - (w * gains).sum(-1, keepdim=True)) / tau
    return gradient


@torch.no_grad()
def expected_gumbel_gap(net: hw.LogicNetwork, seed: int = 0) -> dict[str, float]:
    """sum_i p_i (g_i - g_i*) against the mean over sampled gates, for nodes of the last layer at random input corners.

    rms_z: the root mean square of (sampled - expected) / standard error, which is 1 where the formula holds.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = net.stack().levels[-1].logits
    assert logits is not None
    z = logits.double()
    z = z[torch.randperm(len(z), generator=generator)[:GUMBEL_NODES]]
    corners = torch.randint(0, 2, (2, len(z)), generator=generator).double()
    outputs = _gate_outputs(*corners)  # [nodes, 16]
    deviation = outputs - outputs.gather(1, first_argmax(z).unsqueeze(1))
    p = torch.softmax(z, -1)
    expected = (p * deviation).sum(-1)
    variance = (p * deviation.square()).sum(-1) - expected.square()
    uniform = torch.rand(GUMBEL_DRAWS, *z.shape, generator=generator, dtype=torch.float64).clamp_(min=1e-300)
    chosen = (z - torch.log(-torch.log(uniform))).argmax(-1)  # [draws, nodes]
    sampled = deviation.gather(1, chosen.T).mean(1)
    certain = variance < 1e-6  # a node that is all but committed has no spread to judge by
    score = (sampled - expected)[~certain] / (variance[~certain] / GUMBEL_DRAWS).sqrt()
    return {
        "gumbel.expected": expected.mean().item(),
        "gumbel.sampled": sampled.mean().item(),
        "gumbel.rms_z": score.square().mean().sqrt().item() if len(score) else 0.0,
        "gumbel.nodes": float(len(score)),
    }


def _mixed(weights: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Mixtures of the 16 gates with weights [neurons, 16] on inputs [rows, neurons]."""
    c0, c1, c2, c3 = (weights @ torch.tensor(COEFFICIENTS, dtype=weights.dtype)).unbind(-1)
    return c0 + c1 * a + (c2 + c3 * a) * b


def _gate_outputs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """All 16 gates at inputs [nodes] -> [nodes, 16]."""
    return torch.stack([torch.ones_like(a), a, b, a * b], 1) @ torch.tensor(COEFFICIENTS, dtype=a.dtype).T
