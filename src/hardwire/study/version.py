"""Which code made a result: the version of hardwire and a digest of the code that decides how a run goes.

That is the Python of the modules that a kind of run names, and the C++ of the training engine, whose digest the build
puts into the compiled module: two machines that compiled the same sources have the same version. Surprising: reports
and circuits are left out, so that work on them does not make a store of results look old.
"""

import functools
import hashlib
import subprocess
from importlib.util import find_spec
from pathlib import Path

import hardwire
from hardwire.build import native as native_module
from hardwire.errors import HardwireError
from hardwire.study.kinds import Kind


def code_version(kind: Kind) -> str:
    """Returns the version of the code that runs this kind, such as 0.3.0+5f3a9c21."""
    return f"{hardwire.__version__}+{_digest((*kind.sources, type(kind).__module__), native_sources())}"


@functools.cache
def _digest(sources: tuple[str, ...], native: str) -> str:
    digest = hashlib.blake2b(native.encode(), digest_size=4)
    for path in sorted({path for name in sources for path in _files(name)}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(name: str) -> list[Path]:
    """The Python files of a module or of a whole package; none for a module that is not a file, such as __main__."""
    spec = None if name == "__main__" else find_spec(name)
    if spec is None:
        if name == "__main__":
            return []
        raise HardwireError(f"there is no module {name}, whose code decides how a run goes")
    if spec.submodule_search_locations:
        return [path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py")]
    return [Path(spec.origin)] if spec.origin else []


def commit() -> str | None:
    """Returns the commit of the checkout that this code is in; None outside of one, or if its code was changed."""
    here = Path(__file__).parents[1]
    try:
        _git(here, "ls-files", "--error-unmatch", "__init__.py")  # else another project's checkout is around us
        _git(here, "diff", "--quiet", "HEAD", "--", "..")
        return _git(here, "rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def native_sources() -> str:
    """Returns the digest of the C++ that the native module was built from; "none" without one."""
    return "none" if native_module is None else str(native_module.training_sources)
