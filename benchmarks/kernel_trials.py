"""Trials of convolutions on CIFAR-10: how the kernels are drawn, chosen and shaped, by accuracy on validation rows.

    python benchmarks/kernel_trials.py                        # print what has been run
    python benchmarks/kernel_trials.py two three-23 --seeds 2 -o trials.json
    python benchmarks/kernel_trials.py all --iterations 1000 --head 64000

A trial trains a recipe without the validation rows and measures on them; the test set is not read. Finished trials are
in the file of results and are not run again. A trial of 1,000 iterations takes about 40 seconds
of processor time.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import hardwire as hw
from hardwire.files import write_whole
from hardwire.gates.algebra import LESS
from hardwire.layers.size import LayerSize
from hardwire.recipes import Recipe
from hardwire.records import try_recipe

LEVELS = 7
COLOURS = 3
SIDE = 32  # of an image
Layer = dict[str, Any]


def convolution(shape: tuple[int, int, int], kernels: int, **arguments: Any) -> list[Layer]:
    """A block: kernels, and the OR of two by two positions."""
    given = {"tree_depth": 1, "padding": 1, "channels_per_kernel": 2} | arguments
    return [{"kind": "conv2d", "shape": list(shape), "kernels": kernels, **given}, {"kind": "or-pool2d"}]


def network(
    kernels: list[int],
    head: int,
    blocks: list[dict[str, Any]] | None = None,
    levels: int = LEVELS,
    planes: int = COLOURS,
    behind: list[Layer] | None = None,
) -> list[Layer]:
    """Blocks of so many kernels, and a head of gates with learned wires.

    blocks: further arguments of each block. levels, planes: thresholds of each value, and values of a pixel. behind:
    layers behind the head, by the arguments that differ from its own.
    """
    layers: list[Layer] = []
    channels, side = planes * levels, SIDE
    for number, count in enumerate(kernels):
        first = {"levels": levels, "channels_per_kernel": 1} if number == 0 else {}
        layers += convolution((channels, side, side), count, **first, **(blocks[number] if blocks else {}))
        channels, side = count, side // 2
    inputs = channels * side**2
    for arguments in [{"wiring": "learned", "candidates": 16}, *(behind or [])]:
        layers.append({"kind": "logic", "inputs": inputs, "neurons": head, "groups": 10} | arguments)
        inputs = head
    return layers


def recipe(layers: list[Layer], **entries: Any) -> dict[str, Any]:
    """The entries of a recipe in which only the head learns."""
    frozen = {f"layers.{number}.": 0.0 for number, layer in enumerate(layers) if layer["kind"] == "conv2d"}
    settings: dict[str, Any] = {
        "title": "a trial",
        "data": f"cifar10-binary@{layers[0]['levels']}",
        "batch_size": 128,
        "rates": {"all": 0.03, **frozen},
        "augment": {"flip": True, "shift": 2},
        "redraw": {"every": 20, "until": 0.8},
        "network": {"method": "hard-st", "wire_gradient": "mixture"},
        "layers": layers,
    }
    return settings | entries


def with_slopes(slopes_of: Callable[[np.ndarray], np.ndarray]) -> hw.data.Dataset:
    """CIFAR-10 with further values of each pixel: bytes [images, values, rows, columns] made of its own."""
    plain = hw.data.load(f"cifar10-binary@{LEVELS}")

    def read(split: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        raw = plain.raw(split).reshape(-1, COLOURS, SIDE, SIDE)
        yield np.concatenate([raw, slopes_of(raw)], 1).reshape(len(raw), -1), getattr(plain, split).y.numpy()

    rows = {split: len(getattr(plain, split)) for split in ("train", "test")}
    planes = COLOURS + slopes_of(np.zeros((1, COLOURS, SIDE, SIDE), np.uint8)).shape[1]
    return hw.data.Images("with edges", rows, (planes, SIDE, SIDE), 255, LEVELS, True, read).load("edges")


def brightness_slopes(raw: np.ndarray) -> np.ndarray:
    """How much the brightness changes downwards and to the right, by Sobel's operator."""
    grey = np.pad(raw.mean(1, dtype=np.float32), ((0, 0), (1, 1), (1, 1)), "edge")
    smooth = grey[:, :, :-2] + 2 * grey[:, :, 1:-1] + grey[:, :, 2:], grey[:, :-2] + 2 * grey[:, 1:-1] + grey[:, 2:]
    slopes = np.stack([smooth[0][:, 2:] - smooth[0][:, :-2], smooth[1][:, :, 2:] - smooth[1][:, :, :-2]], 1)
    shares = np.linspace(0, 1, 256)
    cuts = np.quantile(np.abs(slopes[::50]), shares)  # a byte is a share of the rows, so thresholds are even
    return np.interp(np.abs(slopes), cuts, 255 * shares).astype(np.uint8)


