"""How long training takes to reach an accuracy on MNIST: look-up tables of six inputs by the settings of the recipe
mnist-1k-tables, and scikit-learn's neural network and gradient boosting beside them. The last 10,000 training rows are
held out and measured; the test rows are not touched. Seconds are those of training, without reading the data. On a
busy machine, CPU seconds say more: with one thread they are what an idle core would take.

    python benchmarks/time_to_accuracy.py [--threads 2] [--seed 0] [--only "1,000 tables"] [--peers]
"""

import argparse
import time

import torch

import hardwire as hw
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import train_network

RUNS = {  # name: what differs from the recipe
    "1,000 tables, 2,500 steps": {"iterations": 2_500},
    "1,000 tables, 4,000 steps": {},
    "2,000 tables, 6,000 steps": {"widths": (2_000,), "iterations": 6_000},
    "3,000 tables, 12,000 steps": {"widths": (3_000,), "iterations": 12_000},
}


def print_row(name, wall, cpu, accuracy):
    print(f"{name:28s} {wall:7.1f} s  {cpu:7.1f} CPU s  {100 * accuracy:6.2f}%", flush=True)


def tables(arguments):
    recipe = hw.recipes.load("mnist-1k-tables")
    for name, changes in RUNS.items():
        if arguments.only not in name:
            continue
        settings = settings_of(recipe, validation=True, seed=arguments.seed, **changes)
        data = settings.load()
        net = settings.network(data)
        wall, cpu = time.perf_counter(), time.process_time()
        history = train_network(settings, net, data, evaluate_every=settings.iterations, progress=False)
        print_row(name, time.perf_counter() - wall, time.process_time() - cpu, history.final.deploy)


def peers():
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.neural_network import MLPClassifier

    data = hw.data.load("mnist")
    x, y = data.raw("train").reshape(60_000, -1) / 255.0, data.train.y.numpy()
    for model in (MLPClassifier(random_state=0), HistGradientBoostingClassifier(random_state=0)):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(x[:50_000], y[:50_000])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print_row(type(model).__name__, wall, cpu, model.score(x[50_000:], y[50_000:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="runs whose name contains this")
    parser.add_argument("--peers", action="store_true", help="scikit-learn's models with their own settings, too")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tables(arguments)
    if arguments.peers:
        peers()


if __name__ == "__main__":
    main()
