"""Does an installed hardwire work, with what `pip install hardwire` brings and nothing else? `python smoke.py`

Run in a clean environment after each wheel is built, so it needs numpy alone, no pytest and no torch: the native module
is there, a circuit of an earlier version loads, and native code and numpy agree on what it computes.
"""

from pathlib import Path

import numpy as np

import hardwire as hw
from hardwire import _native
from hardwire.circuit import evaluate

FILES = Path(__file__).parents[1] / "files" / "0.1.0"


def main() -> None:
    circuit = hw.Circuit.load(FILES / "circuit.hwc")
    images = np.random.default_rng(0).integers(0, 17, (2_000, circuit.encoder.raw_features), np.uint8)
    scores = circuit.scores(images, raw=True)
    evaluate._native, by_hand = None, hw.Circuit(circuit.netlist, circuit.classes, circuit.encoder)
    assert by_hand.program.native is None
    assert (by_hand.scores(images, raw=True) == scores).all(), "native code and numpy differ"
    assert (circuit.simplify(check=False).scores(images, raw=True) == scores).all(), "the simplified circuit differs"
    try:
        hw.LogicNetwork  # noqa: B018
        torch = "torch is here"
    except hw.HardwireError as error:
        torch = str(error)
    print(f"hardwire {hw.__version__}, {_native.instruction_set()} kernels: {circuit} is right; {torch}")


if __name__ == "__main__":
    main()
