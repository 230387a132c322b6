"""What a network of look-up tables costs in hardware, all parts counted, against its accuracy on held-out MNIST rows:
thresholds a pixel, prices of thresholds and tables in training, and narrow last layers. Test rows are not touched.

    python benchmarks/area.py [--iterations 2000] [--seed 0] [--only "1 threshold"]

The settings are those of the recipe mnist-1k-tables but for what the first column says. LUT6 are yosys's.
"""

import argparse
import dataclasses
import time

import torch

import hardwire as hw
from hardwire.circuit.estimate import estimate
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import train_network

TWO = [  # a layer that learns its wires, and a narrow one that reads each of its tables once
    {"kind": "lut", "inputs": 784, "tables": 1020, "wiring": "learned", "candidates": 16},
    {"kind": "lut", "inputs": 1020, "tables": 170, "wiring": "random", "groups": 10},
]
RUNS = {  # what differs: the dataset, and settings
    "3 thresholds": ("mnist@3", {}),
    "3 thresholds, 1e-5 each": ("mnist@3", {"area": {"thresholds": 1e-5}}),
    "3 thresholds, 1e-4 each": ("mnist@3", {"area": {"thresholds": 1e-4}}),
    "1 threshold": ("mnist@1", {}),
    "1 threshold, tables 0.03": ("mnist@1", {"area": {"tables": 0.03}}),
    "1 threshold, 600 tables": ("mnist@1", {"widths": (600,)}),
    "1 threshold, 1,020 + 170 tables": ("mnist@1", {"layers": TWO}),
}


def settings_for(recipe, dataset, changes, arguments):
    layers = changes.get("layers")
    if layers:
        options = {"method": recipe.network["method"], "input_gradient": recipe.network["input_gradient"]}
        recipe = dataclasses.replace(recipe, network=options, layers=layers)
    others = {name: value for name, value in changes.items() if name != "layers"}
    return settings_of(recipe, dataset, validation=True, seed=arguments.seed, iterations=arguments.iterations, **others)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the run of this name alone")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    recipe = hw.recipes.load("mnist-1k-tables")
    print("| | held-out rows | thresholds read | encoder | tables | class sums | argmax | all LUT6 | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (dataset, changes) in RUNS.items():
        if arguments.only not in ("", name):
            continue
        settings = settings_for(recipe, dataset, changes, arguments)
        data = settings.load()
        net = settings.network(data)
        started = time.process_time()
        history = train_network(settings, net, data, evaluate_every=arguments.iterations, progress=False)
        seconds = time.process_time() - started
        circuit = hw.Circuit.from_network(net).simplify(check=False)
        luts = " | ".join(f"{part.luts:,}" for part in estimate(circuit))
        read = circuit.statistics().thresholds
        print(f"| {name} | {100 * history.final.deploy:.2f} | {read:,} | {luts} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
