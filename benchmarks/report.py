"""How long a report of many runs takes: makes a store of made-up runs and reports it, in seconds of one core.

    python benchmarks/report.py            # 2,000 runs of 10 evaluations
    python benchmarks/report.py --runs 500

The runs are a grid as the paper's: three datasets, three depths, six methods, five temperatures, and as many seeds as
it takes. Their numbers are random; what a report does with them does not depend on that.
"""

import argparse
import cProfile
import itertools
import pstats
import random
import tempfile
import time
from pathlib import Path

from hardwire.selection import METHOD_VARIANTS
from hardwire.study import Config, Outcome, Store
from hardwire.study.kinds import find_kind
from hardwire.study.reporting import build, write_report

DATASETS, DEPTHS, TAUS = ("mnist", "mnist-binary", "cifar10-binary"), (4, 5, 6), (0.05, 0.1, 0.5, 1.0, 2.0)
EVALUATIONS, LAYERED = 10, ("commitment", "node_actual", "node_bound")


def configurations(count: int) -> list[Config]:
    """The first `count` runs of the grid, seed by seed."""
    kind = find_kind("network")
    fixed = {"width": 8_000, "iterations": 5_000, "learning_rate": 0.01, "batch_size": 512, "evaluate_every": 500}
    configs = []
    for seed, dataset, depth, method, tau in itertools.product(range(count), DATASETS, DEPTHS, METHOD_VARIANTS, TAUS):
        values = dict.fromkeys((axis.name for axis in kind.axes), None) | fixed
        values |= {"seed": seed, "dataset": dataset, "depth": depth, "method": method, "tau": tau}
        configs.append(Config.of("network", kind.complete(values)))
        if len(configs) == count:
            break
    return configs


def outcome(config: Config, chance: random.Random) -> Outcome:
    """A made-up result of the right shape."""
    depth, zero = config.whole("depth"), config.text("method").startswith("hard-st")
    records = []
    for number in range(1, EVALUATIONS + 1):
        deploy = min(0.99, 0.2 + 0.08 * number + 0.02 * chance.random())
        gap = 0.0 if zero else 0.1 * chance.random() / number
        by_layer = {
            name: [chance.random() for _ in range(depth)] for name in ("commitment", "node_actual", "node_bound")
        }
        usage = [[1 / 16] * 16 for _ in range(depth)]
        accuracies = {"method": min(1.0, deploy + gap), "argmax": deploy, "deploy": deploy}
        gaps = {"selection": gap, "computation": 0.0, "total": gap}
        scalars = {
            "iteration": 500 * number,
            "loss": 1.0,
            "tau": 1.0,
            "confidence": 0.08 * number,
            "seconds": 1.0 * number,
        }
        training = {
            "train_method": deploy,
            "train_deploy": deploy,
            "gradient": [0.1] * depth,
            "ema": 0.5,
            "seconds": 1.0,
        }
        records.append({**scalars, **accuracies, **gaps, **by_layer, "gate_usage": usage, **training})
    once = {"groupsum.classes": 10.0, "node.pairs": 100.0, "node.violations": 0.0}
    once |= {f"start.gradient.{layer}": 0.1 for layer in range(1, depth + 1)}
    return Outcome(records, once, 10.0, 10.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made-up.sqlite"
        with Store(path, create=True) as store:
            store._db.execute("PRAGMA synchronous = OFF")
            for config in configurations(options.runs):
                key = config.key("made up")
                store.begin(key, config, "made up")
                store.finish(key, outcome(config, chance))
        profiler = cProfile.Profile()
        if options.profile:
            profiler.enable()
        begin = time.process_time()
        with Store(path) as store:
            opened = time.process_time()
            report = build(store)
            built = time.process_time()
            page = write_report(report, Path(folder) / "report")
        end = time.process_time()
        profiler.disable()
        print(
            f"{options.runs:,} runs, {path.stat().st_size / 1e6:.0f} MB: opened and checked in {opened - begin:.1f} s,"
        )
        print(
            f"built in {built - opened:.1f} s, written in {end - built:.1f} s; {end - begin:.1f} s of one core in all"
        )
        print(f"{len(report.tables)} tables, {len(report.figures)} figures, page of {page.stat().st_size / 1e6:.1f} MB")
        if options.profile:
            pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    main()
