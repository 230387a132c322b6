"""Steps to confidence on a single node, against the backward temperature: the paper says they grow as tau_b^1.

The node is the paper's: K logits from zero, a constant upstream gradient that favours one gate, plain gradient descent
or Adam, and the exact gradient formula. Surprising: the proposition holds only where tau_b is large beside the logit
gap that is asked for. Below that the softmax saturates, p(1 - p) vanishes, and the steps grow again, exponentially.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

K = 16
CONFIDENCE = 0.9  # 1 - epsilon
LIMIT = 50_000  # steps
TAUS_PAPER = (0.05, 0.1, 0.5, 1.0, 2.0)
TAUS_HIGH = (8.0, 16.0, 32.0, 64.0)
SLACK = 0.15  # how far a fitted exponent may be from the paper's


@dataclass(frozen=True)
class Scaling:
    """steps: iterations to confidence for each tau, None above LIMIT. exponent: of the fit steps ~ tau^exponent."""

    name: str
    taus: tuple[float, ...]
    steps: tuple[int | None, ...]
    exponent: float | None


def steps_to_confidence(tau: float, rate: float, optimizer: str = "sgd", own_temperature: bool = False) -> int | None:
    """Gradient steps until softmax(z) (or softmax(z / tau), with own_temperature) of the favoured gate reaches 0.9.

    The favoured gate has output 1, the others 0; all others stay equal, so two numbers are the whole node.
    """
    favoured = other = 0.0
    moments = [[0.0, 0.0], [0.0, 0.0]]
    needed = math.log(CONFIDENCE * (K - 1) / (1 - CONFIDENCE)) * (tau if own_temperature else 1.0)
    for step in range(1, LIMIT + 1):
        rest = (K - 1) * math.exp((other - favoured) / tau)
        p, q = 1 / (1 + rest), rest / (1 + rest)  # q: of all others together
        gradient = -p * q / tau, p * q / (K - 1) / tau  # delta = -1
        if optimizer == "adam":
            favoured, other = _adam((favoured, other), gradient, moments, step, rate)
        else:
            favoured, other = favoured - rate * gradient[0], other - rate * gradient[1]
        if favoured - other >= needed:
            return step
    return None


def _adam(
    values: Sequence[float], gradient: Sequence[float], moments: list[list[float]], step: int, rate: float
) -> list[float]:
    """One step of Adam on two numbers; moments: [first, second] of each."""
    moved = []
    for value, slope, pair in zip(values, gradient, moments, strict=True):
        pair[0] = 0.9 * pair[0] + 0.1 * slope
        pair[1] = 0.999 * pair[1] + 0.001 * slope * slope
        first, second = pair[0] / (1 - 0.9**step), pair[1] / (1 - 0.999**step)
        moved.append(value - rate * first / (math.sqrt(second) + 1e-8))
    return moved


def fit_exponent(taus: Sequence[float], steps: Sequence[int | None]) -> float | None:
    """The slope of log(steps) over log(tau), least squares; None below two points."""
    points = [(math.log(tau), math.log(count)) for tau, count in zip(taus, steps, strict=True) if count]
    if len(points) < 2:
        return None
    x, y = np.array(points).T
    return float(np.polyfit(x, y, 1)[0])


def measure() -> list[Scaling]:
    """The four settings that the report shows."""
    settings = (
        ("gradient descent, τ large beside the logit gap", TAUS_HIGH, "sgd", False, 1.0),
        ("gradient descent, the paper's τ", TAUS_PAPER, "sgd", False, 0.1),
        ("gradient descent, the paper's τ, confidence at temperature τ", TAUS_PAPER, "sgd", True, 0.005),
        ("Adam, the paper's τ", TAUS_PAPER, "adam", False, 0.01),
    )
    return [_measure(*setting) for setting in settings]


def _measure(name: str, taus: tuple[float, ...], optimizer: str, own_temperature: bool, rate: float) -> Scaling:
    steps = tuple(steps_to_confidence(tau, rate, optimizer, own_temperature) for tau in taus)
    return Scaling(name, taus, steps, fit_exponent(taus, steps))
