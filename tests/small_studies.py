"""Small studies on the bundled digits, for tests of the study room."""

import subprocess
import sys

import numpy as np
import torch

import hardwire as hw
from hardwire import study
from hardwire.study.description import parse

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


def start(arguments: list[str]) -> subprocess.Popen:
    """`hardwire study ARGUMENTS` as a process of its own."""
    code = "from hardwire.cli.study import app; app()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
