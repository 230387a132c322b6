"""The estimators beside scikit-learn's on a folder of .csv files, target last: the table of docs/tables.md.

    Rscript benchmarks/real_tables.R FOLDER          # Debian's mlbench and kernlab
    nice -n 15 python benchmarks/real_tables.py FOLDER -o results.json
    python benchmarks/real_tables.py --report results.json > part.md

It only judges: no default was ever chosen on these tables. All models have their defaults; texts reach ours as they
are, a forest and boosting as numbers of categories (boosting is told which), the linear model and the MLP one-hot;
missing numbers are medians for all but ours and boosting. Rows beyond --rows are left out, at random. Seconds are CPU
seconds of one thread. Results are kept after each table, and tables that are there are not run again.
"""

import argparse
import json
import os
import pickle
import time
import warnings
from itertools import islice
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE")

import numpy as np
import pandas as pd
import torch
from sklearn import metrics
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import hardwire as hw

MOST_CLASSES = 30  # more different numbers than this are a number to predict
NUMBERS = ("Ozone", "Servo")  # whose whole numbers are amounts
BINS = np.linspace(0, 1, 11)  # of the calibration curve


def read(path: Path, most: int, seed: int) -> tuple[pd.DataFrame, pd.Series, bool]:
    """(columns, target, whether the target is a number); of a class with fewer than 5 rows none."""
    table = pd.read_csv(path, low_memory=False)
    target = table.columns[-1]
    table = table[table[target].notna()]
    number = table[target].dtype.kind == "f" or (
        table[target].dtype.kind == "i" and table[target].nunique() > MOST_CLASSES
    )
    if not number:
        table = table[table.groupby(target)[target].transform("size") >= 5]
    table = table.sample(min(most, len(table)), random_state=seed)
    if not number:
        table = table[table.groupby(target)[target].transform("size") >= 3]
    for name in table.columns[:-1]:
        if table[name].dtype == bool:
            table[name] = table[name].astype(int)
    return table.drop(columns=target), table[target], number


def text(X: pd.DataFrame) -> list[str]:
    return [name for name in X.columns if X[name].dtype.kind not in "iufb"]


def _coded() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)


def _boosting(kind):
    def make(X, seed):
        names = text(X)
        coder = make_column_transformer(
            (_coded_nan(), names), remainder="passthrough", verbose_feature_names_out=False
        ).set_output(transform="pandas")
        return make_pipeline(coder, kind(categorical_features=names or None, random_state=seed))

    return make


def _coded_nan() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan)


def _forest(kind):
    def make(X, seed):
        numbers = make_column_selector(dtype_include="number")
        coder = make_column_transformer((_coded(), text(X)), (SimpleImputer(strategy="median"), numbers))
        return make_pipeline(coder, kind(random_state=seed))

    return make


def _dense(kind, **options):
    def make(X, seed):
        numbers = make_column_selector(dtype_include="number")
        scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        seeded = {} if kind is RidgeCV else {"random_state": seed}
        return make_pipeline(make_column_transformer((hot, text(X)), (scaled, numbers)), kind(**options, **seeded))

    return make


MODELS = {  # name -> (classifier, regressor)
    "hardwire": (
        lambda X, seed: hw.LogicClassifier(random_state=seed),
        lambda X, seed: hw.LogicRegressor(random_state=seed),
    ),
    "boosting": (_boosting(HistGradientBoostingClassifier), _boosting(HistGradientBoostingRegressor)),
    "forest": (_forest(RandomForestClassifier), _forest(RandomForestRegressor)),
    "MLP": (_dense(MLPClassifier), _dense(MLPRegressor)),
    "linear": (_dense(LogisticRegression, max_iter=1000), _dense(RidgeCV)),
}


def size(model) -> int:
    if not hasattr(model, "circuit_"):
        return len(pickle.dumps(model))
    path = Path(f"/tmp/circuit{os.getpid()}")
    model.circuit_.save(path)
    count = path.stat().st_size
    path.unlink()
    return count


def judge(model, X, y, number: bool) -> dict:
    start = time.process_time()
    answers = model.predict(X)
    seconds = time.process_time() - start
    if number:
        return {"score": metrics.r2_score(y, answers), "rate": len(X) / max(seconds, 1e-9)}
    probability = model.predict_proba(X)
    classes = list(model.classes_)
    place = np.array([classes.index(label) for label in y])
    right = np.clip(probability[np.arange(len(y)), place], 1e-15, 1)
    sure, hit = probability.max(axis=1), probability.argmax(axis=1) == place
    part = np.clip(np.digitize(sure, BINS) - 1, 0, len(BINS) - 2)
    bins = [[int((part == k).sum()), float(sure[part == k].sum()), int(hit[part == k].sum())] for k in range(10)]
    return {
        "score": float((answers == y.to_numpy()).mean()),
        "log_loss": float(-np.log(right).mean()),
        "bins": bins,
        "rate": len(X) / max(seconds, 1e-9),
    }


