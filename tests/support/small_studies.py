"""Small studies on the bundled digits, for tests of the study room."""

import subprocess
import sys

import numpy as np
import torch

import hardwire as hw
from hardwire import study
from hardwire.study.conductor import conduct
from hardwire.study.description import parse
from hardwire.study.engines import Failed, Finished
from hardwire.study.store import Run
from hardwire.study.worker import describe_error, execute
from hardwire.training import History, Record

SMALL = """
name = "test"
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


def start(arguments: list[str], folder=None) -> subprocess.Popen:
    """`hardwire study ARGUMENTS` as a process of its own, in this folder."""
    code = "from hardwire.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "study", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
    )


class InProcess:
    """An engine without processes: each run is done when it is submitted."""

    slots = 1

    def __init__(self, work):
        self.work, self.waiting = work, []

    def submit(self, key, config):
        try:
            self.waiting.append(Finished(key, execute(key, config, self.work), "here"))
        except Exception as error:
            self.waiting.append(Failed(key, describe_error(error), "here"))

    def events(self, timeout):
        events, self.waiting = self.waiting, []
        return events

    def close(self):
        pass


def conduct_here(description: study.Description, path, **options) -> study.Standing:
    """The study in this process, without starting others."""
    with study.Store(path, create=True) as store, store.exclusive():
        return conduct(description, store, InProcess(store.work), **options)


def made_run(method="hard-st", tau=1.0, seed=0, selection=(0.0, 0.0), deploy=(0.5, 0.9), depth=6, **config) -> Run:
    """A finished run with a made-up history, at the paper's scale for MNIST-Binary unless told otherwise."""
    fields = {"dataset": "mnist-binary", "width": 64_000, "iterations": 50_000, "learning_rate": 0.01}
    fields |= {"batch_size": 512, "evaluate_every": 50_000 // len(selection)} | config
    config = study.RunConfig(method=method, tau=tau, depth=depth, seed=seed, **fields)
    records = [
        _made_record(config, number, gap, accuracy)
        for number, (gap, accuracy) in enumerate(zip(selection, deploy, strict=True), 1)
    ]
    return Run(config.key("test"), config, "test", History(records), {"groupsum.classes": 10.0}, 1.0)


def _made_record(config, number, gap, accuracy) -> Record:
    return Record(
        iteration=number * config.evaluate_every,
        loss=1.0,
        method=accuracy + gap,
        argmax=accuracy,
        deploy=accuracy,
        selection=gap,
        computation=0.0,
        total=gap,
        tau=config.tau,
        confidence=0.5,
        commitment=[0.5] * config.depth,
        gate_usage=[[1 / 16] * 16] * config.depth,
        node_actual=[0.0] * config.depth,
        node_bound=[0.0] * config.depth,
        seconds=1.0,
    )
