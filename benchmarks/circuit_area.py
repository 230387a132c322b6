"""Gates and 6-input look-up tables of a circuit: ours, with each way to make it smaller, against yosys with ABC.

    python benchmarks/circuit_area.py [--circuit FILE] [--data digits] [--width 700] [--depth 3] [--tolerance 0.001]

Trains a network (or takes a circuit file, as built). ABC gets the circuit as built and maps it to all two-input gates;
look-up tables are counted by yosys on what each of them made. The gates alone, without class sums and encoder.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import hardwire as hw
from hardwire.circuit import Circuit
from hardwire.circuit.formats.blif import to_blif
from hardwire.circuit.tools import run_yosys

GATES = "AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT"


def cells(circuit: Circuit, *commands: str) -> int:
    """The cells that yosys counts after the commands on the circuit's gates."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "net.blif").write_text(to_blif(circuit.netlist, "net", []))
        stat = "tee -q -o cells.json stat -json"
        run_yosys(["read_blif net.blif", "hierarchy -top net", *commands, "opt_clean", stat], folder)
        return json.loads(Path(folder, "cells.json").read_text())["design"]["num_cells"]


def luts(circuit: Circuit) -> int:
    return cells(circuit, "synth -run coarse:", "abc -lut 6")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--circuit", help="a circuit or model file, instead of training one")
    parser.add_argument("--data", default="digits")
    parser.add_argument("--tolerance", type=float, default=0.001)
    for option, default in (("width", 700), ("depth", 3), ("iterations", 600)):
        parser.add_argument(f"--{option}", type=int, default=default)
    options = parser.parse_args()
    data = hw.data.load(options.data)
    if options.circuit:
        circuit = Circuit.load(options.circuit)
    else:
        sizes = (data.inputs, data.classes, options.width, options.depth)
        net = hw.LogicNetwork(*sizes, method="hard-st+cage", seed=0, encoder=data.encoder)
        hw.fit(net, data, iterations=options.iterations, batch_size=100, lr=0.02, evaluate_every=options.iterations)
        circuit = Circuit.from_network(net)
    mapped = cells(circuit, "synth -run coarse:", f"abc -g {GATES}")
    lines = [("yosys with ABC", mapped, luts(circuit))]
    shrunk, report = circuit.shrink(data, tolerance=options.tolerance)
    ours = {
        "simplify()": circuit.simplify(),
        "simplify(rewrite=True)": circuit.simplify(rewrite=True),
        "simplify(rewrite=True, dont_cares=True)": circuit.simplify(rewrite=True, dont_cares=True),
        f"shrink(tolerance={options.tolerance:g})": replace(shrunk, provenance=circuit.provenance),
    }
    lines += [(name, len(made.netlist.gate), luts(made)) for name, made in ours.items()]
    print(f"{len(circuit.netlist.gate):,} gates as built")
    for name, gates, tables in lines:
        print(f"{name:42} {gates:7,} gates {tables:7,} LUT6")
    for split, (before, after) in report.accuracies.items():
        print(f"shrink, {split}: {100 * before:.2f} -> {100 * after:.2f}%")


if __name__ == "__main__":
    main()
