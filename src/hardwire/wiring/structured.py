"""Structured wiring: fixed wires that mix well by construction.

A neuron of the first layer reads two different values, never two thresholds of one value, and neighbouring ones where
the image has a shape. Later layers mix by strides, like the butterflies of a fast Fourier transform. Surprising: every
input is still used equally often.
"""

import math

import numpy as np
import torch

from hardwire.errors import HardwireError, whole_number
from hardwire.randomness import generator
from hardwire.wiring.random import Ints, check_sizes, slots

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
) -> torch.Tensor:
    """Wires that mix neighbouring pixels first and then by strides.

    Args:
        inputs: The number of inputs.
        neurons: The number of neurons.
        seed: The seed of the draws.
        groups: Neurons are sorted by first input within this many equal, contiguous groups.
        layer: The number of the layer; layer 0 reads the data.
        levels: The number of thresholds of each value, which are adjacent inputs.
        shape: (channels, height, width) of the values. The two inputs of a first gate then lie at most `radius` pixels
            apart.
        radius: In pixels.

    Returns:
        int32 [2, neurons].

    Example:
        >>> import hardwire as hw
        >>> hw.wiring.structured_wiring(784, 8000, seed=0, shape=(1, 28, 28)).shape
        torch.Size([2, 8000])
    """
    check_sizes(inputs, neurons, groups)
    layer = whole_number("layer", layer, least=0)
    rng = generator(seed, "wiring.structured")
    if layer:
        first, second = _butterfly(inputs, neurons, layer, rng)
    else:
        levels, radius = whole_number("levels", levels), whole_number("radius", radius)
        first, second = _first_layer(inputs, neurons, levels, shape, radius, rng)
    order = np.lexsort((second, first, np.arange(neurons) // (neurons // groups)))
    return torch.from_numpy(np.stack([first[order], second[order]]).astype(np.int32))


def _first_layer(
    inputs: int, neurons: int, levels: int, shape: tuple[int, int, int] | None, radius: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    if inputs % levels:
        raise HardwireError(f"{inputs} inputs cannot be values of {levels} levels each")
    values = inputs // levels
    if shape is not None and math.prod(shape) != values:
        raise HardwireError(f"an image of shape {tuple(shape)} does not hold {values} values of {levels} levels")
    first = slots(inputs, neurons, rng)
    if values == 1:
        return first, first
    own = first // levels
    partner = _near(own, shape, radius, rng) if shape is not None else _other(own, values, rng)
    return first, partner * levels + rng.integers(0, levels, neurons)


def _other(own: Ints, values: int, rng: np.random.Generator) -> Ints:
    """Any other value, all equally likely."""
    drawn = rng.integers(0, values - 1, len(own))
    return drawn + (drawn >= own)


def _near(own: Ints, shape: tuple[int, int, int], radius: int, rng: np.random.Generator) -> Ints:
    """A value of any channel at another pixel within the radius."""
    channels, height, width = shape
    y, x = np.divmod(own % (height * width), width)
    partner, missing = _other(own, math.prod(shape), rng), np.arange(len(own))
    for _ in range(_TRIES):
        down, right = (rng.integers(-radius, radius + 1, len(missing)) for _ in range(2))
        new_y, new_x = y[missing] + down, x[missing] + right
        fits = (new_y >= 0) & (new_y < height) & (new_x >= 0) & (new_x < width) & ((down != 0) | (right != 0))
        place = (rng.integers(0, channels, len(missing)) * height + new_y) * width + new_x
        partner[missing[fits]] = place[fits]
        missing = missing[~fits]
        if not len(missing):
            break
    return partner


def _butterfly(inputs: int, neurons: int, layer: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Each neuron reads one input, in balanced random order, and the one a stride away; strides halve per layer."""
    first = slots(inputs, neurons, rng)
    if inputs == 1:
        return first, first
    octaves = max(1, int(math.log2(inputs)))
    stride = max(1, inputs >> (1 + (layer - 1) % octaves))
    return first, (first + stride) % inputs
