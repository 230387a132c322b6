"""Prints, as JSON, a digest of the logits after 200 training steps of each of the six methods on the real digits.

Run in a process of its own, with the instruction sets pinned by the environment: a sum in another order is another
digest. `hard-st/floats` and `soft-mix/floats` train on continuous input, which takes another path of the engine.
"""

import hashlib
import json
import os
import sys

os.environ.update(ATEN_CPU_CAPABILITY="default", MKL_CBWR="COMPATIBLE", OMP_WAIT_POLICY="PASSIVE")

import torch

import hardwire as hw
from hardwire.data import Dataset, Split

SIX = {
    "soft-mix": {"method": "soft-mix"},
    "soft-gumbel": {"method": "soft-gumbel"},
    "hard-st": {"method": "hard-st"},
    "gumbel-st": {"method": "gumbel-st"},
    "hard-st+cage": {"method": "hard-st", "cage": True},
    "gumbel-st+cage": {"method": "gumbel-st", "cage": True},
}


def digest(data, engine: str, arguments: dict) -> str:
    net = hw.LogicNetwork(data.train.x.shape[1], 10, widths=[330, 210, 150], seed=5, engine=engine, **arguments)
    hw.fit(net, data, iterations=200, batch_size=100, lr=0.02, evaluate_every=200, progress=False)
    result = hashlib.blake2b(digest_size=12)
    for layer in net.layers:
        result.update(layer.logits.detach().numpy().tobytes())
    return result.hexdigest()


def continuous(data) -> Dataset:
    rows = {name: torch.tensor(data.raw(name) / 16, dtype=torch.float32) for name in ("train", "test")}
    return Dataset("digits-floats", Split(rows["train"], data.train.y), Split(rows["test"], data.test.y), classes=10)


def main() -> None:
    torch.set_num_threads(1)
    data = hw.data.load("digits")
    found = {}
    engines = ("native", "reference") if sys.argv[1:] == ["baseline"] else ("native",)
    for engine in engines:
        for name, arguments in SIX.items():
            found[f"{engine}/{name}"] = digest(data, engine, arguments)
        for name in ("hard-st", "soft-mix"):
            found[f"{engine}/{name}/floats"] = digest(continuous(data), engine, SIX[name])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
