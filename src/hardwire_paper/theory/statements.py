"""Small exact cases behind statements about a node or a network's sums: one that a statement says is impossible, or one
in which a bound is met.

Surprising: gates that give different outputs may mix to exactly what the chosen gate gives. At a = b = 1/2 every gate
and its complement add up to 1, so if no gate but A is preferred the mixture is 1/2 at any temperature, and so is A.
"""

import itertools

import torch

from hardwire.gates import COEFFICIENTS, GATE_NAMES, GATES
from hardwire.selection import selection_weights

NODES = 1_000
_K = len(GATES)


def outputs(a: float, b: float) -> torch.Tensor:
    """[16]: what each gate gives at these inputs."""
    return torch.tensor(COEFFICIENTS, dtype=torch.float64) @ torch.tensor([1.0, a, b, a * b], dtype=torch.float64)


def mixture_gap(z: torch.Tensor, tau: float, values: torch.Tensor) -> torch.Tensor:
    """h - g_i* of Soft-Mix for logits [..., 16] and gate outputs [16]."""
    mixed = (selection_weights(z, "soft-mix", tau) * values).sum(-1)
    return mixed - values[z.argmax(-1)]


def balanced_node() -> tuple[torch.Tensor, torch.Tensor]:
    """(logits, gate outputs) of a node whose gates differ and whose mixture is the chosen gate's output."""
    z = torch.zeros(_K, dtype=torch.float64)
    z[GATE_NAMES.index("A")] = 1.0
    return z, outputs(0.5, 0.5)


def smallest_gap_on_bits(tau: float) -> float:
    """The smallest size of Soft-Mix's gap over nodes with N(0, 1) logits and all four pairs of bits."""
    z = torch.randn(NODES, _K, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    pairs = itertools.product((0.0, 1.0), repeat=2)
    return min(mixture_gap(z, tau, outputs(a, b)).abs().min().item() for a, b in pairs)


def tightness(share: float) -> float:
    """The gap over its bound (1 - w) max|g - g*| where the rest of the weight is on one gate, far from the others.

    Args:
        share: Of the weight on the chosen gate, over a half.
    """
    values = outputs(1.0, 1.0)
    chosen, other = GATE_NAMES.index("AND"), GATE_NAMES.index("NAND")  # 1 and 0 there
    z = torch.full((_K,), -100.0, dtype=torch.float64)
    z[chosen], z[other] = 0.0, torch.tensor((1 - share) / share, dtype=torch.float64).log()
    w = selection_weights(z, "soft-mix", 1.0)
    bound = (1 - w[chosen]) * (values - values[chosen]).abs().max()
    return (mixture_gap(z, 1.0, values).abs() / bound).item()


def outputs_of_picked_gates(a: float, b: float) -> dict[str, float]:
    """What the forward pass of a hard method can give at these inputs, by gate; it takes soft gates in training."""
    return dict(zip(GATE_NAMES, outputs(a, b).tolist(), strict=True))


def logit_sum_error() -> float:
    """The largest |dy_c - sum over the class of dh_n| of two layers with random logits and a GroupSum.

    dy and dh are Soft-Mix's pass less the deployed one.
    """
    import hardwire as hw
    from hardwire.layers import selection_mode

    classes, size = 4, 40
    layers = [hw.LogicLayer(i, size, method="soft-mix", tau=1.0, seed=n) for n, i in enumerate((20, size))]
    nodes, head = torch.nn.Sequential(*layers), hw.GroupSum(classes, temperature=1.0)
    x = torch.randint(0, 2, (64, 20), generator=torch.Generator().manual_seed(0)).float()
    hidden = {}
    with torch.no_grad():
        for mode in ("method", "deploy"):
            with selection_mode(nodes, mode):
                hidden[mode] = nodes(x)
        difference = head(hidden["method"]) - head(hidden["deploy"])
        by_node = (hidden["method"] - hidden["deploy"]).double().unflatten(1, (classes, -1)).sum(-1)
    return float((difference - by_node).abs().max())
