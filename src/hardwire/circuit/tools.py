"""Finds and runs external programs: a C compiler, yosys and ABC.

Yosys is used as a program or, if that is missing, as pyosys from PyPI, the same tool as a Python extension. Either way
it runs in a process of its own, so that its failures become one error here. A program that reads a file of unknown
origin gets `Limits` of memory and processor time.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hardwire.errors import HardwireError

PYOSYS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"

# By a shell, which starts in a millisecond. A limit that cannot be set may be lower already; macOS cannot limit memory.
_LIMITED = """
set -e
ulimit -c 0
ulimit -v "$1" 2> /dev/null || test "$(uname)" = Darwin || test "$(ulimit -v)" -le "$1"
ulimit -t "$2" 2> /dev/null || test "$(ulimit -t)" -le "$2"
shift 2
exec "$@"
"""


@dataclass(frozen=True)
class Limits:
    """What a program may use, on systems that can limit it.

    Attributes:
        memory: Bytes of address space.
        seconds: Seconds of processor time.
    """

    memory: int
    seconds: int


class Ended(HardwireError):
    """A program crashed or took more than it may, which looks the same from outside where memory runs out."""


def c_compiler() -> str:
    """Returns $CC, or the first of cc, gcc and clang."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        raise HardwireError(f"no C compiler found (looked for {', '.join(names)}); install gcc or clang, or set CC")
    return compiler


def has_yosys() -> bool:
    """Whether yosys or pyosys is installed."""
    return shutil.which("yosys") is not None or importlib.util.find_spec("pyosys") is not None


def run_yosys(commands: Sequence[str], folder: str, limits: Limits | None = None) -> str:
    """Runs yosys commands in `folder` and returns the log."""
    script = Path(folder, "script.ys")
    script.write_text("\n".join(commands) + "\n")
    if shutil.which("yosys"):
        call = ["yosys", "-Q", script.name]
    elif has_yosys():
        call = [sys.executable, "-c", PYOSYS, script.name]
    else:
        raise HardwireError("yosys is not installed; run: pip install pyosys (or install the yosys program)")
    return run(call, "yosys", folder, limits)


def _abc() -> str | None:
    """Returns the path of ABC, which comes with yosys and with pyosys."""
    program = next(filter(None, map(shutil.which, ("yosys-abc", "berkeley-abc"))), None)
    package = importlib.util.find_spec("pyosys")
    if program is None and package is not None and package.origin is not None:
        program = str(Path(package.origin).with_name("yosys-abc"))
    return program


def has_abc() -> bool:
    """Whether ABC is installed."""
    return _abc() is not None


def run_abc(commands: str, folder: str, limits: Limits | None = None) -> str:
    """Runs ABC in `folder` and returns its log."""
    abc = _abc()
    if abc is None:
        raise HardwireError("yosys-abc is not installed; run: pip install pyosys (or install the yosys program)")
    return run([abc, "-q", commands], "ABC", folder, limits)


def compile_c(sources: Sequence[Path], program: Path, *options: str) -> None:
    """Compiles C99 files to a program."""
    run([c_compiler(), "-std=c99", *options, *map(str, sources), "-o", str(program)], "the C compiler", program.parent)


def run(call: Sequence[str], who: str, folder: str | Path, limits: Limits | None = None) -> str:
    """Runs a program and returns its output.

    Raises:
        HardwireError: It failed; the message says why in the program's own words.
    """
    result = completed(call, folder, limits)
    if limits is not None and result.returncode < 0:  # by a signal
        raise Ended(
            f"{who} crashed, or was ended after {limits.seconds} s or {limits.memory >> 20:,} MB, which is more than "
            "such a file needs"
        )
    if result.returncode:
        reason = _reason(result.stderr.strip() or result.stdout.strip())
        raise HardwireError(f"{who} failed (exit code {result.returncode}): {reason}")
    return result.stdout


def completed(
    call: Sequence[str], folder: str | Path, limits: Limits | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, however it ends."""
    if limits is not None and os.name == "posix":  # Windows has no such limits
        call = ["sh", "-c", _LIMITED, "sh", str(limits.memory >> 10), str(limits.seconds), *call]
    return subprocess.run(call, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def _reason(log: str) -> str:
    """The lines of a failed program's log that say why: the first three that name an error, or else the last three."""
    lines = log.splitlines()
    errors = [line.strip() for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    return " | ".join(errors[:3] or lines[-3:])
