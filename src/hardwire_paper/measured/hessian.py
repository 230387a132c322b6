"""The expansion behind "implicit Hessian regularisation", against what the noise really does to a trained last layer.

J(z) = E L(softmax((z + G) / tau)) = L(softmax(z / tau)) + pi^2 / (12 tau^2) tr H + ..., with H the Hessian of the loss
by the arguments of the softmax, which has a closed form here. Surprising: the expansion is in 1 / tau, so it is at its
worst at the low temperatures for which it was meant to explain something.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import functional as F

import hardwire as hw
from hardwire.bits import Bits
from hardwire.gates import COEFFICIENTS
from hardwire.selection import pick
from hardwire_paper.measured.bounds import papers_own

if TYPE_CHECKING:
    from hardwire.data import Dataset

TAUS = (0.05, 0.1, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0)
ROWS = 16
_EFFORT = 600_000  # neurons times draws
_MEAN = 0.5772156649015329  # of Gumbel noise
_PART = 4096  # neurons at a time


class LastLayer:
    """A last level on fixed inputs: the loss as a function of its gates' weights. a, b: [rows, neurons]."""

    def __init__(self, a: torch.Tensor, b: torch.Tensor, y: torch.Tensor, classes: int, temperature: float):
        self.a, self.b, self.y, self.classes, self.temperature = a, b, y, classes, temperature

    def losses(self, weights: torch.Tensor) -> torch.Tensor:
        """Cross entropy of each row for weights [neurons, 16]."""
        return F.cross_entropy(self._scores(weights), self.y, reduction="none")

    def slopes(self, weights: torch.Tensor) -> torch.Tensor:
        """The gradient of the mean loss by the arguments of the softmax that gave these weights, [neurons, 16]."""
        upstream = (torch.softmax(self._scores(weights), -1) - F.one_hot(self.y, self.classes)) / self.temperature
        delta = upstream.repeat_interleave(self.a.shape[1] // self.classes, 1) / len(self.y)
        sums = torch.stack([delta, delta * self.a, delta * self.b, delta * self.a * self.b], -1).sum(0)
        gains = sums @ _matrix().T
        slopes: torch.Tensor = weights * (gains - (weights * gains).sum(-1, keepdim=True))
        return slopes

    def trace(self, weights: torch.Tensor) -> float:
        """tr H at these weights, by the arguments of their softmax: exact, the mean over rows.

        Of a node: L'' sum_k (w_k (g_k - h))^2 + L' sum_k w_k (1 - 2 w_k) (g_k - h), L' and L'' by the node's output.
        """
        sigma = torch.softmax(self._scores(weights), -1)
        first = (sigma - F.one_hot(self.y, self.classes)) / self.temperature
        second = sigma * (1 - sigma) / self.temperature**2
        group = self.a.shape[1] // self.classes
        total = 0.0
        for start in range(0, self.a.shape[1], _PART):
            part = slice(start, start + _PART)
            w = weights[part]
            away = self._gates(part) - self._mixed(w, part).unsqueeze(-1)  # [rows, neurons, 16]
            curved, bent = (w * away).square().sum(-1), (w * (1 - 2 * w) * away).sum(-1)
            owner = torch.arange(start, start + len(w)) // group
            total += (second[:, owner] * curved + first[:, owner] * bent).sum().item()
        return total / len(self.y)

    def _scores(self, weights: torch.Tensor) -> torch.Tensor:
        mixed = self._mixed(weights, slice(None))
        result: torch.Tensor = mixed.unflatten(1, (self.classes, -1)).sum(-1) / self.temperature
        return result

    def _mixed(self, weights: torch.Tensor, part: slice) -> torch.Tensor:
        c0, c1, c2, c3 = (weights @ _matrix()).unbind(-1)
        a, b = self.a[:, part], self.b[:, part]
        return c0 + c1 * a + (c2 + c3 * a) * b

    def _gates(self, part: slice) -> torch.Tensor:
        a, b = self.a[:, part], self.b[:, part]
        return torch.stack([torch.ones_like(a), a, b, a * b], -1) @ _matrix().T


def expansion(layer: LastLayer, z: torch.Tensor, tau: float) -> float:
    """The second-order term, pi^2 / (12 tau^2) tr H."""
    return math.pi**2 / (12 * tau**2) * layer.trace(torch.softmax(z / tau, -1))


def measured(
    layer: LastLayer, z: torch.Tensor, taus: tuple[float, ...], draws: int, seed: int = 0
) -> dict[float, tuple[float, float]]:
    """tau -> (J - L(softmax(z / tau)), its standard error) by Monte Carlo; all temperatures share their draws.

    The first-order term, whose mean is known to be 0, is taken off each draw: what is left scatters far less.
    """
    generator = torch.Generator().manual_seed(seed)
    plain = {tau: torch.softmax(z / tau, -1) for tau in taus}
    start = {tau: (layer.losses(w).mean(), layer.slopes(w)) for tau, w in plain.items()}
    changes: dict[float, list[float]] = {tau: [] for tau in taus}
    for _ in range(draws):
        uniform = torch.rand(z.shape, generator=generator, dtype=z.dtype).clamp_(min=1e-300)
        noise = -torch.log(-torch.log(uniform))
        for tau, (loss, slopes) in start.items():
            change = layer.losses(torch.softmax((z + noise) / tau, -1)).mean() - loss
            changes[tau].append((change - (slopes * (noise - _MEAN)).sum() / tau).item())
    spread = {tau: torch.tensor(values, dtype=torch.float64) for tau, values in changes.items()}
    return {tau: (values.mean().item(), (values.std() / draws**0.5).item()) for tau, values in spread.items()}


@torch.no_grad()
def measure(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    """hessian.TAU.measured, .error and .expansion of the last level on what the deployed level before it gives."""
    x, y = data.test.batch(slice(ROWS))
    levels = net.stack().levels
    if not papers_own(levels):
        return {}
    h = x.unpack(torch.float64) if isinstance(x, Bits) else x.double()
    layer = None
    for level in levels:
        assert level.logits is not None
        z = level.logits.double()
        a, b = h[:, level.wires[0]], h[:, level.wires[1]]
        layer = LastLayer(a, b, y, net.classes, net.group_sum.temperature_for(level.neurons))
        h = layer._mixed(pick(z), slice(None))
    assert layer is not None
    draws = max(8, min(64, _EFFORT // len(z)))
    results: dict[str, float] = {}
    for tau, (mean, error) in measured(layer, z, TAUS, draws).items():
        results |= {f"hessian.{tau:g}.measured": mean, f"hessian.{tau:g}.error": error}
        results[f"hessian.{tau:g}.expansion"] = expansion(layer, z, tau)
    return results


def _matrix() -> torch.Tensor:
    return torch.tensor(COEFFICIENTS, dtype=torch.float64)
