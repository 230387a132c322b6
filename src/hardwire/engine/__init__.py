"""Engines: interchangeable implementations of a forward pass, behind one small interface.

A pass has two steps without side effects. `select` turns logits into choices and reports how confident they are; then
the caller may move the temperatures; then `run` computes the outputs of the batch. Engines hold no state: the caller
keeps what `prepare` returns between passes. `reference` is plain torch on any device, and the standard for all others;
`native` is C++ for the CPU. `supports` sees the whole request, so an engine can decline anything.
"""

from typing import Any, Protocol

import torch

from hardwire.build import why_no_native
from hardwire.engine import native, reference
from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import MODES, Confidence, Head, Level, Request, Rule, Source, Stack
from hardwire.errors import HardwireError, unknown_name

__all__ = [
    "ENGINES",
    "MODES",
    "Choose",
    "Engine",
    "Entries",
    "Fixed",
    "Head",
    "Level",
    "Request",
    "Rule",
    "Source",
    "Stack",
    "check_engine",
    "choose",
]


class Engine(Protocol):
    """The interface of an engine. What `prepare` and `select` return is its own format."""

    def supports(self, request: Request) -> bool: ...
    def prepare(self, stack: Stack, before: object) -> Any: ...
    def select(self, request: Request, prepared: Any, confidence: bool) -> tuple[Any, list[Confidence]]: ...
    def run(self, request: Request, prepared: Any, choice: Any) -> torch.Tensor: ...


ENGINES: dict[str, Engine] = {"native": native, "reference": reference}  # by preference, best first


def check_engine(name: str) -> str:
    """Returns the name; raises unless it is "auto" or the name of an engine."""
    if name != "auto" and name not in ENGINES:
        raise unknown_name("engine", name, ("auto", *ENGINES))
    return name


def choose(name: str, request: Request) -> Engine:
    """The engine for this pass; "auto" is the first that supports it."""
    if name == "auto":
        if not torch.compiler.is_compiling():
            native.warn_if_missing()
        return next(engine for engine in ENGINES.values() if engine.supports(request))
    if name == "native" and not native.available():
        raise HardwireError(
            f"hardwire was installed without its native engine: {why_no_native()}; or use engine='auto'"
        )
    if not ENGINES[name].supports(request):
        dtypes = {str(logits.dtype) for logits in request.stack.parameters()}
        what = f"{', '.join(sorted(dtypes))} logits"
        if any(native.has_tables(level) for level in request.stack.levels):
            what += "; look-up tables take hard methods and inputs that are 0 or 1"
        raise HardwireError(
            f"the {name} engine does not support this network ({what}) with input on {request.x.device}; use "
            "engine='auto'"
        )
    return ENGINES[name]
