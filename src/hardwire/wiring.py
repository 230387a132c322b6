"""Which inputs feed which gate: by name in `WIRINGS`, each a function that gives wires, or candidates to choose from.

"random" is the paper's: random, but every input is used equally often (to within one). "learned" offers each input of
each neuron K candidates, every input equally often. `register_wiring` adds one. Neuron order within a layer is free,
so neurons are sorted by their first input: half of an engine's random reads become streams. Surprising: the last layer
is sorted only inside each class group, or a class would see a slice of the image.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from hardwire.errors import HardwireError, unknown_name, whole_number

_Ints: TypeAlias = NDArray[np.int64]

_MOST = 2**31 - 1  # wires are int32


def random_wiring(inputs: int, neurons: int, seed: int, groups: int = 1) -> torch.Tensor:
    """int32 [2, neurons]: the first and second input of each neuron, two different ones wherever inputs > 1.

    groups: the neurons are sorted by first input within this many equal, contiguous groups.
    """
    _check_sizes(inputs, neurons, groups)
    rng = np.random.default_rng(seed)
    slots = _slots(inputs, 2 * neurons, rng)
    first, second = slots[:neurons], slots[neurons:].copy()
    if inputs > 1:
        _separate(first, second, rng)
    order = np.lexsort((second, first, np.arange(neurons) // (neurons // groups)))
    return torch.from_numpy(np.stack([first[order], second[order]]).astype(np.int32))


def candidate_wiring(inputs: int, neurons: int, seed: int, groups: int = 1, candidates: int = 16) -> torch.Tensor:
    """int32 [2, neurons, candidates]: wires to choose from, different ones for each input of a neuron.

    Every input is offered equally often (to within one). With as many candidates as inputs, each chooses among all.
    """
    _check_sizes(inputs, neurons, groups)
    candidates = whole_number("candidates", candidates)
    if not 2 <= candidates <= inputs:
        raise HardwireError(
            f"{candidates} candidates for each wire of a layer that reads {inputs} inputs; use 2 to {inputs}"
        )
    rng = np.random.default_rng(seed)
    offered = _distinct_runs(inputs, 2 * neurons, candidates, rng).reshape(2, neurons, candidates)
    return torch.from_numpy(offered.astype(np.int32))


Wiring: TypeAlias = Callable[..., torch.Tensor]
"""(inputs, neurons, seed, groups, and options by name) -> int32 [2, neurons], or [2, neurons, K] to choose from."""

WIRINGS: dict[str, Wiring] = {"random": random_wiring, "learned": candidate_wiring}


def register_wiring(name: str, wiring: Wiring) -> None:
    """From now on layers take `wiring=name`; models that use it load where it is registered."""
    WIRINGS[name] = wiring


def make_wiring(
    name: str, inputs: int, neurons: int, seed: int, groups: int, options: dict[str, object]
) -> torch.Tensor:
    """The wires of a layer by the name of the wiring and what it takes besides, such as candidates."""
    if not isinstance(name, str) or name not in WIRINGS:
        raise unknown_name("wiring", name, WIRINGS)
    known = inspect.signature(WIRINGS[name]).parameters
    for option in options:
        if option not in known:
            raise HardwireError(f"wiring {name!r} takes no {option}; leave it out or use another wiring")
    return WIRINGS[name](inputs, neurons, seed, groups, **options)


def _check_sizes(inputs: int, neurons: int, groups: int) -> None:
    if inputs < 1 or neurons < 1:
        raise HardwireError(f"a layer needs at least 1 input and 1 neuron, not {inputs} and {neurons}")
    if groups < 1 or neurons % groups:
        raise HardwireError(f"{neurons} neurons cannot be split into {groups} equal groups")
    if max(inputs, neurons) > _MOST:
        raise HardwireError(f"a layer has at most {_MOST} inputs and neurons, not {inputs} and {neurons}")


def _distinct_runs(inputs: int, runs: int, length: int, rng: np.random.Generator) -> _Ints:
    """[runs, length] of inputs, all used equally often (to within one) and no run with one twice.

    One permutation after another, cut into runs; where a run crosses the border, what it holds already is moved back.
    """
    stream: list[_Ints] = []
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


def _slots(inputs: int, count: int, rng: np.random.Generator) -> _Ints:
    """`count` inputs in random order, each as often as the others (to within one)."""
    if count < inputs:
        return rng.choice(inputs, count, replace=False)  # takes memory for `count`, however many inputs there are
    rounds = -(-count // inputs)
    return np.concatenate([rng.permutation(inputs) for _ in range(rounds)])[:count]


def _separate(first: _Ints, second: _Ints, rng: np.random.Generator) -> None:
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
