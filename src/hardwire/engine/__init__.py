"""Engines: interchangeable ways to do one forward pass, behind one small interface.

An engine is a module with `run_layer` and `run_network`, both differentiable in the logits and, for float input, in the
input; and `supports(x, logits)`, which says whether it can take these. `reference` is plain torch on any device and
judges all others; `native` is C++ for the CPU. What a pass needs besides tensors is in a `Plan`.
"""

import torch

from hardwire.engine import native, reference
from hardwire.engine.plan import MODES, Plan
from hardwire.errors import HardwireError, unknown_name

ENGINES = {"native": native, "reference": reference}  # by preference, best first

__all__ = ["ENGINES", "MODES", "Plan", "check_engine", "choose"]


def check_engine(name: str) -> str:
    """The name itself if it is "auto" or an engine's."""
    if name != "auto" and name not in ENGINES:
        raise unknown_name("engine", name, ("auto", *ENGINES))
    return name


def choose(name: str, x, logits: torch.Tensor):
    """The engine for input `x` (a float tensor or Bits) and logits like these; "auto" takes the best that can."""
    if name == "auto":
        if not torch.compiler.is_compiling():
            native.warn_if_missing()
        return native if native.supports(x, logits) else reference
    if ENGINES[name] is native and not native.available():
        raise HardwireError(
            "hardwire was installed without its native engine; use engine='auto', or install g++ or clang and "
            "reinstall hardwire"
        )
    if not ENGINES[name].supports(x, logits):
        raise HardwireError(
            f"the {name} engine cannot take {logits.dtype} logits with input on {x.device}; use engine='auto'"
        )
    return ENGINES[name]
