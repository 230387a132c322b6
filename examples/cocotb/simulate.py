"""Drive an exported circuit with cocotb: trains a small network, exports Verilog, and runs drive_digits.py in iverilog.

pip install cocotb    # and iverilog, or another simulator that cocotb knows
python examples/cocotb/simulate.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from cocotb_tools.runner import get_runner

import hardwire as hw


def main(folder: Path) -> None:
    data = hw.data.load("digits")
    net = hw.LogicNetwork(data.inputs, data.classes, 200, 2, method="hard-st+cage", seed=0, encoder=data.encoder)
    hw.fit(net, data, iterations=100, batch_size=100, lr=0.02, evaluate_every=100)
    circuit = hw.Circuit.from_network(net).simplify()
    raw = data.raw("test")[:20]
    circuit.export(folder / "digits.v", pipeline=4, control=True, scores=True)
    np.savez(folder / "expected.npz", raw=raw, labels=circuit.predict(raw, raw=True), group=circuit.group)
    runner = get_runner("icarus")
    runner.build(
        sources=[folder / "digits.v"], hdl_toplevel="digits", build_dir=folder / "build", timescale=("1ns", "1ps")
    )
    environment = {"EXPECTED": str(folder / "expected.npz"), "PYTHONPATH": str(Path(__file__).parent)}
    results = runner.test(
        hdl_toplevel="digits", test_module="drive_digits", build_dir=folder / "build", extra_env=environment
    )
    print(results)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
