"""Train the circuit you ship: logic gate networks whose training-time forward pass is the deployed circuit.

Names load on first use, as `__init__.pyi` lists them: `import hardwire` is quick, and a saved circuit runs where torch
is not installed.
"""

import os
import sys

import lazy_loader

from hardwire.errors import missing_package

__version__ = "0.3.0"

if "torch" not in sys.modules:
    # torch's threads, which the native engine shares, otherwise spin while they wait; where others use the machine too
    # that costs most of the time. They read this once, when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_load, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*_names, "__version__"]


def __getattr__(name: str) -> object:
    if name not in _names:
        raise AttributeError(f"module 'hardwire' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        raise missing_package(error, f"hardwire.{name}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