def run(path: Path, arguments: argparse.Namespace) -> dict:
    X, y, number = read(path, arguments.rows, arguments.seed)
    splitter = (KFold if number else StratifiedKFold)(arguments.folds, shuffle=True, random_state=arguments.seed)
    measured: dict = {
        "rows": len(X),
        "columns": X.shape[1],
        "classes": None if number else int(y.nunique()),
        "models": {},
    }
    for name in arguments.models:
        results = []
        for train, test in islice(splitter.split(X, y), arguments.splits):
            model = MODELS[name][number](X.iloc[train], arguments.seed)
            start = time.process_time()
            model.fit(X.iloc[train], y.iloc[train])
            seconds = time.process_time() - start
            result = judge(model, X.iloc[test], y.iloc[test], number)
            results.append(result | {"seconds": seconds, "bytes": size(model)})
        measured["models"][name] = results
        print(path.stem, name, round(float(np.mean([result["score"] for result in results])), 4), flush=True)
    return measured


def report(results: dict) -> None:
    """The tables of docs/tables.md."""
    names = [name for name in MODELS if all(name in measured["models"] for measured in results.values())]
    print("| table | rows | columns | classes | " + " | ".join(names) + " |\n|---|---|---|---|" + "---|" * len(names))
    ranks: dict[str, list] = {name: [] for name in names}
    for table, measured in results.items():
        means = {name: np.mean([r["score"] for r in runs]) for name, runs in measured["models"].items()}
        spread = {
            name: np.std([r["score"] for r in runs], ddof=1) if len(runs) > 1 else 0
            for name, runs in measured["models"].items()
        }
        order = pd.Series(means).rank(ascending=False)
        for name in means:
            ranks[name].append(order[name])
        best = max(means.values())
        cells = [
            (f"**{means[name]:.3f}**" if means[name] == best else f"{means[name]:.3f}")
            + (f" ± {spread[name]:.3f}" if spread[name] else "")
            for name in names
        ]
        classes = measured["classes"] or "a number"
        print(f"| {table} | {measured['rows']:,} | {measured['columns']} | {classes} | {' | '.join(cells)} |")
    print("\n| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    rows = {"mean rank by score": {name: f"{np.mean(values):.2f}" for name, values in ranks.items()}}
    labelled = {table: measured for table, measured in results.items() if measured["classes"]}
    losses = pd.DataFrame(
        {
            table: {name: np.mean([r["log_loss"] for r in runs]) for name, runs in measured["models"].items()}
            for table, measured in labelled.items()
        }
    )
    rows["mean rank by log loss"] = losses.rank().mean(axis=1).map("{:.2f}".format).to_dict()
    rows["lowest log loss"] = losses.idxmin().value_counts().reindex(names, fill_value=0).to_dict()
    for title, key, form in (("CPU seconds of a fit", "seconds", "{:.1f}"), ("bytes", "bytes", "{:,.0f}"),
                             ("rows a second", "rate", "{:,.0f}")):  # fmt: skip
        middle = {
            name: np.median([np.median([r[key] for r in measured["models"][name]]) for measured in results.values()])
            for name in names
        }
        rows[f"{title}, median"] = {name: form.format(value) for name, value in middle.items()}
    bins = {
        name: np.sum([r["bins"] for measured in labelled.values() for r in measured["models"][name]], axis=0)
        for name in names
    }
    rows["calibration error"] = {
        name: f"{np.abs(part[:, 1] - part[:, 2]).sum() / part[:, 0].sum():.3f}" for name, part in bins.items()
    }
    for title, values in rows.items():
        print(f"| {title} | " + " | ".join(str(values[name]) for name in names) + " |")
    print("\n| stated probability | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for k in range(2, 10):
        cells = [f"{part[k][2] / part[k][0]:.2f}" if part[k][0] >= 20 else "" for part in bins.values()]
        print(f"| {BINS[k]:.1f} to {BINS[k + 1]:.1f} | {' | '.join(cells)} |")
    print("\n| table | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for table in losses.columns:
        best = losses[table].min()
        print(f"| {table} | " + " | ".join(
            f"**{losses[table][name]:.3f}**" if losses[table][name] == best else f"{losses[table][name]:.3f}"
            for name in names
        ) + " |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("-o", "--out", type=Path, default=Path("real_tables.json"))
    parser.add_argument("--report", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--splits", type=int, help="only the first so many of the folds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    arguments = parser.parse_args()
    if arguments.report:
        report(json.loads(arguments.report.read_text()))
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for path in sorted(arguments.folder.glob("*.csv"), key=lambda path: path.stat().st_size):
        if path.stem not in results and (not arguments.tables or path.stem in arguments.tables):
            results[path.stem] = run(path, arguments)
            arguments.out.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
