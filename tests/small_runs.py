"""Small networks on the real digits, for tests of measuring and training."""

from dataclasses import dataclass
from types import SimpleNamespace

import torch
from sklearn.datasets import load_digits

import hardwire as hw

METHODS = {  # the paper's six: name -> arguments
    "soft-mix": {"method": "soft-mix"},
    "soft-gumbel": {"method": "soft-gumbel"},
    "hard-st": {"method": "hard-st"},
    "gumbel-st": {"method": "gumbel-st"},
    "hard-st+cage": {"method": "hard-st", "cage": True},
    "gumbel-st+cage": {"method": "gumbel-st", "cage": True},
}


@dataclass
class Rows:
    x: object
    y: torch.Tensor

    def __len__(self):
        return len(self.y)

    def batch(self, indices):
        return self.x[indices], self.y[indices]


def digits(binary=True):
    raw, labels = load_digits(return_X_y=True)
    y = torch.from_numpy(labels).long()
    encoder = hw.Encoder.uniform(64, 3, 16)
    x = hw.Bits.from_numpy(encoder.encode(raw), encoder.features) if binary else torch.tensor(raw / 16).float()
    return SimpleNamespace(
        train=Rows(x[:1400], y[:1400]), test=Rows(x[1400:], y[1400:]), encoder=encoder if binary else None
    )


def small_net(method="hard-st", inputs=192, **arguments):
    return hw.LogicNetwork(inputs, 10, widths=[60, 50], seed=3, **METHODS.get(method, {"method": method}), **arguments)


def same_state(a, b) -> bool:
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
