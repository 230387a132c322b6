"""Structured wiring: fixed wires that mix well by construction.

A neuron of the first layer reads different values, never two thresholds of one value, and neighbouring ones where
the image has a shape. Later layers mix by strides, like the butterflies of a fast Fourier transform. Surprising: every
input is still used equally often.
"""

import math

import numpy as np
import torch

from hardwire.errors import HardwireError, whole_number
from hardwire.gates import GATE_ARITY
from hardwire.randomness import generator
from hardwire.wiring.random import Ints, check_sizes, slots, sorted_wires

_TRIES = 64  # draws of a near value before any other is accepted


def structured_wiring(
    inputs: int,
    neurons: int,
    seed: int,
    groups: int = 1,
    layer: int = 0,
    levels: int = 1,
    shape: tuple[int, int, int] | None = None,
    radius: int = 3,
    arity: int = GATE_ARITY,
) -> torch.Tensor:
    """Wires that mix neighbouring pixels first and then by strides.

    Args:
        inputs: The number of inputs.
        neurons: The number of neurons.
        seed: The seed of the draws.
        groups: Neurons are sorted by first input within this many equal, contiguous groups.
        layer: The number of the layer; layer 0 reads the data.
        levels: The number of thresholds of each value, which are adjacent inputs.
        shape: (channels, height, width) of the values. The inputs of a first neuron then lie at most `radius` pixels
            from the first of them.
        radius: In pixels.
        arity: The inputs of each neuron.

    Returns:
        int32 [arity, neurons].

    Example:
        >>> import hardwire as hw
        >>> hw.wiring.structured_wiring(784, 8000, seed=0, shape=(1, 28, 28)).shape
        torch.Size([2, 8000])
    """
    check_sizes(inputs, neurons, groups)
    layer = whole_number("layer", layer, least=0)
    rng = generator(seed, "wiring.structured")
    if layer:
        sides = _butterfly(inputs, neurons, layer, arity, rng)
    else:
        levels, radius = whole_number("levels", levels), whole_number("radius", radius)
        sides = _first_layer(inputs, neurons, levels, shape, radius, arity, rng)
    return sorted_wires(sides, groups)


def _first_layer(
    inputs: int,
    neurons: int,
    levels: int,
    shape: tuple[int, int, int] | None,
    radius: int,
    arity: int,
    rng: np.random.Generator,
) -> Ints:
    if inputs % levels:
        raise HardwireError(f"{inputs} inputs cannot be values of {levels} levels each")
    values = inputs // levels
    if shape is not None and math.prod(shape) != values:
        raise HardwireError(f"an image of shape {tuple(shape)} does not hold {values} values of {levels} levels")
    first = slots(inputs, neurons, rng)
    if values == 1:
        return np.tile(first, (arity, 1))
    if values < arity:
        raise HardwireError(
            f"structured wiring gives a neuron {arity} different values, and there are {values}; use a smaller arity "
            "or wiring='random'"
        )
    sides, read = [first], (first // levels)[None]  # the values that each neuron reads, [so far, neurons]
    for _ in range(1, arity):
        partner = _near(read, shape, radius, rng) if shape is not None else _other(read, values, rng)
        read = np.concatenate([read, partner[None]])
        sides.append(partner * levels + rng.integers(0, levels, neurons))
    return np.stack(sides)


def _other(read: Ints, values: int, rng: np.random.Generator) -> Ints:
    """Any value that is not among those of each neuron, [n, neurons], all equally likely."""
    drawn = rng.integers(0, values - len(read), (read.shape[1],))
    for taken in np.sort(read, axis=0):
        drawn = np.where(drawn >= taken, drawn + 1, drawn)
    return drawn


def _near(read: Ints, shape: tuple[int, int, int], radius: int, rng: np.random.Generator) -> Ints:
    """A new value of any channel at another pixel within the radius of the first of those of each neuron."""
    channels, height, width = shape
    y, x = np.divmod(read[0] % (height * width), width)
    partner, missing = _other(read, math.prod(shape), rng), np.arange(read.shape[1])
    for _ in range(_TRIES):
        down, right = (rng.integers(-radius, radius + 1, len(missing)) for _ in range(2))
        new_y, new_x = y[missing] + down, x[missing] + right
        fits = (new_y >= 0) & (new_y < height) & (new_x >= 0) & (new_x < width) & ((down != 0) | (right != 0))
        place = (rng.integers(0, channels, len(missing)) * height + new_y) * width + new_x
        fits &= (read[:, missing] != place).all(0)
        partner[missing[fits]] = place[fits]
        missing = missing[~fits]
        if not len(missing):
            break
    return partner


def _butterfly(inputs: int, neurons: int, layer: int, arity: int, rng: np.random.Generator) -> Ints:
    """Each neuron reads one input, in balanced random order, and those one stride and more away.

    Strides shrink from layer to layer by the number of inputs of a neuron.
    """
    first = slots(inputs, neurons, rng)
    rounds = 1
    while arity ** (rounds + 1) <= inputs:
        rounds += 1
    stride = max(1, inputs // arity ** (1 + (layer - 1) % rounds))
    sides: Ints = (first + stride * np.arange(arity)[:, None]) % inputs
    return sides
