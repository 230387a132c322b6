"""The computation gap of all 16 gates, E|soft(a, b) - hard(a, b)| for independent inputs, in closed form.

hard is 0 or 1 and soft lies between, so within a quadrant (each input above or below 1/2) the difference has one sign
and the gate is bilinear: four numbers of the input distribution say everything, P(a > 1/2), P(a <= 1/2) and the mean of
a on either side. Surprising: so one exact formula serves binary, uniform and any measured distribution alike.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardwire.gates import GATES, THRESHOLD, Gate

DRAWS = 200_000
Number = Fraction | float
Pairs = np.ndarray[tuple[int, ...], np.dtype[np.float64]]  # [2, DRAWS]


@dataclass(frozen=True)
class Halves:
    """An input distribution, as far as the gap depends on it: (probability, mean x probability) below and above 1/2."""

    below: tuple[Number, Number]
    above: tuple[Number, Number]


UNIFORM = Halves((Fraction(1, 2), Fraction(1, 8)), (Fraction(1, 2), Fraction(3, 8)))
BINARY = Halves((Fraction(1, 2), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))


def of_counts(counts: dict[float, int]) -> Halves:
    """The distribution of measured values in [0, 1]."""
    total = sum(counts.values())
    sides = []
    for above in (False, True):
        side = {value: count for value, count in counts.items() if (value > THRESHOLD) == above}
        sides.append((sum(side.values()) / total, sum(value * count for value, count in side.items()) / total))
    return Halves(*sides)


def exact(gate: Gate, inputs: Halves) -> Number:
    """The expected gap for two independent inputs of this distribution; a Fraction if the distribution's are."""
    c0, c1, c2, c3 = gate.coefficients
    total: Number = Fraction(0)
    for a_true, (p, m) in enumerate((inputs.below, inputs.above)):
        for b_true, (q, n) in enumerate((inputs.below, inputs.above)):
            soft = c0 * p * q + c1 * m * q + c2 * p * n + c3 * m * n
            total += p * q - soft if gate.soft(a_true, b_true) else soft
    return total


def at_boundary(gate: Gate) -> tuple[float, float]:
    """(the gap exactly at a = b = 1/2, its least upper bound as a and b approach 1/2 from any side)."""
    soft = gate.soft(THRESHOLD, THRESHOLD)
    approached = max(abs(soft - gate.soft(a, b)) for a in (0, 1) for b in (0, 1))
    return abs(soft - gate.hard(THRESHOLD, THRESHOLD)), approached


def sampled(gate: Gate, a: Pairs, b: Pairs) -> tuple[float, float]:
    """(mean, standard error) of the gap over pairs of drawn inputs: the same by Monte Carlo."""
    gaps = np.abs(gate.soft(a, b) - gate.hard(a, b))
    return float(gaps.mean()), float(gaps.std() / np.sqrt(len(gaps)))


def uniform_pairs(seed: int = 0) -> Pairs:
    """[2, DRAWS]: a and b drawn from [0, 1]."""
    return np.random.default_rng(seed).random((2, DRAWS))


def measured_pairs(counts: dict[float, int], seed: int = 0) -> Pairs:
    """[2, DRAWS]: a and b drawn from measured values."""
    shares = np.array(list(counts.values()), float)
    return np.random.default_rng(seed).choice(np.array(list(counts)), (2, DRAWS), p=shares / shares.sum())


CATEGORIES = {  # the paper's groups of gates
    "constant": ("FALSE", "TRUE"),
    "unary": ("A", "B", "¬A", "¬B"),
    "and/or": ("AND", "OR", "NAND", "NOR", "A∧¬B", "¬A∧B", "A∨¬B", "¬A∨B"),
    "xor": ("XOR", "XNOR"),
}


def category(gate: Gate) -> str:
    return next(name for name, gates in CATEGORIES.items() if gate.name in gates)


def gates_of(name: str) -> list[Gate]:
    """The gates of a category."""
    return [gate for gate in GATES if gate.name in CATEGORIES[name]]
