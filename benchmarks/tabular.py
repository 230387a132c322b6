"""The estimators beside scikit-learn's, all with their defaults, on five tables: the table of docs/tables.md.

    python benchmarks/tabular.py                     # the reported numbers: 5 folds, data of seed 0
    python benchmarks/tabular.py --choose            # where our defaults were chosen: other tables, or of another seed

Each score is the mean over the folds of accuracy, or of R^2 for friedman1; behind ± stands their deviation.
Seconds are CPU seconds of one thread, so that neither other work on the machine nor threads that spin while they wait
count. Bytes: of ours, the circuit file, which is all that prediction needs; of the others, their pickle. Rows a second:
the best of several calls of `predict` on 10,000 rows.
"""

import argparse
import os
import pickle
import statistics
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hardwire as hw

ROWS = 10_000  # in a call of predict
REPORTED, CHOOSING = 0, 1000  # seeds of the data and the folds


def seven_classes(seed):
    return datasets.make_classification(
        20_000, n_features=54, n_informative=10, n_redundant=10, n_clusters_per_class=3, n_classes=7, random_state=seed
    )


def friedman(seed):
    return datasets.make_friedman1(5_000, noise=1.0, random_state=seed)


def real(load):
    return lambda seed: load(return_X_y=True)


TABLES = {
    "breast cancer": real(datasets.load_breast_cancer),
    "wine": real(datasets.load_wine),
    "digits": real(datasets.load_digits),
    "7 classes": seven_classes,
    "friedman1": friedman,
}
OTHERS = {  # on which defaults are chosen, so that what is reported has not been seen
    "7 classes": seven_classes,
    "friedman1": friedman,
    "iris": real(datasets.load_iris),
    "diabetes": real(datasets.load_diabetes),
    "hastie": lambda seed: datasets.make_hastie_10_2(4_000, random_state=seed),
    "500 rows": lambda seed: datasets.make_classification(
        500, n_features=30, n_informative=8, flip_y=0.05, random_state=seed
    ),
}
NUMBERS = ("friedman1", "diabetes")  # tables whose target is one
MODELS = {  # (classifier, regressor)
    "hardwire": (hw.LogicClassifier, hw.LogicRegressor),
    "RandomForest": (RandomForestClassifier, RandomForestRegressor),
    "HistGradientBoosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    "MLP": (
        lambda random_state: make_pipeline(StandardScaler(), MLPClassifier(random_state=random_state)),
        lambda random_state: make_pipeline(StandardScaler(), MLPRegressor(random_state=random_state)),
    ),
}


def size(model) -> int:
    if not hasattr(model, "circuit_"):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "circuit")
        model.circuit_.save(path)
        return path.stat().st_size


def rows_a_second(model, X) -> float:
    rows = np.resize(X, (ROWS, X.shape[1]))
    seconds = []
    for _ in range(7):
        start = time.process_time()
        model.predict(rows)
        seconds.append(time.process_time() - start)
    return ROWS / min(seconds)


def measure(name: str, table: str, data: tuple, seed: int, folds: int, options: dict) -> list[float]:
    """(mean score, its deviation, seconds of a fit, bytes, rows a second)."""
    X, y = data
    number = table in NUMBERS
    splitter = (KFold if number else StratifiedKFold)(folds, shuffle=True, random_state=seed)
    runs = []
    for train, test in splitter.split(X, y):
        model = MODELS[name][number](random_state=seed, **options)
        start = time.process_time()
        model.fit(X[train], y[train])
        seconds = time.process_time() - start
        runs.append((model.score(X[test], y[test]), seconds, size(model), rows_a_second(model, X[test])))
    scores, *others = zip(*runs, strict=True)
    return [statistics.mean(scores), statistics.stdev(scores), *map(statistics.median_low, others)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="data and folds on which defaults are chosen")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices={**TABLES, **OTHERS})
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--set", nargs="*", default=[], help="arguments of ours, such as width=4000")
    arguments = parser.parse_args()
    options = {name: _value(text) for name, _, text in (item.partition("=") for item in arguments.set)}
    warnings.simplefilter("ignore", ConvergenceWarning)  # of MLP with its default 200 passes
    seed, tables = (CHOOSING, OTHERS) if arguments.choose else (REPORTED, TABLES)
    print("| table | model | score | seconds to train | bytes | rows a second |\n|---|---|---|---|---|---|")
    for table in arguments.tables or tables:
        for name in arguments.models:
            own = options if name == "hardwire" else {}
            score, spread, seconds, count, rate = measure(name, table, tables[table](seed), seed, arguments.folds, own)
            mean = f"{score:.3f}\u00a0±\u00a0{spread:.3f}"  # in one line on a narrow page
            print(f"| {table} | {name} | {mean} | {seconds:.1f} | {count:,} | {rate:,.0f} |", flush=True)


def _value(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    main()
