"""Random wiring, in which every input is used equally often (to within one), and random candidates to choose from.

Neuron order within a layer is free, so neurons are sorted by their first input: half of an engine's random reads become
streams. Surprising: the last layer is sorted only inside each class group, or a class would see a slice of the image.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.errors import HardwireError, whole_number

Ints: TypeAlias = NDArray[np.int64]

_MOST = 2**31 - 1  # wires are int32


def random_wiring(inputs: int, neurons: int, seed: int, groups: int = 1) -> torch.Tensor:
    """int32 [2, neurons]: the first and second input of each neuron, two different ones wherever inputs > 1.

    groups: the neurons are sorted by first input within this many equal, contiguous groups.
    """
    check_sizes(inputs, neurons, groups)
    rng = np.random.default_rng(seed)
    drawn = slots(inputs, 2 * neurons, rng)
    first, second = drawn[:neurons], drawn[neurons:].copy()
    if inputs > 1:
        separate(first, second, rng)
    order = np.lexsort((second, first, np.arange(neurons) // (neurons // groups)))
    return torch.from_numpy(np.stack([first[order], second[order]]).astype(np.int32))


def candidate_wiring(inputs: int, neurons: int, seed: int, groups: int = 1, candidates: int = 16) -> torch.Tensor:
    """int32 [2, neurons, candidates]: wires to choose from, different ones for each input of a neuron.

    Every input is offered equally often (to within one). With as many candidates as inputs, each chooses among all.
    """
    check_sizes(inputs, neurons, groups)
    candidates = whole_number("candidates", candidates)
    if not 2 <= candidates <= inputs:
        raise HardwireError(
            f"{candidates} candidates for each wire of a layer that reads {inputs} inputs; use 2 to {inputs}"
        )
    rng = np.random.default_rng(seed)
    offered = _distinct_runs(inputs, 2 * neurons, candidates, rng).reshape(2, neurons, candidates)
    return torch.from_numpy(offered.astype(np.int32))


def check_sizes(inputs: int, neurons: int, groups: int) -> None:
    if inputs < 1 or neurons < 1:
        raise HardwireError(f"a layer needs at least 1 input and 1 neuron, not {inputs} and {neurons}")
    if groups < 1 or neurons % groups:
        raise HardwireError(f"{neurons} neurons cannot be split into {groups} equal groups")
    if max(inputs, neurons) > _MOST:
        raise HardwireError(f"a layer has at most {_MOST} inputs and neurons, not {inputs} and {neurons}")


def _distinct_runs(inputs: int, runs: int, length: int, rng: np.random.Generator) -> Ints:
    """[runs, length] of inputs, all used equally often (to within one) and no run with one twice.

    One permutation after another, cut into runs; where a run crosses the border, what it holds already is moved back.
    """
    stream: list[Ints] = []
    missing, filled = runs * length, 0
    while missing > 0:
        order = rng.permutation(inputs)
        begun = filled % length
        if begun:
            tail = stream[-1][-begun:] if len(stream[-1]) >= begun else np.concatenate(stream)[-begun:]
            clash = np.isin(order, tail)
            # free ones first as far as this run reaches, then the clashing ones at random places behind it
            need = length - begun
            free = np.flatnonzero(~clash)[:need]
            rest = np.setdiff1d(np.arange(inputs), free, assume_unique=True)
            order = np.concatenate([order[free], order[rest]])
        stream.append(order)
        filled += inputs
        missing -= inputs
    return np.concatenate(stream)[: runs * length].reshape(runs, length)


def slots(inputs: int, count: int, rng: np.random.Generator) -> Ints:
    """`count` inputs in random order, each as often as the others (to within one)."""
    if count < inputs:
        return rng.choice(inputs, count, replace=False)  # takes memory for `count`, however many inputs there are
    rounds = -(-count // inputs)
    return np.concatenate([rng.permutation(inputs) for _ in range(rounds)])[:count]


def separate(first: Ints, second: Ints, rng: np.random.Generator) -> None:
    """Swaps entries of `second` until no neuron reads one input twice; how often each is used stays the same."""
    clashes = np.flatnonzero(first == second)
    clashes = clashes[np.argsort(first[clashes], kind="stable")]
    half = len(clashes) // 2  # two clashes over different inputs mend each other: all of them, where inputs are few
    left, right = clashes[:half], clashes[half : 2 * half]
    differ = first[left] != first[right]
    left, right = left[differ], right[differ]
    second[left], second[right] = second[right], second[left]
    for i in np.flatnonzero(first == second):
        for j in _partners(len(first), rng):
            if second[j] != first[i] and first[j] != second[i]:
                second[i], second[j] = second[j], second[i]
                break


def _partners(count: int, rng: np.random.Generator) -> Iterator[int]:
    """A few random guesses, which almost always do, then everyone."""
    yield from rng.integers(0, count, 20)
    yield from range(count)
