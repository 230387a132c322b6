"""Engines: interchangeable ways to do one forward pass, behind one small interface.

A pass is two pure steps. `select` turns logits into choices and says how confident they are; then whoever owns the
temperatures may move them; then `run` takes the batch through. No engine changes a state: what it wants to keep between
passes (`prepare`) the caller owns. `reference` is plain torch on any device and judges all others; `native` is C++ for
the CPU. `supports` sees the whole request, so an engine may decline anything.
"""

from typing import Any, Protocol

import torch

from hardwire.engine import native, reference
from hardwire.engine.stack import MODES, Confidence, Head, Level, Request, Rule, Stack
from hardwire.errors import HardwireError, unknown_name

__all__ = ["ENGINES", "MODES", "Engine", "Head", "Level", "Request", "Rule", "Stack", "check_engine", "choose"]


class Engine(Protocol):
    """What an engine offers; `prepared` and `choice` are its own business."""

    def supports(self, request: Request) -> bool: ...
    def prepare(self, stack: Stack, before: object) -> Any: ...
    def select(self, request: Request, prepared: Any, confidence: bool) -> tuple[Any, list[Confidence]]: ...
    def run(self, request: Request, prepared: Any, choice: Any) -> torch.Tensor: ...


ENGINES: dict[str, Engine] = {"native": native, "reference": reference}  # by preference, best first


def check_engine(name: str) -> str:
    """The name itself if it is "auto" or an engine's."""
    if name != "auto" and name not in ENGINES:
        raise unknown_name("engine", name, ("auto", *ENGINES))
    return name


def choose(name: str, request: Request) -> Engine:
    """The engine for this pass; "auto" takes the best that can."""
    if name == "auto":
        if not torch.compiler.is_compiling():
            native.warn_if_missing()
        return next(engine for engine in ENGINES.values() if engine.supports(request))
    if name == "native" and not native.available():
        raise HardwireError(
            "hardwire was installed without its native engine; use engine='auto', or install g++ or clang and "
            "reinstall hardwire"
        )
    if not ENGINES[name].supports(request):
        dtypes = {str(logits.dtype) for logits in request.stack.parameters()}
        raise HardwireError(
            f"the {name} engine cannot take this network ({', '.join(sorted(dtypes))} logits) with input on "
            f"{request.x.device}; use engine='auto'"
        )
    return ENGINES[name]
