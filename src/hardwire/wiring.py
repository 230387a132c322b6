"""Which inputs feed which gate: random, but every input is used equally often (to within one).

Neuron order within a layer is free, so neurons are sorted by their first input: half of an engine's random reads become
streams. Surprising: the last layer is sorted only inside each class group, or a class would see a slice of the image.
"""

import numpy as np
import torch

from hardwire.errors import HardwireError

_MOST = 2**31 - 1  # wires are int32


def random_wiring(inputs: int, neurons: int, seed: int, groups: int = 1) -> torch.Tensor:
    """int32 [2, neurons]: the first and second input of each neuron, two different ones wherever inputs > 1.

    groups: the neurons are sorted by first input within this many equal, contiguous groups.
    """
    if inputs < 1 or neurons < 1:
        raise HardwireError(f"a layer needs at least 1 input and 1 neuron, not {inputs} and {neurons}")
    if groups < 1 or neurons % groups:
        raise HardwireError(f"{neurons} neurons cannot be split into {groups} equal groups")
    if max(inputs, neurons) > _MOST:
        raise HardwireError(f"a layer has at most {_MOST} inputs and neurons, not {inputs} and {neurons}")
    rng = np.random.default_rng(seed)
    slots = _slots(inputs, 2 * neurons, rng)
    first, second = slots[:neurons], slots[neurons:].copy()
    if inputs > 1:
        _separate(first, second, rng)
    order = np.lexsort((second, first, np.arange(neurons) // (neurons // groups)))
    return torch.from_numpy(np.stack([first[order], second[order]]).astype(np.int32))


def _slots(inputs: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` inputs in random order, each as often as the others (to within one)."""
    if count < inputs:
        return rng.choice(inputs, count, replace=False)  # takes memory for `count`, however many inputs there are
    rounds = -(-count // inputs)
    return np.concatenate([rng.permutation(inputs) for _ in range(rounds)])[:count]


def _separate(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> None:
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


def _partners(count: int, rng: np.random.Generator):
    """A few random guesses, which almost always do, then everyone."""
    yield from rng.integers(0, count, 20)
    yield from range(count)
