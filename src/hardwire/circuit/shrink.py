"""Fewer gates for a little accuracy, measured on splits that had no influence on the choice.

A gate that is nearly always constant on the training set, or nearly always equal (or opposite) to one of its operands,
is replaced by that constant or operand. Gates with the smallest difference are replaced first, as many as keep the
training accuracy within the tolerance. Surprising: tolerance 0 already removes gates, because most differences never
change a decision.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import unpack
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.evaluate import circuit_bits
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.passes import simplify
from hardwire.circuit.passes.sweep import node_values
from hardwire.errors import HardwireError
from hardwire.gates import algebra

SAMPLE = 1 << 14  # training images on which gates are compared with their operands
ROUNDS = 4


@dataclass(frozen=True)
class ShrinkResult:
    """What shrinking did.

    Attributes:
        gates: Number of gates before and after.
        accuracies: Accuracy by split, before and after.
    """

    gates: tuple[int, int]
    accuracies: dict[str, tuple[float, float]]


def shrink(
    circuit: Circuit, data: Any, *, tolerance: float = 0.001, progress: Callable[[str], object] = lambda step: None
) -> tuple[Circuit, ShrinkResult]:
    """Returns a smaller circuit and its accuracies; see `Circuit.shrink`."""
    if not 0 <= tolerance < 1:
        raise HardwireError(f"tolerance {tolerance} is not a share of the training accuracy; use 0 to 1, such as 0.001")
    if circuit.number is not None:
        raise HardwireError("a circuit that predicts a number cannot be shrunk; use a classifier")
    images, labels = split(data, "train")
    lowest = accuracy(circuit, images, labels) - tolerance
    small = simplify(circuit, check=False)[0]
    for number in range(ROUNDS):
        progress(f"round {number + 1}, {len(small.netlist.gate):,} gates")
        smaller = _round(small, images, labels, lowest)
        if len(smaller.netlist.gate) >= len(small.netlist.gate):
            break
        small = smaller
    accuracies = {}
    for name in ("train", "validation", "test"):
        if getattr(data, name, None) is not None:
            pair = split(data, name)
            accuracies[name] = (accuracy(circuit, *pair), accuracy(small, *pair))
    small = replace(
        small,
        provenance=small.provenance.measured(
            accuracies["test"][1], getattr(data, "name", small.provenance.dataset or "its data")
        ),
    )
    return small, ShrinkResult((len(circuit.netlist.gate), len(small.netlist.gate)), accuracies)


def split(data: Any, name: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Returns the images of a split as bits, uint8 [n, inputs], and their labels."""
    x = circuit_bits(data, name)
    return np.asarray(x.unpack() if hasattr(x, "features") else x).astype(np.uint8), np.asarray(getattr(data, name).y)


def accuracy(circuit: Circuit, images: npt.NDArray[np.uint8], labels: npt.NDArray[np.int64]) -> float:
    return float((circuit.predict(images) == labels).mean())


def _round(circuit: Circuit, images: npt.NDArray[np.uint8], labels: npt.NDArray[np.int64], lowest: float) -> Circuit:
    """Makes as many replacements, smallest difference first, as keep the accuracy; bisects for the number."""
    gates, replacement, operand, differs = _candidates(circuit.netlist, images[:SAMPLE])
    order = np.argsort(differs, kind="stable")

    def cut(count: int) -> Circuit:
        chosen = order[:count]
        gate, first, second = (
            array.copy() for array in (circuit.netlist.gate, circuit.netlist.first, circuit.netlist.second)
        )
        gate[gates[chosen]] = replacement[chosen]
        first[gates[chosen]] = second[gates[chosen]] = operand[chosen]
        return replace(circuit, netlist=replace(circuit.netlist, gate=gate, first=first, second=second))

    good, bad = 0, len(order) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if accuracy(cut(middle), images, labels) >= lowest:
            good = middle
        else:
            bad = middle
    return simplify(cut(good), check=False)[0]


def _candidates(
    netlist: Netlist, images: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Returns the best replacement of every gate: the gates, the gate number each becomes, the operand it reads, and
    the share of images on which that differs."""
    bits = unpack(node_values(netlist, images), len(images) + -len(images) % 64)
    own, first, second = bits[netlist.inputs :], bits[netlist.first], bits[netlist.second]
    share = np.stack(
        [
            own.mean(axis=1),  # FALSE
            1 - own.mean(axis=1),  # TRUE
            (own != first).mean(axis=1),
            (own == first).mean(axis=1),
            (own != second).mean(axis=1),
            (own == second).mean(axis=1),
        ]
    )
    names = np.array([algebra.FALSE, algebra.TRUE, algebra.A, algebra.NOT_A, algebra.A, algebra.NOT_A], np.uint8)
    best = share.argmin(axis=0)
    operand = np.where(best >= 4, netlist.second, netlist.first).astype(np.int32)
    return np.arange(len(own)), names[best], operand, share.min(axis=0)
