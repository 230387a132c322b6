"""Growing an image from one seed cell: how far each way of training gets by itself, and what the gap does over time.

    python benchmarks/growth.py [--seconds 15] [--seeds 3] [--only WAY] [--figure growth.svg] [--out FILE.json]

The image is a heart of 12 x 12 cells, drawn for this. A cell reads its 3 x 3 neighbourhood and has hidden bits, and
nobody tells what they should be. What a cell shows is the majority of votes that are made of its neighbourhood, trained
by cross entropy; in some ways the image is a single bit of the state instead, trained by squared error. Each run of 10
steps has the same processor time, and one of fewer steps has as much for each step; the two main ways have all seeds,
the others the first. A file of results is continued: runs that it has are not made again. `growth_searched.py` and
`growth_taught.py` are what does reach the image.
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

HIDDEN, WIDTHS, VOTES, MIDDLE, EVERY, RATE = 8, (128, 128), 64, SIZE // 2, 20, 0.02
TIMES, MAIN = (10, 2, 4, 6, 8), ("hard-st", "soft-mix")
IMAGE = torch.from_numpy(HEART.astype(np.float32))
SOFT = {"method": "soft-mix", "cage": False}

WAYS = {  # what differs from hard-st with learned wires and a residual start, the image asked for in the last step
    "hard-st": {},
    "soft-mix": SOFT,
    "soft-mix, tau from 1 to 0.05": SOFT | {"anneal": True},
    "soft-mix, then hard-st from its logits": SOFT | {"then": "hard-st"},
    "hard-st, image of every step": {"every": True},
    "hard-st, every step, short times first": {"every": True, "curriculum": True},
    "hard-st, 16 hidden bits, 256 + 256 gates": {"hidden": 16, "widths": (256, 256)},
    "hard-st, 16 hidden bits, 256 + 256 gates, 128 votes": {"hidden": 16, "widths": (256, 256), "votes": 128},
    "hard-st, tables of four inputs": {"arity": 4, "candidates": 4, "widths": (64, 64)},
    "hard-st, one bit": {"votes": 1, "rate": 0.05},
    "soft-mix, one bit": SOFT | {"votes": 1, "rate": 0.05},
    "hard-st, one bit, pool of states": {"votes": 1, "rate": 0.05, "pool": True},
}


def reach(steps):
    """The cells that light from the seed can have reached after so many steps: [height, width]."""
    distance = (torch.arange(SIZE) - MIDDLE).abs()
    return (torch.maximum(distance[:, None], distance) <= steps).float()


def seed_state(channels):
    state = torch.zeros(1, channels, SIZE, SIZE)
    state[:, :, MIDDLE, MIDDLE] = 1
    return state.flatten(1)


class Grower:
    """An automaton that shows an image: votes beside the state, or the first of its bits."""

    def __init__(self, way, steps, seed, method=None):
        self.steps, self.votes = steps, way.get("votes", VOTES)
        self.channels = way.get("hidden", HIDDEN)
        made = self.channels + (self.votes if self.votes > 1 else 0)
        layers, below = [], self.channels
        for number, width in enumerate([*way.get("widths", WIDTHS), made]):
            layers.append(
                hw.LocalLayer(
                    (below, SIZE, SIZE), width, 1 if number else 3, "zero", way.get("arity"), 1,
                    way.get("candidates", 8), "residual", 2.0, seed=100 * seed + number,
                )
            )  # fmt: skip
            below = width
        self.net = hw.Recurrent(
            layers, steps, self.channels * SIZE**2, "input", "all", method=method or way.get("method", "hard-st"),
            tau=1.0, cage=way.get("cage", True) or method is not None, seed=seed,
        )  # fmt: skip

    def made(self, state):
        return self.net(state).view(len(state), self.steps, -1, SIZE, SIZE)

    def loss(self, made, wanted):
        """made: [..., votes or bits, height, width]; wanted: [..., height, width]."""
        if self.votes == 1:
            return (made[..., 0, :, :] - wanted).square().mean()
        score = (2 * made.mean(-3) - 1) * math.sqrt(self.votes)
        return torch.nn.functional.binary_cross_entropy_with_logits(score, wanted.expand(score.shape))

    def shown(self, made):
        return (made[..., 0, :, :] if self.votes == 1 else made.mean(-3)) > 0.5

    @torch.no_grad()
    def wrong(self):
        """Wrong cells after the last step, of the pass that is trained and of the deployed circuit."""
        start, target = seed_state(self.channels), (IMAGE * reach(self.steps)).bool()
        method, deployed = (self.shown(self.made(start))[0, -1] for _ in map(self.net.train, (True, False)))
        self.net.train()
        return int((method != target).sum()), int((deployed != target).sum())


def run(way, steps, seed, seconds):
    """Trains one automaton; returns the best deployed image, and the gap at the end of training."""
    rng, grower = np.random.default_rng(seed), Grower(way, steps, seed)
    rate, optimizer = way.get("rate", RATE), torch.optim.Adam(grower.net.parameters())
    targets = torch.stack([IMAGE * reach(t + 1) for t in range(steps)])
    pool = seed_state(grower.channels).repeat(64, 1)
    start, best, iteration = time.process_time(), SIZE**2, 0
    while (done := (time.process_time() - start) / seconds) < 1 and best:
        if way.get("then") and done > 0.5 and grower.net.selector.method.name != way["then"]:
            soft, grower = grower, Grower(way, steps, seed, method=way["then"])
            grower.net.cell.load_state_dict(soft.net.cell.state_dict())
            optimizer = torch.optim.Adam(grower.net.parameters())
        optimizer.param_groups[0]["lr"] = rate * (0.04 + 0.96 * 0.5 * (1 + math.cos(math.pi * done)))
        if way.get("anneal"):
            grower.net.selector.temperature.tau.fill_(0.05**done)
        state = seed_state(grower.channels)
        if way.get("pool"):  # states that have already grown, and one seed, which must all become the image
            chosen = rng.integers(0, 64, 8)
            pool[chosen[0]] = state[0]
            state = pool[chosen]
        made = grower.made(state)
        until = max(1, math.ceil(min(1.0, 1.5 * done) * steps)) if way.get("curriculum") else steps
        if way.get("every"):
            loss = grower.loss(made[:, :until], targets[:until])
        else:
            loss = grower.loss(made[:, -1], IMAGE if way.get("pool") else targets[-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if way.get("pool"):
            pool[chosen] = made[:, -1].detach().flatten(1)
        iteration += 1
        if iteration % EVERY == 0:
            best = min(best, grower.wrong()[1])
    method, deployed = grower.wrong()
    return {"best": min(best, deployed), "method": method, "deployed": deployed, "iterations": iteration}


def jobs(seeds, only=None):
    """What to run: all, or one way with all seeds."""
    if only is not None:
        yield from ((only, TIMES[0], seed) for seed in range(seeds))
        return
    for steps in TIMES:
        for seed in range(seeds):
            yield from ((name, steps, seed) for name in MAIN)
        if steps == TIMES[0]:
            yield from ((name, steps, 0) for name in WAYS if name not in MAIN)


def figure(results, seconds, seeds, path):
    """Wrong cells of the pass that is trained and of the deployed circuit, against the steps."""
    import matplotlib.pyplot as plt

    times = sorted(TIMES)
    shown, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for name, colour in (("soft-mix", "#c2622d"), ("hard-st", "#24507a")):
        runs = [[results[key(name, t, seed, seconds)] for t in times] for seed in range(seeds)]
        gaps = np.array([[one["deployed"] - one["method"] for one in line] for line in runs])
        axes.plot(times, gaps.mean(axis=0), "o-", color=colour, label=name)
        axes.plot(times, gaps.T, ".", color=colour, alpha=0.4)
    axes.set(xlabel="steps from the seed to the image", ylabel=f"wrong cells of {SIZE**2}: deployed less trained")
    axes.set_xticks(times)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    shown.savefig(path)


def key(name, steps, seed, seconds):
    return f"{name} | {steps} steps | seed {seed} | {seconds:g} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "growth.json")
    parser.add_argument("--seconds", type=float, default=15, help="processor time of a run of 10 steps")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=WAYS, help="one way, with all seeds")
    parser.add_argument("--figure", type=Path, help="draw the gap against time to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.parent.mkdir(exist_ok=True)
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for name, steps, seed in jobs(arguments.seeds, arguments.only):
        place = key(name, steps, seed, arguments.seconds)
        if place not in results:
            results[place] = run(WAYS[name], steps, seed, arguments.seconds * steps / TIMES[0])
            arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        print(place, results[place], flush=True)
    if arguments.figure:
        figure(results, arguments.seconds, arguments.seeds, arguments.figure)


if __name__ == "__main__":
    main()
