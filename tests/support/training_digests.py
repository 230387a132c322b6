"""Prints, as JSON, digests of the parameters after 60 training steps on the real digits: each method on bits, two on
floats, learned wires that are redrawn, and convolutions.

Run in a process of its own, with the instruction sets pinned by the environment: a sum in another order is another
digest. To write the expected digests anew: python tests/support/training_digests.py --write
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import torch

import hardwire as hw
from hardwire.data import Dataset, Split
from hardwire.selection import METHOD_VARIANTS

EXPECTED = Path(__file__).parents[1] / "files" / "training_digests.json"
PINNED = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "OMP_WAIT_POLICY": "PASSIVE"}
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")  # of the native engine; the reference engine has one result


def digest(net, data, **options) -> str:
    hw.fit(net, data, iterations=60, batch_size=100, lr=0.05, evaluate_every=60, progress=False, **options)
    result = hashlib.blake2b(digest_size=12)
    for parameter in net.parameters():
        result.update(parameter.detach().numpy().tobytes())
    return result.hexdigest()


def flat(data, engine: str, method: str, **options) -> hw.LogicNetwork:
    inputs = data.train.x.shape[1]
    return hw.LogicNetwork(inputs, 10, widths=[330, 210, 150], seed=5, engine=engine, method=method, **options)


def convolutions(engine: str) -> hw.LogicNetwork:
    layers = [
        hw.LogicConv2d((5, 8, 8), 16, tree_depth=2, levels=5, padding=1, seed=1),
        hw.OrPool2d(2),
        hw.LogicConv2d((16, 4, 4), 16, tree_depth=2, candidates=4, seed=2),
        hw.LogicLayer(64, 150, seed=3),
    ]
    return hw.LogicNetwork(classes=10, layers=layers, seed=5, engine=engine, method="gumbel-st+cage")


def continuous(data) -> Dataset:
    rows = {name: torch.tensor(data.raw(name) / 16, dtype=torch.float32) for name in ("train", "test")}
    return Dataset("digits-floats", Split(rows["train"], data.train.y), Split(rows["test"], data.test.y), classes=10)


def digests(engine: str) -> dict[str, str]:
    data = hw.data.load("digits")
    floats = continuous(data)
    results = {name: digest(flat(data, engine, name), data) for name in METHOD_VARIANTS}
    results |= {f"{name}/floats": digest(flat(floats, engine, name), floats) for name in ("hard-st", "soft-mix")}
    for name in ("hard-st+cage", "gumbel-st", "soft-mix"):
        net = flat(data, engine, name, wiring="learned", candidates=6)
        results[f"{name}/learned"] = digest(net, data, callbacks=[hw.RedrawWires(every=20)])
    return results | {"convolutions": digest(convolutions(engine), data)}


def in_process(name: str) -> dict[str, str]:
    """The digests of the native engine with this instruction set, or those of "reference"."""
    environment = os.environ | PINNED | ({} if name == "reference" else {"HARDWIRE_ISA": name})
    result: dict[str, str] = json.loads(
        subprocess.check_output([sys.executable, __file__, name], env=environment, text=True)
    )
    return result


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        expected = {name: in_process(name) for name in (*INSTRUCTION_SETS, "reference")}
        EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")
        return
    torch.set_num_threads(1)
    print(json.dumps(digests("reference" if sys.argv[1] == "reference" else "native")))


if __name__ == "__main__":
    main()
