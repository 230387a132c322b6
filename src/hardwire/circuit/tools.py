"""Finding and running the programs of others: a C compiler, iverilog, yosys.

Yosys comes as a program or, where that is missing, as pyosys from PyPI, which is the same tool as a Python extension;
it runs in a process of its own either way, so that its failures are one error here.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from hardwire.errors import HardwireError

PYOSYS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"


def c_compiler() -> str:
    """$CC, or the first of cc, gcc and clang."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise HardwireError(f"no C compiler found (looked for {', '.join(names)}); install gcc or clang, or set CC")
    return found


def has_yosys() -> bool:
    return shutil.which("yosys") is not None or importlib.util.find_spec("pyosys") is not None


def has_iverilog() -> bool:
    return shutil.which("iverilog") is not None


def run_yosys(commands: list[str], folder: str | os.PathLike) -> str:
    """Runs the commands in `folder`, which they may write to; the log."""
    script = Path(folder, "script.ys")
    script.write_text("\n".join(commands) + "\n")
    if shutil.which("yosys"):
        call = ["yosys", "-Q", script.name]
    elif has_yosys():
        call = [sys.executable, "-c", PYOSYS, script.name]
    else:
        raise HardwireError("yosys is not installed; run: pip install pyosys (or install the yosys program)")
    return run(call, "yosys", folder)


def run_abc(commands: str, folder: str | os.PathLike) -> str:
    """Runs ABC, which comes with yosys and with pyosys, in `folder`."""
    found = next(filter(None, map(shutil.which, ("yosys-abc", "berkeley-abc"))), None)
    if found is None and (package := importlib.util.find_spec("pyosys")) is not None:
        found = str(Path(package.origin).with_name("yosys-abc"))
    if found is None:
        raise HardwireError("yosys-abc is not installed; run: pip install pyosys (or install the yosys program)")
    return run([found, "-q", commands], "ABC", folder)


def run_iverilog(sources: list[Path], folder: str | os.PathLike) -> str:
    """Compiles and simulates; what the simulation printed."""
    if not has_iverilog():
        raise HardwireError("iverilog is not installed; install Icarus Verilog (apt install iverilog)")
    program = Path(folder, "simulation")
    run(["iverilog", "-g2005", "-Wall", "-o", str(program), *map(str, sources)], "iverilog", folder)
    return run(["vvp", "-n", str(program)], "vvp", folder)


def compile_c(sources: list[Path], program: Path, *options: str) -> None:
    run([c_compiler(), "-std=c99", *options, *map(str, sources), "-o", str(program)], "the C compiler", program.parent)


def run(call: list[str], who: str, folder: str | os.PathLike) -> str:
    """The output of a program; an error with its last lines where it fails."""
    result = subprocess.run(call, cwd=folder, capture_output=True, text=True, errors="replace")
    if result.returncode:
        last = " | ".join((result.stderr.strip() or result.stdout.strip()).splitlines()[-3:])
        raise HardwireError(f"{who} failed (exit code {result.returncode}): {last}")
    return result.stdout
