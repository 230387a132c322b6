"""How this copy of hardwire was installed: its native module or why it has none, and which extras are there.

The only place that imports the native module. pip shows nothing of a build that succeeds, so a build without a compiler
leaves a module `hardwire._no_native` behind, which says what was missing.
"""

import importlib
import importlib.util
from typing import Any

from hardwire.errors import PACKAGES_OF_EXTRAS

native: Any
try:
    native = importlib.import_module("hardwire._native")
except ImportError as error:  # not built, or built for another system
    native, _failure = None, str(error)


def why_no_native() -> str | None:
    """Why there is no native module and what would bring it, or None where there is one."""
    if native is not None:
        return None
    try:
        return str(importlib.import_module("hardwire._no_native").REASON)
    except ImportError:
        return _failure


def missing_extras() -> dict[str, list[str]]:
    """The extras of hardwire that are not installed, each with the packages that it lacks."""
    missing = {
        extra: [package for package in packages if importlib.util.find_spec(package) is None]
        for extra, packages in PACKAGES_OF_EXTRAS.items()
    }
    return {extra: packages for extra, packages in missing.items() if packages}


def version_text() -> str:
    """What `hardwire --version` prints: the version, the engine, and which extras are installed."""
    from hardwire import __version__

    missing = missing_extras()
    there = [extra for extra in PACKAGES_OF_EXTRAS if extra not in missing]
    engine = f"native, {native.instruction_set()}" if native else f"plain torch and numpy, slower: {why_no_native()}"
    lines = [f"hardwire {__version__}", f"engine: {engine}", f"extras: {', '.join(there) or 'none'}"]
    if missing:
        lines.append(f"not installed: {', '.join(missing)} (pip install 'hardwire[{next(iter(missing))}]')")
    return "\n".join(lines)
