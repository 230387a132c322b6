"""Which inputs feed which gate: by name in `WIRINGS`, each a function that gives wires, or candidates to choose from.

"random" is the paper's; "structured" mixes by strides and looks at near pixels first; "learned" offers each input of
each neuron K candidates. `register_wiring` adds one.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from hardwire.errors import HardwireError, check_new, unknown_name
from hardwire.wiring.random import candidate_wiring, random_wiring
from hardwire.wiring.structured import structured_wiring

__all__ = [
    "WIRINGS",
    "candidate_wiring",
    "candidates_for",
    "make_wiring",
    "random_wiring",
    "register_wiring",
    "structured_wiring",
    "takes",
]

Wiring: TypeAlias = Callable[..., torch.Tensor]
"""(inputs, neurons, seed, groups, and options by name) -> int32 [2, neurons], or [2, neurons, K] to choose from."""

WIRINGS: dict[str, Wiring] = {
    "random": random_wiring,
    "structured": structured_wiring,
    "learned": candidate_wiring,
}


def register_wiring(name: str, wiring: Wiring) -> None:
    """From now on layers take `wiring=name`; models that use it load where it is registered."""
    check_new("wiring", name, WIRINGS)
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


def candidates_for(name: str, candidates: int | None, inputs: int) -> dict[str, Any]:
    """A wiring and its candidates as arguments of a layer: no more of them than there are inputs, and where there is
    one input nothing to choose."""
    if candidates is None or name != "learned":
        return {"wiring": name} | ({} if candidates is None else {"candidates": candidates})
    return {"wiring": name, "candidates": min(candidates, inputs)} if inputs > 1 else {"wiring": "random"}


def takes(name: str, option: str) -> bool:
    """Whether a wiring has such an option."""
    return name in WIRINGS and option in inspect.signature(WIRINGS[name]).parameters
