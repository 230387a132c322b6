"""Which inputs feed which neuron: functions by name in `WIRINGS` that make wires, or candidates to choose from.

"random" is the paper's wiring, "structured" mixes by strides and starts with neighbouring pixels, and "learned" gives
each input of each neuron K candidates. `register_wiring` adds another.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from hardwire.errors import HardwireError, check_new, unknown_name
from hardwire.gates import GATE_ARITY
from hardwire.wiring.random import candidate_wiring, random_wiring
from hardwire.wiring.structured import structured_wiring

__all__ = [
    "WIRINGS",
    "accepts_option",
    "candidate_wiring",
    "candidates_for",
    "check_wiring",
    "make_wiring",
    "random_wiring",
    "register_wiring",
    "structured_wiring",
]

Wiring: TypeAlias = Callable[..., torch.Tensor]
"""A function of (inputs, neurons, seed, groups, options by name) that returns int32 wires [n, neurons], or candidates
[n, neurons, K]. Neurons have n = 2 inputs, or as many as its option `arity` says."""

WIRINGS: dict[str, Wiring] = {
    "random": random_wiring,
    "structured": structured_wiring,
    "learned": candidate_wiring,
}


def register_wiring(name: str, wiring: Wiring) -> None:
    """Registers a wiring under a name, which layers then accept as `wiring=name`.

    Models with this wiring can be loaded wherever it is registered.

    Args:
        name: The name.
        wiring: A function of (inputs, neurons, seed, groups) and further options by name that returns int32 wires
            [2, neurons], or candidates [2, neurons, K]. With an option `arity` it serves look-up tables, too, and
            returns [arity, neurons] or [arity, neurons, K].

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> def neighbours(inputs, neurons, seed, groups=1):
        ...     first = torch.arange(neurons) % inputs
        ...     return torch.stack([first, (first + 1) % inputs]).int()
        >>> hw.wiring.register_wiring("neighbours", neighbours)
        >>> hw.LogicLayer(4, 4, wiring="neighbours").wiring.tolist()
        [[0, 1, 2, 3], [1, 2, 3, 0]]
    """
    check_new("wiring", name, WIRINGS)
    WIRINGS[name] = wiring


def make_wiring(
    name: str, inputs: int, neurons: int, seed: int, groups: int, options: dict[str, object], arity: int = GATE_ARITY
) -> torch.Tensor:
    """Makes the wires of a layer by the name of a wiring; options are its own arguments, such as candidates."""
    check_wiring(name, options, arity)
    options = {**options, "arity": arity} if accepts_option(name, "arity") else options
    return WIRINGS[name](inputs, neurons, seed, groups, **options)


def check_wiring(name: str, options: dict[str, object], arity: int = GATE_ARITY) -> None:
    """Raises unless the wiring is known, has these options, and makes wires for neurons of this many inputs."""
    if not isinstance(name, str) or name not in WIRINGS:
        raise unknown_name("wiring", name, WIRINGS)
    known = inspect.signature(WIRINGS[name]).parameters
    for option in options:
        if option not in known:
            raise HardwireError(f"wiring {name!r} takes no {option}; leave it out or use another wiring")
    if arity != GATE_ARITY and "arity" not in known:
        raise HardwireError(
            f"wiring {name!r} makes wires for {GATE_ARITY} inputs, not {arity}; give it an option arity, or use "
            "another wiring"
        )


def candidates_for(name: str, candidates: int | None, inputs: int) -> dict[str, Any]:
    """The arguments `wiring` and `candidates` of a layer, with no more candidates than it has inputs.

    A single input leaves nothing to choose, so its wires are fixed.
    """
    if candidates is None or name != "learned":
        return {"wiring": name} | ({} if candidates is None else {"candidates": candidates})
    return {"wiring": name, "candidates": min(candidates, inputs)} if inputs > 1 else {"wiring": "random"}


def accepts_option(name: str, option: str) -> bool:
    """Whether a wiring has this option."""
    return name in WIRINGS and option in inspect.signature(WIRINGS[name]).parameters