def level_slopes(raw: np.ndarray, colours: slice) -> np.ndarray:
    """How many thresholds lie between opposite neighbours, downwards and to the right: bits of comparisons alone."""
    levels = (raw[:, colours].astype(np.int16) * (LEVELS + 1)) // 256
    padded = np.pad(levels, ((0, 0), (0, 0), (1, 1), (1, 1)), "edge")
    down, right = padded[:, :, 2:, 1:-1] - padded[:, :, :-2, 1:-1], padded[:, :, 1:-1, 2:] - padded[:, :, 1:-1, :-2]
    return (np.abs(np.concatenate([down, right], 1)) * (256 // (LEVELS + 1)) + 16).astype(np.uint8)


@hw.layers.register_layer
class Edges(hw.LogicConv2d):
    """Edges between the neighbours of a pixel, one for each threshold and direction: gates of comparisons.

    Args:
        shape: (thresholds of all values, height, width).
        levels: Thresholds of a value.
        sobel: Whether three pixels on either side count, the middle ones twice, in tables of six inputs; otherwise a
            gate says that one neighbour reaches the threshold and the opposite one does not.
        seed: Not used: nothing is drawn.
    """

    kind = "edge-kernels"

    def __init__(self, shape: tuple[int, int, int], levels: int, sobel: bool = False, seed: int | None = None):
        along = {-1: 1, 0: 2, 1: 1} if sobel else {0: 1}  # place along the edge -> how much it counts
        places = [
            [
                (channel, 1 + (side if down else place), 1 + (place if down else side))
                for side in sides
                for place in along
            ]
            for channel in range(shape[0])
            for down in (False, True)
            for sides in ((-1, 1), (1, -1))
        ]
        leaves = torch.tensor(places, dtype=torch.int32)[:, :, None]
        super().__init__(
            shape, len(leaves), padding=1, tree_depth=1, channels_per_kernel=1, levels=levels, leaves=leaves,
            arity=6 if sobel else None, start="residual", seed=seed or 0,
        )  # fmt: skip
        weights = torch.tensor([sign * weight for sign in (-1, 1) for weight in along.values()])
        bits = torch.arange(2 ** len(weights))[:, None] >> torch.arange(len(weights)) & 1
        table = (bits * weights).sum(1) >= max(along.values())
        chosen = 2.0 * table - 1 if sobel else torch.arange(16) == LESS
        with torch.no_grad():
            self.logits[0].copy_(chosen.float().expand_as(self.logits[0]))

    def config(self) -> dict[str, Any]:
        return {"shape": list(self.input_shape), "levels": self.levels_per_value, "sobel": self.arity is not None}

    @classmethod
    def size_of(cls, config: dict[str, Any]) -> LayerSize:
        return cls(**config).form.size()


def behind_edges(head: int, sobel: bool) -> dict[str, Any]:
    """Three blocks, the first of which are edges."""
    layers = network([4 * COLOURS * LEVELS, *THREE[1:]], head)
    layers[0] = {"kind": Edges.kind, "shape": layers[0]["shape"], "levels": LEVELS, "sobel": sobel}
    return recipe(layers, choose=chosen([2, 4])) | {"rates": {"all": 0.03, "layers.0.": 0.0}}


def with_edge_channels(kernels: list[int], head: int, pool: int = 3, **edges: Any) -> dict[str, Any]:
    """Three blocks behind `hw.EdgeChannels`, whose gates count; the kernels of all blocks are chosen."""
    layers = network(kernels, head)
    edge_layer = {"kind": "edges2d", "shape": layers[0]["shape"], "levels": LEVELS, **edges}
    channels = hw.EdgeChannels(**{name: value for name, value in edge_layer.items() if name != "kind"}).output_shape[0]
    layers[0] = {name: value for name, value in layers[0].items() if name != "levels"}
    layers[0]["shape"] = [channels, SIDE, SIDE]
    return recipe([edge_layer, *layers], choose=chosen([1, 3, 5], pool))


def chosen(only: list[int], pool: int = 3, **more: Any) -> dict[str, Any]:
    return {"pool": pool, "head": 8_000, "iterations": 500, "only": only, **more}


SLOPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cifar10-edges": brightness_slopes,
    "cifar10-edges-green": partial(level_slopes, colours=slice(1, 2)),
    "cifar10-edges-colours": partial(level_slopes, colours=slice(0, 3)),
}
THREE = [80, 192, 384]
DEPTHS = [{"tree_depth": 1}, {"tree_depth": 2}]
ONE_CHANNEL = {"channels_per_kernel": 1}
GROUPED = {"groups": 16}
BUTTERFLY = {"wiring": "structured", "layer": 1}


def tables(arity: int) -> list[dict[str, Any]]:
    """Kernels of one table in the second and third block."""
    return [{}, {"arity": arity}, {"arity": arity}]


# name -> (what it is, a function of the head's gates)
TRIALS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "two": ("two blocks of 80 and 144 kernels, as drawn", lambda head: recipe(network([80, 144], head, DEPTHS))),
    "two-2": (
        "the second block chosen, 144 of 576",
        lambda head: recipe(network([80, 144], head, DEPTHS), choose=chosen([2], 4)),
    ),
    "three": ("three blocks of 80, 192 and 384, as drawn", lambda head: recipe(network(THREE, head))),
    "three-3": ("the third chosen, 384 of 1,152", lambda head: recipe(network(THREE, head), choose=chosen([4]))),
    "three-23": ("second and third chosen", lambda head: recipe(network(THREE, head), choose=chosen([2, 4]))),
    "three-123": ("all three chosen", lambda head: recipe(network(THREE, head), choose=chosen([0, 2, 4]))),
    "three-tables-4": ("tables of 4 inputs, as drawn", lambda head: recipe(network(THREE, head, tables(4)))),
    "three-tables-4-3": (
        "tables of 4 inputs, the third chosen",
        lambda head: recipe(network(THREE, head, tables(4)), choose=chosen([4])),
    ),
    "three-tables-6": ("tables of 6 inputs, as drawn", lambda head: recipe(network(THREE, head, tables(6)))),
    "three-tables-6-3": (
        "tables of 6 inputs, the third chosen",
        lambda head: recipe(network(THREE, head, tables(6)), choose=chosen([4])),
    ),
    "three-cutout": (
        "the third chosen, a square of zeros",
        lambda head: recipe(network(THREE, head), choose=chosen([4]), augment={"flip": True, "shift": 2, "cutout": 8}),
    ),
    "three-shift-4": (
        "the third chosen, shifts by up to 4 pixels",
        lambda head: recipe(network(THREE, head), choose=chosen([4]), augment={"flip": True, "shift": 4}),
    ),
    "three-noise": (
        "the third chosen, 5% of the bits inverted",
        lambda head: recipe(
            network(THREE, head), choose=chosen([4]), augment={"flip": True, "shift": 2, "noise": 0.05}
        ),
    ),
}

