"""The estimators beside others on a folder of .csv files, target last: the tables and the figure of docs/tables.md.

    Rscript benchmarks/real_tables.R FOLDER          # Debian's mlbench and kernlab
    nice -n 15 python benchmarks/real_tables.py FOLDER -o results.json
    python benchmarks/real_tables.py --report results.json --figure docs/images/calibration.svg > part.md

It only judges: no default was ever chosen on these tables. All models have their defaults; texts reach ours as they
are, a forest and boosting as numbers of categories (boosting and XGBoost are told which), the linear model and the MLP
one-hot; missing numbers are medians for all but ours and the two kinds of boosting. Rows beyond --rows are left out, at
random. Seconds are CPU seconds of one thread. Results are kept after each model of each table, and what is there is not
run again. XGBoost is left out where it is not installed (pip install xgboost-cpu).
"""

import argparse
import importlib.util
import json
import os
import pickle
import time
import warnings
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
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, OrdinalEncoder, StandardScaler

import hardwire as hw
from hardwire.files.figure import save_figure
from hardwire.files.whole import write_whole

MOST_CLASSES = 30  # more different numbers than this are a number to predict
NUMBERS = ("Ozone", "Servo")  # whose whole numbers are amounts
PREDICTED, CALLS = 5000, 3  # rows of a timed call of `predict`, of which the fastest counts
BINS = np.linspace(0, 1, 11)  # of the calibration curve
LEAST = 50  # rows of a point of the curve


def read(path: Path, most: int, seed: int) -> tuple[pd.DataFrame, pd.Series, bool]:
    """(columns, target, whether the target is a number); of a class with fewer than 5 rows none."""
    table = pd.read_csv(path, low_memory=False)
    target = table.columns[-1]
    table = table[table[target].notna()]
    number = (
        path.stem in NUMBERS
        or table[target].dtype.kind == "f"
        or (table[target].dtype.kind == "i" and table[target].nunique() > MOST_CLASSES)
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


class Boosted:
    """XGBoost on a frame: texts as categories, labels as numbers from 0."""

    def __init__(self, X: pd.DataFrame, seed: int, number: bool):
        self.names, self.coder, self.labels = text(X), _coded_nan(), None if number else LabelEncoder()
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: pd.Series) -> "Boosted":
        import xgboost

        if self.names:
            self.coder.fit(X[self.names])
        types = ["c" if name in self.names else "q" for name in X.columns]
        kind = xgboost.XGBClassifier if self.labels else xgboost.XGBRegressor
        self.model = kind(n_jobs=1, random_state=self.seed, enable_categorical=True, feature_types=types)
        self.model.fit(self._numbers(X), self.labels.fit_transform(y) if self.labels else y)
        return self

    def _numbers(self, X: pd.DataFrame) -> np.ndarray:
        if self.names:
            X = X.assign(**dict(zip(self.names, self.coder.transform(X[self.names]).T, strict=True)))
        return X.to_numpy(float)

    @property
    def classes_(self) -> np.ndarray:
        return self.labels.classes_

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        answers = self.model.predict(self._numbers(X))
        return self.labels.inverse_transform(answers) if self.labels else answers

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self._numbers(X))


