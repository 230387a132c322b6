"""Which code made a result: the version of hardwire and a digest of the modules that a run passes through.

Surprising: the digest leaves out this room, the command line and the circuits, so that work on reports does not make
a store of results look old. Runs of two code versions are never taken for the same run.
"""

import functools
import hashlib
from pathlib import Path

import hardwire

_ROOMS = ("bits", "data", "engine", "gap", "gates", "layers", "network", "noise", "packing", "selection")
_ROOMS += ("temperature", "training", "wiring")


@functools.cache
def code_version() -> str:
    """Such as 0.1.0+5f3a9c21."""
    folder = Path(hardwire.__file__).parent
    files = [folder / f"{room}.py" for room in _ROOMS if (folder / f"{room}.py").exists()]
    files += [path for room in _ROOMS for path in (folder / room).rglob("*.py")]
    digest = hashlib.blake2b(digest_size=4)
    for path in sorted(files):
        digest.update(path.read_bytes())
    return f"{hardwire.__version__}+{digest.hexdigest()}"
