"""Settings of the estimators on tables that scikit-learn makes and ships: where the defaults of tables were chosen.

    python benchmarks/choose_tables.py --set width=1000 schedule=cosine
    python benchmarks/choose_tables.py --tables moons --seeds 2 --set width=250

60% of the rows train and 40% judge: accuracy or R^2, and log loss. One thread. The tables of docs/tables.md are others.
"""

import argparse
import os
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE")

import numpy as np
import torch
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import hardwire as hw

made = datasets.make_classification
TABLES = {
    "768 noisy rows": lambda seed: made(
        768, n_features=8, n_informative=5, n_redundant=1, flip_y=0.3, class_sep=0.8, random_state=seed
    ),
    "500 rows": lambda seed: made(500, n_features=30, n_informative=8, flip_y=0.05, random_state=seed),
    "208 rows": lambda seed: made(
        208, n_features=60, n_informative=10, n_redundant=20, n_clusters_per_class=3, random_state=seed
    ),
    "moons": lambda seed: datasets.make_moons(1500, noise=0.3, random_state=seed),
    "hastie": lambda seed: datasets.make_hastie_10_2(4000, random_state=seed),
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "7 classes": lambda seed: made(
        8000, n_features=54, n_informative=10, n_redundant=10, n_clusters_per_class=3, n_classes=7, random_state=seed
    ),
    "26 classes": lambda seed: made(
        8000, n_features=16, n_informative=12, n_redundant=2, n_classes=26, class_sep=1.6, random_state=seed
    ),
    "friedman, 500 rows": lambda seed: datasets.make_friedman1(500, noise=1.0, random_state=seed),
    "friedman, 3,000 rows": lambda seed: datasets.make_friedman1(3000, noise=1.0, random_state=seed),
    "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
}
NUMBERS = ("friedman, 500 rows", "friedman, 3,000 rows", "diabetes")


def judge(table: str, seed: int, settings: dict) -> tuple[float, float, float]:
    """(score, log loss or NaN, CPU seconds of the fit)."""
    number = table in NUMBERS
    X, y = TABLES[table](1000 + seed)
    parts = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=None if number else y)
    model = (hw.LogicRegressor if number else hw.LogicClassifier)(random_state=seed, **settings)
    start = time.process_time()
    model.fit(parts[0], parts[2])
    seconds = time.process_time() - start
    loss = float("nan") if number else log_loss(parts[3], model.predict_proba(parts[1]))
    return model.score(parts[1], parts[3]), loss, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], help="arguments of the estimators, such as width=4000")
    arguments = parser.parse_args()
    settings = {name: _value(text) for name, _, text in (item.partition("=") for item in arguments.set)}
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print("| table | score | log loss | CPU seconds |\n|---|---|---|---|")
    for table in arguments.tables:
        score, loss, seconds = np.mean([judge(table, seed, settings) for seed in range(arguments.seeds)], axis=0)
        print(f"| {table} | {score:.3f} | {loss:.3f} | {seconds:.1f} |", flush=True)


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    main()
