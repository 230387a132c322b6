"""Small studies on the bundled digits, for tests of the study and paper rooms."""

import subprocess
import sys
from dataclasses import asdict

import numpy as np
import torch

import hardwire as hw
from hardwire import study
from hardwire.study.coordinator import run_study
from hardwire.study.description import parse
from hardwire.study.worker import attempt
from hardwire_paper.runs import NetworkRun

SMALL = """
name = "test"
kind = "network"
methods = ["soft-mix", "hard-st", "gumbel-st+cage"]
taus = [0.5, 2.0]
depths = [2]
widths = [100]
iterations = [60]
learning_rates = [0.02]
seeds = [0]
batch_size = 64
evaluate_every = 5

[datasets.digits]
"""


def small(dataset="digits", **changes) -> study.Description:
    """SMALL with some of its lines changed, such as small(taus=[1.0])."""
    lines = [_changed(line, changes) for line in SMALL.splitlines()]
    return parse("\n".join(lines).replace("datasets.digits", f'datasets."{dataset}"'))


def digits_npz(path):
    """The digits as an .npz file, which workers read without importing scikit-learn."""
    data = hw.data.load("digits")
    splits = {"train": data.train, "test": data.test}
    arrays = {f"x_{name}": split.x.unpack(torch.uint8).numpy() for name, split in splits.items()}
    np.savez(path, **arrays, **{f"y_{name}": split.y.numpy() for name, split in splits.items()})
    return path


def _changed(line: str, changes: dict) -> str:
    key = line.split(" ")[0]
    return f"{key} = {_toml(changes[key])}" if key in changes else line


def _toml(value) -> str:
    return repr(value).replace("'", '"')


def start(arguments: list[str], folder=None, **options) -> subprocess.Popen:
    """`hardwire study ARGUMENTS` as a process of its own, in this folder."""
    code = "from hardwire.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "study", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        **options,
    )


class InProcess:
    """A runner without processes: each run is done when it is submitted."""

    slots = 1

    def __init__(self):
        self.waiting = []

    def submit(self, task):
        self.waiting.append(attempt(task, self.waiting.append))

    def events(self, timeout):
        events, self.waiting = self.waiting, []
        return events

    def close(self):
        pass


def run_here(description: study.Description, path, **options) -> study.StudyProgress:
    """The study in this process, without starting others."""
    with study.Store(path, create=True) as store, store.exclusive():
        return run_study(description, store, InProcess(), **options)


def made_result(method="hard-st", tau=1.0, seed=0, selection=(0.0, 0.0), deploy=(0.5, 0.9), depth=6, **rest):
    """A finished run with a made-up history, at the paper's scale for MNIST-Binary unless told otherwise.

    rest: other axes, or columns of the record, one value for each evaluation.
    """
    axes = {"dataset": "mnist-binary", "width": 64_000, "iterations": 50_000, "learning_rate": 0.01}
    axes |= {"batch_size": 512, "evaluate_every": 50_000 // len(selection)}
    columns = {name: rest.pop(name) for name in list(rest) if isinstance(rest[name], tuple | list)}
    measurements = {"groupsum.classes": 10.0} | rest.pop("measurements", {})
    config = study.Config.of("network", axes | {"method": method, "tau": tau, "depth": depth, "seed": seed} | rest)
    records = []
    for number, (gap, accuracy) in enumerate(zip(selection, deploy, strict=True), 1):
        own = {name: values[number - 1] for name, values in columns.items()}
        records.append(_made_record(config, number, gap, accuracy) | own)
    return study.Result(config.key("test"), config, "test", records, measurements, 1.0)


def made_run(*arguments, **rest) -> NetworkRun:
    return NetworkRun.of(made_result(*arguments, **rest))


def made_system(name, method=0.95, deployed=0.95, seeds=(0, 1, 2), dead=0) -> list[study.Result]:
    """Finished runs of a system, one a seed, with these accuracies of the training pass and of what is deployed."""
    config = [study.Config.of("systems", {"run": name, "seed": seed}) for seed in seeds]
    measured = {"gap.method": method, "deployed": deployed, "confidence": 0.5, "dead": dead, "choices": 8}
    measured |= {"deployed_soft": deployed, "deployed_alone": deployed, "deployed_retrained": deployed}
    points = [{"iteration": 5, "method": method, "deploy": deployed}]
    return [study.Result("key", one, "test", points, measured) for one in config]


def _made_record(config, number, gap, accuracy) -> dict:
    depth = config["depth"]
    gaps = hw.measure.Gap(min(1.0, max(0.0, accuracy + gap)), accuracy, accuracy, 100)
    return {
        "iteration": number * config["evaluate_every"],
        "loss": 1.0,
        **{name: value for name, value in asdict(gaps).items() if name in ("method", "argmax", "deploy")},
        "selection": gap,
        "computation": 0.0,
        "total": gap,
        "tau": config["tau"],
        "confidence": 0.5,
        "commitment": [0.5] * depth,
        "gate_usage": [[1 / 16] * 16] * depth,
        "node_actual": [0.0] * depth,
        "node_bound": [0.0] * depth,
        "seconds": 1.0,
    }


def put(store: study.Store, result: study.Result) -> None:
    """A finished run into a store."""
    store.begin(result.key, result.config, result.code)
    store.finish(result.key, study.Outcome(result.records, result.measurements, result.seconds), "here")