MODELS = {  # name -> (classifier, regressor)
    "hardwire": (
        lambda X, seed: hw.LogicClassifier(random_state=seed),
        lambda X, seed: hw.LogicRegressor(random_state=seed),
    ),
    "boosting": (_boosting(HistGradientBoostingClassifier), _boosting(HistGradientBoostingRegressor)),
    "XGBoost": (lambda X, seed: Boosted(X, seed, False), lambda X, seed: Boosted(X, seed, True)),
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


def rate(model, X: pd.DataFrame) -> float:
    """Rows a second of CPU time that `predict` answers, encoders included."""
    many = pd.concat([X] * -(-PREDICTED // len(X)), ignore_index=True)[:PREDICTED]
    seconds = []
    for _ in range(CALLS):
        start = time.process_time()
        model.predict(many)
        seconds.append(time.process_time() - start)
    return PREDICTED / max(min(seconds), 1e-9)


def judge(model, X: pd.DataFrame, y: pd.Series, number: bool) -> dict:
    if number:
        return {"score": metrics.r2_score(y, model.predict(X))}
    probability = model.predict_proba(X)
    place = pd.Index(model.classes_).get_indexer(y)
    sure, answer = probability.max(axis=1), probability.argmax(axis=1)
    part = np.clip(np.digitize(sure, BINS) - 1, 0, len(BINS) - 2)
    hit = answer == place
    right = np.clip(probability[np.arange(len(y)), place], 1e-15, 1)
    return {
        "score": float(hit.mean()),
        "log_loss": float(-np.log(right).mean()),
        "bins": [[int((part == k).sum()), float(sure[part == k].sum()), int(hit[part == k].sum())] for k in range(10)],
    }


def run(name: str, X: pd.DataFrame, y: pd.Series, number: bool, arguments: argparse.Namespace) -> list[dict]:
    """One model on each of the folds."""
    splitter = (KFold if number else StratifiedKFold)(arguments.folds, shuffle=True, random_state=arguments.seed)
    results = []
    for train, test in splitter.split(X, y):
        model = MODELS[name][number](X.iloc[train], arguments.seed)
        start = time.process_time()
        model.fit(X.iloc[train], y.iloc[train])
        seconds = time.process_time() - start
        result = judge(model, X.iloc[test], y.iloc[test], number)
        results.append(result | {"seconds": seconds, "bytes": size(model), "rate": rate(model, X.iloc[test])})
    return results


def run_all(arguments: argparse.Namespace) -> None:
    """Every model on every table, what `arguments.out` has left out."""
    stated = {"rows": arguments.rows, "folds": arguments.folds, "seed": arguments.seed}
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"settings": stated, "tables": {}}
    if results["settings"] != stated:
        raise SystemExit(f"{arguments.out} was made with {results['settings']}; use these, or another file")
    for path in sorted(arguments.folder.glob("*.csv"), key=lambda path: path.stat().st_size):
        if arguments.tables and path.stem not in arguments.tables:
            continue
        X, y, number = read(path, arguments.rows, arguments.seed)
        about = {"rows": len(X), "columns": X.shape[1], "classes": None if number else int(y.nunique()), "models": {}}
        measured = results["tables"].setdefault(path.stem, about)["models"]
        for name in arguments.models:
            if name in measured or (name == "XGBoost" and importlib.util.find_spec("xgboost") is None):
                continue
            measured[name] = run(name, X, y, number, arguments)
            write_whole(arguments.out, json.dumps(results).encode())
            print(path.stem, name, round(float(np.mean([fold["score"] for fold in measured[name]])), 4), flush=True)


def means(results: dict, key: str, names: list[str]) -> pd.DataFrame:
    """The mean over the folds of something measured, [tables, models]; tables without it are left out."""
    return pd.DataFrame.from_dict(
        {
            table: {name: np.mean([fold[key] for fold in measured["models"][name]]) for name in names}
            for table, measured in results.items()
            if key in measured["models"][names[0]][0]
        },
        orient="index",
    )


def table(first: list[str], cells: list[list[str]], names: list[str]) -> None:
    print("| " + " | ".join(first + names) + " |\n" + "|---" * (len(first) + len(names)) + "|")
    for row in cells:
        print("| " + " | ".join(row) + " |")
    print()


def bold_best(values: pd.Series, form: str, highest: bool, spread: pd.Series | None = None) -> list[str]:
    texts = [form.format(value) for value in values]
    best = form.format(values.max() if highest else values.min())
    after = [""] * len(texts) if spread is None else [f" ± {form.format(value)}" for value in spread]
    return [f"**{text}**{more}" if text == best else text + more for text, more in zip(texts, after, strict=True)]


def report(results: dict, figure: Path | None) -> None:
    """The parts of docs/tables.md: ranks, then a table for each thing that was measured."""
    names = [name for name in MODELS if all(name in measured["models"] for measured in results.values())]
    scores, losses = means(results, "score", names), means(results, "log_loss", names)
    others = {key: means(results, key, names) for key in ("seconds", "bytes", "rate")}
    bins = {
        name: np.sum([fold["bins"] for t in losses.index for fold in results[t]["models"][name]], axis=0)
        for name in names
    }
    summary = {
        "mean rank by score": [f"{value:.2f}" for value in scores.rank(axis=1, ascending=False).mean()],
        "mean rank by log loss": [f"{value:.2f}" for value in losses.rank(axis=1).mean()],
        "best or equal score": [str((scores[name].round(3) == scores.max(axis=1).round(3)).sum()) for name in names],
        "lowest log loss": [str((losses[name] == losses.min(axis=1)).sum()) for name in names],
        "calibration error": [f"{np.abs(b[:, 1] - b[:, 2]).sum() / b[:, 0].sum():.3f}" for b in bins.values()],
        "CPU seconds of a fit, median": [f"{value:.2f}" for value in others["seconds"].median()],
        "bytes, median": [f"{value:,.0f}" for value in others["bytes"].median()],
        "rows a second, median": [f"{value:,.0f}" for value in others["rate"].median()],
    }
    table([""], [[title, *values] for title, values in summary.items()], names)
    spread = {
        t: {name: np.std([fold["score"] for fold in results[t]["models"][name]], ddof=1) for name in names}
        for t in results
    }
    table(
        ["table", "rows", "columns", "classes"],
        [
            [
                *(t, f"{about['rows']:,}", str(about["columns"]), str(about["classes"] or "a number")),
                *bold_best(scores.loc[t], "{:.3f}", True, pd.Series(spread[t])),
            ]
            for t, about in results.items()
        ],
        names,
    )
    for title, values, form, highest in (
        ("log loss", losses, "{:.3f}", False),
        ("CPU seconds", others["seconds"], "{:.2f}", False),
        ("bytes", others["bytes"], "{:,.0f}", False),
        ("rows a second", others["rate"], "{:,.0f}", True),
    ):
        table([title], [[t, *bold_best(values.loc[t], form, highest)] for t in values.index], names)
    if figure:
        draw(bins, figure)


def draw(bins: dict[str, np.ndarray], path: Path) -> None:
    """How often the class that a model is so sure of is right."""
    from matplotlib.figure import Figure

    figure = Figure((7, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0.15, 1], [0.15, 1], color="0.75", linewidth=1, label="as stated")
    for (name, part), marker in zip(bins.items(), "osD^vX", strict=False):
        part = part[part[:, 0] >= LEAST]
        ours = name == "hardwire"
        axes.plot(
            part[:, 1] / part[:, 0],
            part[:, 2] / part[:, 0],
            marker=marker,
            label=name,
            linewidth=2.5 if ours else 1.2,
            color="black" if ours else None,
            zorder=3 if ours else 2,
        )
    axes.set(xlabel="stated probability of the predicted class", ylabel="share of rows where it is right")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("-o", "--out", type=Path, default=Path("real_tables.json"))
    parser.add_argument("--report", type=Path, help="print the tables of these results instead")
    parser.add_argument("--figure", type=Path, help="with --report: where to draw the calibration curves")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    arguments = parser.parse_args()
    if arguments.report:
        results = json.loads(arguments.report.read_text())["tables"]
        report({table: results[table] for table in arguments.tables or results}, arguments.figure)
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    run_all(arguments)


if __name__ == "__main__":
    main()
