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
from hardwire.circuit.passes import simplify
from hardwire.circuit.passes.sweep import node_values, replaced
from hardwire.circuit.table_netlist import AnyNetlist
from hardwire.circuit.table_rows import Known
from hardwire.errors import HardwireError

SAMPLE = 1 << 14  # training images on which gates are compared with their operands
ROUNDS = 4


@dataclass(frozen=True)
class ShrinkResult:
    """What shrinking did.

    Attributes:
        gates: Number of gates or tables before and after.
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
        progress(f"round {number + 1}, {small.netlist.size:,} gates")
        smaller = _round(small, images, labels, lowest)
        if smaller.netlist.size >= small.netlist.size:
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
    return small, ShrinkResult((circuit.netlist.size, small.netlist.size), accuracies)


def split(data: Any, name: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Returns the images of a split as bits, uint8 [n, inputs], and their labels."""
    x = circuit_bits(data, name)
    return np.asarray(x.unpack() if hasattr(x, "features") else x).astype(np.uint8), np.asarray(getattr(data, name).y)


def accuracy(circuit: Circuit, images: npt.NDArray[np.uint8], labels: npt.NDArray[np.int64]) -> float:
    return float((circuit.predict(images) == labels).mean())


def _round(circuit: Circuit, images: npt.NDArray[np.uint8], labels: npt.NDArray[np.int64], lowest: float) -> Circuit:
    """Makes as many replacements, smallest difference first, as keep the accuracy; bisects for the number."""
    nodes, becomes, differs = _candidates(circuit.netlist, images[:SAMPLE])
    order = np.argsort(differs, kind="stable")

    def cut(count: int) -> Circuit:
        return replace(
            circuit, netlist=replaced(circuit.netlist, {nodes[i]: becomes[i] for i in order[:count].tolist()})
        )

    good, bad = 0, len(order) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if accuracy(cut(middle), images, labels) >= lowest:
            good = middle
        else:
            bad = middle
    return simplify(cut(good), check=False)[0]


def _candidates(
    netlist: AnyNetlist, images: npt.NDArray[np.uint8]
) -> tuple[list[int], list[Known], npt.NDArray[np.float64]]:
    """Returns the nodes that compute something, the constant or operand that each is most like, and the share of
    images on which that differs."""
    bits = unpack(node_values(netlist, images), len(images) + -len(images) % 64)
    becomes: list[Known] = []
    differs: list[float] = []
    for node, reads in enumerate(netlist.reads(), start=netlist.inputs):
        own = bits[node]
        share = own.mean()
        like = [(share, Known(None)), (1 - share, Known(None, True))]
        for read in reads:
            other = float((own != bits[read]).mean())
            like += [(other, Known(read)), (1 - other, Known(read, True))]
        best = min(like, key=lambda pair: pair[0])
        differs.append(float(best[0]))
        becomes.append(best[1])
    return list(range(netlist.inputs, netlist.nodes)), becomes, np.array(differs)
