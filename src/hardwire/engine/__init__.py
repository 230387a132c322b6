"""Engines: interchangeable ways to do one forward pass, behind one small interface.

An engine is a module with two functions, `run_layer` and `run_network`, both differentiable in the logits and, for
float input, in the input; and `supports(x)`, which says whether it can take this input. `reference` is plain torch on
any device and judges all others. What a pass needs besides tensors is in a `Plan`, made by the layer or network.
"""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardwire.errors import HardwireError, unknown_name
from hardwire.noise import NoiseKey
from hardwire.selection import Method

if TYPE_CHECKING:
    from hardwire.temperature import Temperature

MODES = ("method", "argmax", "deploy")
ENGINES = ("reference",)  # by preference, best first; "auto" takes the first that supports the input


@dataclass(frozen=True)
class Plan:
    """One forward pass.

    mode: "method", the method's own pass (A^M); "argmax", the argmax gate with its soft formula (A^soft); or
    "deploy", the argmax gate with hard inputs (A^hard).
    advance: this is a training step, so the engine moves `temperature` by the confidence of the logits, once.
    """

    mode: str
    method: Method
    temperature: "Temperature"
    noise: NoiseKey | None = None
    advance: bool = False


def check_engine(name: str) -> str:
    """The name itself if it is "auto" or an engine's."""
    if name != "auto" and name not in ENGINES:
        raise unknown_name("engine", name, ("auto", *ENGINES))
    return name


def choose(name: str, x):
    """The engine module for input `x` (a float tensor or Bits)."""
    for candidate in ENGINES if name == "auto" else (name,):
        engine = importlib.import_module(f"hardwire.engine.{candidate}")
        if engine.supports(x):
            return engine
    raise HardwireError(f"engine {name!r} cannot take input on {x.device}; use engine='auto'")
