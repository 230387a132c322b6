"""Random wiring that uses every input equally often (to within one), and random candidates for learned wires.

The order of neurons in a layer is free, so they are sorted by their first input: half of an engine's random reads
become sequential. Surprising: the last layer is sorted only within each class group, or a class would see a slice of
the image.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.errors import HardwireError, whole_number
from hardwire.gates import GATE_ARITY
from hardwire.randomness import generator

Ints: TypeAlias = NDArray[np.int64]

_MOST = 2**31 - 1  # wires are int32


def random_wiring(inputs: int, neurons: int, seed: int, groups: int = 1, arity: int = GATE_ARITY) -> torch.Tensor:
    """Random wires that use every input equally often (to within one).

    Args:
        inputs: The number of inputs.
        neurons: The number of neurons.
        seed: The seed of the draws.
        groups: Neurons are sorted by first input within this many equal, contiguous groups.
        arity: The inputs of each neuron.

    Returns:
        int32 [arity, neurons]: the inputs of each neuron, which differ wherever there are enough.

    Example:
        >>> import hardwire as hw
        >>> hw.wiring.random_wiring(784, 8000, seed=0).shape
        torch.Size([2, 8000])
    """
    check_sizes(inputs, neurons, groups)
    rng = generator(seed, "wiring.random")
    sides = slots(inputs, arity * neurons, rng).reshape(arity, neurons)
    if inputs >= arity:
        for side in range(1, arity):
            separate(sides[:side], sides[side], rng)
        if has_repeats(sides):  # with few inputs there may be no partner left to swap with
            sides = _distinct_runs(inputs, neurons, arity, rng).T
    return sorted_wires(sides, groups)


def candidate_wiring(
    inputs: int, neurons: int, seed: int, groups: int = 1, candidates: int = 16, arity: int = GATE_ARITY
) -> torch.Tensor:
    """Random candidates for learned wires.

    Every input is a candidate equally often (to within one). With as many candidates as inputs, each wire chooses among
    all of them.

    Args:
        inputs: The number of inputs.
        neurons: The number of neurons.
        seed: The seed of the draws.
        groups: Into how many equal groups the neurons must split; the candidates do not depend on it.
        candidates: Candidates for each input of a neuron, 2 to `inputs`.
        arity: The inputs of each neuron.

    Returns:
        int32 [arity, neurons, candidates]; the candidates of one wire all differ.

    Example:
        >>> import hardwire as hw
        >>> hw.wiring.candidate_wiring(784, 8000, seed=0, candidates=16).shape
        torch.Size([2, 8000, 16])
    """
    check_sizes(inputs, neurons, groups)
    candidates = whole_number("candidates", candidates)
    if not 2 <= candidates <= inputs:
        raise HardwireError(
            f"{candidates} candidates for each wire of a layer that reads {inputs} inputs; use 2 to {inputs}"
        )
    rng = generator(seed, "wiring.learned")
    offered = _distinct_runs(inputs, arity * neurons, candidates, rng).reshape(arity, neurons, candidates)
    return torch.from_numpy(offered.astype(np.int32))


def check_sizes(inputs: int, neurons: int, groups: int) -> None:
    if inputs < 1 or neurons < 1:
        raise HardwireError(f"a layer needs at least 1 input and 1 neuron, not {inputs} and {neurons}")
    if groups < 1 or neurons % groups:
        raise HardwireError(f"{neurons} neurons cannot be split into {groups} equal groups")
    if max(inputs, neurons) > _MOST:
        raise HardwireError(f"a layer has at most {_MOST} inputs and neurons, not {inputs} and {neurons}")


def _distinct_runs(inputs: int, runs: int, length: int, rng: np.random.Generator) -> Ints:
    """Inputs [runs, length], all used equally often (to within one), and no run with one input twice.

    Permutations one after another are cut into runs; where a run crosses the border between two permutations, inputs
    that it already has are moved further back.
    """
    stream: list[Ints] = []
    missing, filled = runs * length, 0
    while missing > 0:
        order = rng.permutation(inputs)
        begun = filled % length
        if begun:
            tail = stream[-1][-begun:] if len(stream[-1]) >= begun else np.concatenate(stream)[-begun:]
            clash = np.isin(order, tail)
            # inputs that do not clash first, as many as this run needs, then all others
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
        return rng.choice(inputs, count, replace=False)  # memory for `count`, however many inputs there are
    rounds = -(-count // inputs)
    return np.concatenate([rng.permutation(inputs) for _ in range(rounds)])[:count]


def sorted_wires(sides: Ints, groups: int) -> torch.Tensor:
    """int32 wires from sides [n, neurons], with the neurons of each group sorted by their inputs, the first first."""
    neurons = sides.shape[1]
    order = np.lexsort((*sides[::-1], np.arange(neurons) // (neurons // groups)))
    return torch.from_numpy(sides[:, order].astype(np.int32))


def has_repeats(sides: Ints) -> bool:
    """Whether a neuron reads an input twice; sides: [n, neurons]."""
    ordered = np.sort(sides, axis=0)
    return bool((ordered[1:] == ordered[:-1]).any())


def separate(others: Ints, own: Ints, rng: np.random.Generator) -> None:
    """Swaps entries of `own` [neurons] until no neuron reads in it what it reads in `others` [n, neurons], if it can.

    The number of uses of each input stays the same.
    """

    def may_take(neurons: Ints, values: Ints) -> NDArray[np.bool_]:
        taken: NDArray[np.bool_] = (others[:, neurons] != values).all(0)
        return taken

    clashes = np.flatnonzero((others == own).any(0))
    clashes = clashes[np.argsort(own[clashes], kind="stable")]
    half = len(clashes) // 2  # swapping two clashes over different inputs resolves both
    left, right = clashes[:half], clashes[half : 2 * half]
    differ = may_take(left, own[right]) & may_take(right, own[left])
    left, right = left[differ], right[differ]
    own[left], own[right] = own[right], own[left]
    for i in np.flatnonzero((others == own).any(0)):
        for j in _partners(len(own), rng):
            if (others[:, i] != own[j]).all() and (others[:, j] != own[i]).all():
                own[i], own[j] = own[j], own[i]
                break


def _partners(count: int, rng: np.random.Generator) -> Iterator[int]:
    """A few random guesses, which almost always suffice, then all."""
    yield from rng.integers(0, count, 20)
    yield from range(count)
