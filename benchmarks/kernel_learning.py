"""Trials of kernels that learn on CIFAR-10, against kernels that stay as they were drawn, on validation rows.

    python benchmarks/kernel_learning.py [frozen leaves sgd flips] [--iterations 1000] [--seed 0]

The network is `three` of kernel_trials.py, and so is its training. `leaves`: the first block's leaves choose among
eight places each, shared over positions. `sgd`: kernels follow their plain gradient, scaled so that the largest entry
of a layer moves by RATE; Adam would move all entries alike. `flips`: after the training, gates of the last block's
kernels are flipped one at a time, and a flip stays if the loss on training rows falls.
"""

import argparse
import time
from typing import Any

import kernel_trials
import torch
from torch.nn.functional import cross_entropy

import hardwire as hw
from hardwire.layers.conv import AND_LIKE
from hardwire.recipes import Recipe
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import train_network

HEAD, LEAVES, RATE = 64_000, 8, 0.01
FLIPS, ROWS = 200, 8_192  # flips that are tried, and training rows that judge each
BLOCKS = (0, 2, 4)


class PlainGradient(hw.Callback):
    """Moves the logits of kernels along their gradient."""

    def on_gradient(self, run: Any) -> None:
        with torch.no_grad():
            for block in BLOCKS:
                for logits in run.net.layers[block].logits:
                    logits -= RATE * logits.grad / logits.grad.abs().max().clamp(min=1e-30)


def entries(name: str) -> dict[str, Any]:
    """The entries of the recipe of a trial."""
    blocks = [{"candidates": LEAVES} if name == "leaves" else {}, {}, {}]
    made = kernel_trials.recipe(kernel_trials.network(kernel_trials.THREE, HEAD, blocks))
    if name == "leaves":
        made["rates"] |= {"layers.0.wire_logits": 0.003}
    if name == "sgd":
        made["rates"] = {"all": 0.03} | {f"layers.{block}.": 1e-12 for block in BLOCKS}
    return made


def flip_gates(net: hw.LogicNetwork, data: hw.data.Dataset, seed: int) -> int:
    """Tries flips of single gates of the last block; returns how many stayed."""
    draw, kernels = torch.Generator().manual_seed(seed), net.layers[BLOCKS[-1]].logits[0]
    rows = torch.randperm(len(data.train), generator=draw)[:ROWS].numpy()
    x, y = data.train.batch(rows)

    @torch.no_grad()
    def loss() -> float:
        return cross_entropy(net(x), y).item()

    net.eval()
    best, stayed = loss(), 0
    for kernel in torch.randint(len(kernels), (FLIPS,), generator=draw):
        before = kernels[kernel].clone()
        gate = AND_LIKE[torch.randint(len(AND_LIKE), (1,), generator=draw).item()]
        with torch.no_grad():
            kernels[kernel] = torch.eye(16)[gate] * 10
        after = loss()
        if after < best:
            best, stayed = after, stayed + 1
        else:
            with torch.no_grad():
                kernels[kernel] = before
    return stayed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", default=["frozen", "leaves", "sgd", "flips"])
    parser.add_argument("--iterations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.trials:
        start = time.process_time()
        settings = settings_of(
            Recipe(name=name, seed=arguments.seed, iterations=arguments.iterations, **entries(name) | {"title": name})
        )
        data = settings.load()
        net = settings.network(data)
        history = train_network(
            settings, net, data, validation=True, evaluate_every=arguments.iterations, progress=False,
            callbacks=[PlainGradient()] if name == "sgd" else [],
        )  # fmt: skip
        line = f"{name}: {100 * history.final.deploy:.2f}%"
        if name == "flips":
            own = data.with_validation()
            stayed = flip_gates(net, own, arguments.seed)
            after = hw.measure_gap(net, own.held_out).deploy
            line += f", and {100 * after:.2f}% after {stayed} of {FLIPS} flips stayed"
        print(f"{line}, {(time.process_time() - start) / 60:.1f} minutes of processor time", flush=True)


if __name__ == "__main__":
    main()
