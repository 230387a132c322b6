"""Random against structured wiring at equal cost: validation accuracy on MNIST, Fashion-MNIST and CIFAR-10, by seeds.

    python benchmarks/wiring.py --seeds 3 --iterations 1000

The test sets stay closed. The last line is the difference of the means, in points, for each dataset.
"""

import argparse
import os
import statistics

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import hardwire as hw
from hardwire.recipes import Recipe
from hardwire.records import try_recipe

CASES = {  # data: (widths, shape of an image)
    "mnist@1": ([4_000] * 4, (1, 28, 28)),
    "fashion-mnist@3": ([4_000] * 3, (1, 28, 28)),
    "cifar10-binary@3": ([12_000] * 4, (3, 32, 32)),
}


def recipe(data: str, structured: bool, seed: int, iterations: int) -> Recipe:
    widths, shape = CASES[data]
    network = {"widths": widths, "method": "hard-st+cage"}
    if structured:
        levels = int(data.partition("@")[2])
        network |= {"wiring": "structured", "levels": levels, "shape": shape, "radius": 3}
    return Recipe("wiring", "", data, iterations, 512, {"all": 0.01}, network, decay=False, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=1000)
    arguments = parser.parse_args()
    differences = {}
    for data in CASES:
        means = {}
        for structured in (False, True):
            runs = [
                100 * try_recipe(recipe(data, structured, seed, arguments.iterations), progress=False).final.deploy
                for seed in range(arguments.seeds)
            ]
            means[structured] = statistics.mean(runs)
            name = "structured" if structured else "random"
            print(
                f"{data:18} {name:10} {means[structured]:6.2f}  ({', '.join(f'{run:.2f}' for run in runs)})", flush=True
            )
        differences[data] = means[True] - means[False]
    print(f"hardwire {hw.__version__}, {arguments.seeds} seeds, {arguments.iterations} iterations")
    print("structured minus random: " + ", ".join(f"{data} {points:+.2f}" for data, points in differences.items()))


if __name__ == "__main__":
    main()
