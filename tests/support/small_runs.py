"""Small networks on the real digits, for tests of measuring and training."""

import os

import torch

import hardwire as hw
from hardwire.data import Dataset, Split
from hardwire.selection import METHOD_VARIANTS  # noqa: F401 (tests take the six from here)


def digits(binary=True) -> Dataset:
    """The bundled digits, as bits or as the same rows in [0, 1]."""
    data = hw.data.load("digits")
    if binary:
        return data
    train, test = (
        Split(torch.tensor(data.raw(name) / 16, dtype=torch.float32), getattr(data, name).y)
        for name in ("train", "test")
    )
    return Dataset("digits-continuous", train, test, classes=10)


def small_net(method="hard-st", inputs=320, **arguments):
    return hw.LogicNetwork(inputs, 10, widths=[60, 50], seed=3, method=method, **arguments)


def same_state(a, b) -> bool:
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def with_support() -> dict[str, str]:
    """The environment of a process of its own that imports these helpers."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}


class StopAt(hw.Callback):
    """Raises after a step, as a crash would."""

    def __init__(self, iteration):
        self.iteration = iteration

    def on_step(self, run):
        if run.iteration == self.iteration:
            raise RuntimeError("crashed")