TRIALS |= {
    "three-23-levels-15": (
        "second and third chosen, 15 thresholds",
        lambda head: recipe(network(THREE, head, levels=15), choose=chosen([2, 4])),
    ),
    "three-23-one-channel": (
        "second and third chosen, both places of a kernel in one channel",
        lambda head: recipe(network(THREE, head, [{}, ONE_CHANNEL, ONE_CHANNEL]), choose=chosen([2, 4])),
    ),
    "three-23-groups": (
        "second and third chosen, kernels read channels of one of 16 groups",
        lambda head: recipe(network(THREE, head, [{}, GROUPED, GROUPED]), choose=chosen([2, 4])),
    ),
    "three-23-butterfly": (
        "second and third chosen, half of the head a second layer with balanced butterflies",
        lambda head: recipe(network(THREE, head // 2, behind=[BUTTERFLY]), choose=chosen([2, 4])),
    ),
    "three-23-random": (
        "the same with random wires in the second layer",
        lambda head: recipe(network(THREE, head // 2, behind=[{"wiring": "random"}]), choose=chosen([2, 4])),
    ),
    "three-123-edges": (
        "all three chosen, edges beside colours",
        lambda head: recipe(network(THREE, head, planes=COLOURS + 2), choose=chosen([0, 2, 4]), data="cifar10-edges"),
    ),
    "three-123-edges-green": (
        "the same, thresholds of green between opposite neighbours",
        lambda head: recipe(
            network(THREE, head, planes=COLOURS + 2), choose=chosen([0, 2, 4]), data="cifar10-edges-green"
        ),
    ),
    "three-123-edges-colours": (
        "the same, thresholds of each colour between opposite neighbours",
        lambda head: recipe(
            network(THREE, head, planes=3 * COLOURS), choose=chosen([0, 2, 4]), data="cifar10-edges-colours"
        ),
    ),
    "three-23-pairs": (
        "the first block 84 gates that compare opposite neighbours, second and third chosen",
        lambda head: behind_edges(head, sobel=False),
    ),
    "three-23-sobel": (
        "the first block 84 tables of six inputs, Sobel's operator on each threshold, second and third chosen",
        lambda head: behind_edges(head, sobel=True),
    ),
    "three-123-steps-2-4": (
        "channels of edges: green rises by two thresholds, or by four, in four directions; all three chosen",
        lambda head: with_edge_channels(THREE, head, planes=[1], steps=[2, 4]),
    ),
    "three-123-steps-1-2-3-4": (
        "likewise by one, two, three or four",
        lambda head: with_edge_channels(THREE, head, planes=[1], steps=[1, 2, 3, 4]),
    ),
    "three-123-steps-2-colours": (
        "likewise by two, in each colour",
        lambda head: with_edge_channels(THREE, head, steps=[2]),
    ),
    "three-123-steps-1": (
        "likewise by one, in green alone",
        lambda head: with_edge_channels(THREE, head, planes=[1], steps=[1]),
    ),
    "three-123-late": (
        "all three chosen, 48, 192 and 768 kernels",
        lambda head: recipe(network([48, 192, 768], head), choose=chosen([0, 2, 4])),
    ),
    "three-23-late": (
        "second and third chosen, 64, 192 and 640 kernels",
        lambda head: recipe(network([64, 192, 640], head), choose=chosen([2, 4])),
    ),
    "three-23-pool-6": (
        "second and third chosen among six times as many, by a trial of 16,000 gates",
        lambda head: recipe(network(THREE, head), choose=chosen([2, 4], 6) | {"head": 16_000}),
    ),
}


def run(name: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """One trial: accuracy on validation rows, neurons, and processor time."""
    title, entries = TRIALS[name]
    settings = Recipe(
        name=name, seed=seed, iterations=arguments.iterations, **entries(arguments.head) | {"title": title}
    )
    start = time.process_time()
    history = try_recipe(settings, evaluate_every=arguments.iterations, progress=False)
    return {
        "accuracy": round(100 * history.final.deploy, 2),
        "processor_minutes": round((time.process_time() - start) / 60, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="NAME", help=f"{', '.join(TRIALS)}; or all")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=1_000)
    parser.add_argument("--head", type=int, default=64_000, help="gates of the last layer")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("-o", "--out", type=Path, default=Path("kernel-trials.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for name, slopes_of in SLOPES.items():
        hw.data.register(name, partial(with_slopes, slopes_of))
    results: dict[str, Any] = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    names = list(TRIALS) if arguments.trials == ["all"] else arguments.trials
    if unknown := [name for name in names if name not in TRIALS]:
        parser.error(f"there is no trial {unknown[0]!r}; there are {', '.join(TRIALS)}")
    for name in names:
        for seed in range(arguments.seeds):
            key = f"{name}, head {arguments.head:,}, {arguments.iterations:,} iterations, seed {seed}"
            if key not in results:
                results[key] = run(name, seed, arguments)
                write_whole(arguments.out, json.dumps(results, indent=1) + "\n")
            print(f"{key}: {results[key]['accuracy']:.2f}%", flush=True)
    if not names:
        for key, result in results.items():
            print(f"{key}: {result['accuracy']:.2f}% in {result['processor_minutes']} minutes of processor time")


if __name__ == "__main__":
    main()
