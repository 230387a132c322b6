"""Growing an image from one seed cell: how far each way of training gets by itself, and what the gap does over time.

    python benchmarks/growth.py [--out benchmarks/results/growth.json] [--seconds 10] [--seeds 3] [--figure growth.svg]

The image is a heart of 12 x 12 cells, drawn for this. A cell reads its 3 x 3 neighbourhood; one of its bits is the
image, the others are hidden and nobody tells what they should be. Each run has the same processor time. A file of
results is continued: runs that it has are not made again. `growth_taught.py` is what does reach the image.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from heart import HEART, SIZE

import hardwire as hw

CHANNELS, MIDDLE, EVERY = 8, SIZE // 2, 20
TIMES = (2, 4, 6, 8, 10)
IMAGE = torch.from_numpy(HEART.astype(np.float32))


def reach(steps):
    """The cells that light from the seed can have reached after so many steps: [height, width]."""
    distance = (torch.arange(SIZE) - MIDDLE).abs()
    return (torch.maximum(distance[:, None], distance) <= steps).float()


def seed_state(channels):
    state = torch.zeros(1, channels, SIZE, SIZE)
    state[:, :, MIDDLE, MIDDLE] = 1
    return state.flatten(1)


WAYS = {  # what differs from hard-st with learned wires and a residual start, the image asked for in the last step
    "soft-mix": {"method": "soft-mix", "cage": False},
    "soft-mix, tau from 1 to 0.05": {"method": "soft-mix", "cage": False, "anneal": True},
    "hard-st": {},
    "hard-st, image of every step": {"every": True},
    "hard-st, every step, short times first": {"every": True, "curriculum": True},
    "hard-st, every step, 16 bits a cell": {"every": True, "channels": 16, "widths": [128, 128]},
    "hard-st, every step, tables of six inputs": {"every": True, "arity": 6, "candidates": None, "widths": [64, 32]},
    "hard-st, pool of states": {"pool": True},
}


def automaton(steps, way, seed):
    channels = way.get("channels", CHANNELS)
    return hw.CellularAutomaton(
        (SIZE, SIZE), channels, steps=steps, widths=way.get("widths", [64, 64]), border="zero", outputs="all",
        arity=way.get("arity"), candidates=way.get("candidates", 8), start="residual", bonus=2.0,
        method=way.get("method", "hard-st"), tau=1.0, cage=way.get("cage", True), seed=seed,
    )  # fmt: skip


def images(net, state, steps):
    """The image bit of every cell after each step: [batch, steps, height, width]."""
    return net(state).view(len(state), steps, -1, SIZE, SIZE)[:, :, 0]


@torch.no_grad()
def wrong(net, channels, steps):
    """Wrong cells of the last step, of the pass that is trained (rounded) and of the deployed circuit."""
    start, target = seed_state(channels), IMAGE * reach(steps)
    method = images(net.train(), start, steps)[0, -1] > 0.5
    deployed = images(net.eval(), start, steps)[0, -1] > 0.5
    net.train()
    return int((method != target.bool()).sum()), int((deployed != target.bool()).sum())


def run(way, steps, seed, seconds):
    """Trains one automaton; returns the best deployed image, and the gap at the end of training."""
    channels, rng = way.get("channels", CHANNELS), np.random.default_rng(seed)
    net = automaton(steps, way, seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    targets = torch.stack([IMAGE * reach(t + 1) for t in range(steps)])
    pool = seed_state(channels).repeat(64, 1)
    start, best, iteration = time.process_time(), SIZE**2, 0
    while (done := (time.process_time() - start) / seconds) < 1 and best:
        optimizer.param_groups[0]["lr"] = 0.002 + 0.05 * (0.5 + 0.5 * math.cos(math.pi * done))
        if way.get("anneal"):
            net.selector.temperature.tau.fill_(0.05**done)
        state = seed_state(channels)
        if way.get("pool"):
            chosen = rng.integers(0, 64, 8)
            pool[chosen[0]] = state[0]
            state = pool[chosen]
        made = images(net, state, steps)
        wanted = IMAGE.expand(len(state), -1, -1)
        last = made[:, -1] - (wanted if way.get("pool") else targets[-1])
        if way.get("every"):
            until = max(1, math.ceil(min(1.0, 1.5 * done) * steps)) if way.get("curriculum") else steps
            loss = (made[:, :until] - targets[:until]).square().mean()
        else:
            loss = last.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if way.get("pool"):
            with torch.no_grad():
                pool[chosen] = net(state).view(len(state), steps, -1)[:, -1]
        iteration += 1
        if iteration % EVERY == 0:
            best = min(best, wrong(net, channels, steps)[1])
    method, deployed = wrong(net, channels, steps)
    return {"best": best, "method": method, "deployed": deployed, "iterations": iteration}


def jobs(seeds):
    for seed in range(seeds):
        for name in WAYS:
            yield name, TIMES[-1], seed
        for name in ("soft-mix", "hard-st"):
            for steps in TIMES[:-1]:
                yield name, steps, seed


def figure(results, seconds, seeds, path):
    """Cells that the deployed circuit has wrong beyond those of the pass that is trained, against the steps."""
    import matplotlib.pyplot as plt

    shown, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for name, colour in (("soft-mix", "#c2622d"), ("hard-st", "#24507a")):
        gaps = np.array([[gap(results[key(name, t, seed, seconds)]) for t in TIMES] for seed in range(seeds)])
        axes.plot(TIMES, gaps.mean(axis=0), "o-", color=colour, label=name)
        axes.plot(TIMES, gaps.T, ".", color=colour, alpha=0.4)
    axes.set(xlabel="steps from the seed to the image", ylabel=f"wrong cells of {SIZE**2}: deployed less trained")
    axes.set_xticks(TIMES)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    shown.savefig(path)


def gap(result):
    return result["deployed"] - result["method"]


def key(name, steps, seed, seconds):
    return f"{name} | {steps} steps | seed {seed} | {seconds:g} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "growth.json")
    parser.add_argument("--seconds", type=float, default=10, help="processor time of each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--figure", type=Path, help="draw the gap against time to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.parent.mkdir(exist_ok=True)
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for name, steps, seed in jobs(arguments.seeds):
        place = key(name, steps, seed, arguments.seconds)
        if place not in results:
            results[place] = run(WAYS[name], steps, seed, arguments.seconds)
            arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        print(place, results[place], flush=True)
    if arguments.figure:
        figure(results, arguments.seconds, arguments.seeds, arguments.figure)


if __name__ == "__main__":
    main()
