"""Statements about a single choice, tested without a network: the Gumbel-max theorem, and the Hessian expansion where
the loss is computed on the softmax itself, as its authors assume.

The noise is the library's own counter-based one, so the first also tests that.
"""

import functools
import math
from dataclasses import dataclass

import torch

from hardwire.noise import NoiseKey, gumbel
from hardwire.selection import confidence
from hardwire_paper.measured.hessian import TAUS

NODES, K = 64, 16
DRAWS = 1000
MANY = 100_000
_MEAN = 0.5772156649015329


@dataclass(frozen=True)
class Frequencies:
    """Chosen candidates against softmax(z): Pearson's chi-square over all nodes, its degrees of freedom and p."""

    chi_square: float
    freedom: int
    p: float


@functools.cache
def gumbel_max() -> Frequencies:
    """How often each candidate of each node wins under the library's noise."""
    from scipy import stats

    z = torch.randn(NODES, K, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise = gumbel(NoiseKey(7, torch.tensor(0)), 0, DRAWS * NODES, K, like=z).view(DRAWS, NODES, K)
    chosen = (z + noise).argmax(-1)
    counts = torch.nn.functional.one_hot(chosen, K).sum(0).double()
    expected = DRAWS * torch.softmax(z, -1)
    chi_square = ((counts - expected).square() / expected).sum().item()
    freedom = NODES * (K - 1)
    return Frequencies(chi_square, freedom, float(stats.chi2.sf(chi_square, freedom)))


@functools.cache
def start_confidence() -> float:
    """The mean over nodes of max softmax(z) with N(0, 1) logits, as every network starts."""
    z = torch.randn(MANY, K, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return confidence(z).item()


@dataclass(frozen=True)
class Term:
    """What noise adds to the loss of single nodes, on average: by Monte Carlo, and by pi^2 / (12 tau^2) tr H."""

    tau: float
    measured: float
    error: float
    expansion: float


@functools.cache
def hessian_terms() -> tuple[Term, ...]:
    """L = -log softmax(z / tau)_j of nodes with N(0, 1) logits; tr H = sum_k w_k (1 - w_k), whatever j is."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(NODES, K, generator=generator, dtype=torch.float64)
    uniform = torch.rand(DRAWS, NODES, K, generator=generator, dtype=torch.float64).clamp_(min=1e-300)
    noise = -torch.log(-torch.log(uniform))
    terms = []
    for tau in TAUS:
        w = torch.softmax(z / tau, -1)
        # the wanted gate's own noise has the same mean in J as in the first-order term, and drops out of both
        change = torch.logsumexp((z + noise) / tau, -1) - torch.logsumexp(z / tau, -1)
        change = change - (w * (noise - _MEAN)).sum(-1) / tau - _MEAN / tau
        per_draw = change.mean(1)
        expansion = math.pi**2 / (12 * tau**2) * (w * (1 - w)).sum(-1).mean().item()
        terms.append(Term(tau, per_draw.mean().item(), (per_draw.std() / DRAWS**0.5).item(), expansion))
    return tuple(terms)
