"""Soft against hard choice of wires, by depth: does forward alignment hold for wires as it does for gates?

    python benchmarks/wire_depth.py --seeds 3 --iterations 2000 [-o wire_depth.jsonl]

Gates chosen by Soft-Mix or Hard-ST, wires fixed at random, mixed (Soft-Mix) or picked (Hard-ST) among the same number
of candidates, at depths 1, 2, 4 and 6 on MNIST-Binary: the method's own accuracy, the deployed one and the gap between
them on validation rows; the test set stays closed. With -o finished runs are kept there, and the command goes on where
it stopped. The table comes last.
"""

import argparse
import json
import os
import statistics
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hardwire as hw
from hardwire.recipes import Recipe
from hardwire.records import try_recipe

DEPTHS = (1, 2, 4, 6)
GATES = ("soft-mix", "hard-st")
WIRES = ("fixed", "soft-mix", "hard-st")


def recipe(depth, gates, wires, seed, arguments):
    network = {"widths": [arguments.width] * depth, "method": gates}
    if wires != "fixed":
        network |= {"wiring": "learned", "candidates": arguments.candidates, "wire_method": wires}
    data, batch = "mnist-binary", 256
    return Recipe("wires", "", data, arguments.iterations, batch, {"all": 0.02}, network, seed=seed)


def run(depth, gates, wires, seed, arguments):
    final = try_recipe(recipe(depth, gates, wires, seed, arguments), progress=False).final
    result = {"depth": depth, "gates": gates, "wires": wires, "seed": seed}
    return result | {"method": 100 * final.method, "deploy": 100 * final.deploy, "gap": 100 * final.total}


def print_table(results, seeds):
    print(
        f"\n{'gates':9} {'wires':9}" + "".join(f"{f'depth {depth}: method / deployed / gap':>42}" for depth in DEPTHS)
    )
    for gates in GATES:
        for wires in WIRES:
            cells = []
            for depth in DEPTHS:
                same = [r for r in results if (r["depth"], r["gates"], r["wires"]) == (depth, gates, wires)]
                means = [statistics.mean(r[name] for r in same) for name in ("method", "deploy", "gap")]
                spread = statistics.stdev(r["deploy"] for r in same) if seeds > 1 else 0.0
                cells.append(f"{means[0]:6.2f} / {means[1]:6.2f} ± {spread:.2f} / {means[2]:+6.2f}")
            print(f"{gates:9} {wires:9}" + "".join(f"{cell:>42}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--width", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("-o", "--out", type=Path, help="a file of finished runs, one JSON object a line")
    arguments = parser.parse_args()
    kept = arguments.out.read_text().splitlines() if arguments.out and arguments.out.exists() else []
    results = [json.loads(line) for line in kept]
    done = {(r["depth"], r["gates"], r["wires"], r["seed"]) for r in results}
    for seed in range(arguments.seeds):
        for depth in DEPTHS:
            for case in [(depth, gates, wires, seed) for gates in GATES for wires in WIRES]:
                if case in done:
                    continue
                result = run(*case, arguments)
                results.append(result)
                print(json.dumps(result), flush=True)
                if arguments.out:
                    with arguments.out.open("a") as file:
                        file.write(json.dumps(result) + "\n")
    print(f"hardwire {hw.__version__}, {arguments.seeds} seeds, {arguments.iterations} iterations, width "
          f"{arguments.width}, {arguments.candidates} candidates")  # fmt: skip
    print_table(results, arguments.seeds)


if __name__ == "__main__":
    main()
