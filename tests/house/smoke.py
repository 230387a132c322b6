"""Does an installed hardwire work, with what `pip install hardwire` brings and nothing else? `python smoke.py`

Run in a clean environment after each wheel is built, so it needs numpy alone, no pytest and no torch: a circuit file
loads, native code and numpy agree on what it computes, and the program answers. With `--without-native`, for a wheel
that was built without a compiler, numpy does the work, and the program says why.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import hardwire as hw
from hardwire import build
from hardwire.circuit import evaluate

CIRCUIT = Path(__file__).parents[1] / "files" / "circuit.hwc"


def main() -> None:
    native = "--without-native" not in sys.argv
    assert (build.native is not None) == native, build.why_no_native()
    check_circuit()
    version = program(0, "--version").stdout
    assert f"hardwire {hw.__version__}\nengine: {'native' if native else 'plain torch and numpy'}" in version, version
    assert native or "there was no C++ compiler; install one" in version, version
    if "cli" in build.missing_extras():
        assert program(2, "info").stderr.endswith("run: pip install 'hardwire[cli]'\n")
    if "train" in build.missing_extras():
        check_that_training_says_what_it_needs()
    print(version)


def check_circuit() -> None:
    """Native code, numpy and the simplified circuit give the same scores."""
    circuit = hw.Circuit.load(CIRCUIT)
    images = np.random.default_rng(0).integers(0, 17, (2_000, circuit.encoder.raw_features), np.uint8)
    scores = circuit.scores(images, raw=True)
    assert (circuit.simplify(check=False).scores(images, raw=True) == scores).all(), "the simplified circuit differs"
    evaluate._native, by_numpy = None, hw.Circuit(circuit.netlist, circuit.classes, circuit.encoder)
    assert by_numpy.program.native is None
    assert (by_numpy.scores(images, raw=True) == scores).all(), "native code and numpy differ"


def check_that_training_says_what_it_needs() -> None:
    try:
        hw.LogicNetwork  # noqa: B018
    except hw.HardwireError as error:
        assert "pip install 'hardwire[train]'" in str(error), error
    else:
        raise AssertionError("LogicNetwork is there without torch")


def program(code: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`hardwire ...`, which must end with this exit code."""
    result = subprocess.run([sys.executable, "-m", "hardwire", *arguments], capture_output=True, text=True)
    assert result.returncode == code, result.stdout + result.stderr
    return result


if __name__ == "__main__":
    main()
