"""The network of an estimator: layers of gates whose first one reads only bits that differ among the training rows.

A column of few values fills its thermometer with repeated thresholds, and a constant one tells nothing; to wire a gate
to such a bit would waste it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hardwire.bits import Encoder, unpack
from hardwire.layers import LogicLayer
from hardwire.network import SEEDS_PER_NETWORK, LogicNetwork
from hardwire.wiring import make_wiring


def build_network(
    encoder: Encoder, words: npt.NDArray[np.uint64], head: dict[str, Any], seed: int, settings: dict[str, Any]
) -> LogicNetwork:
    """words: the bits of the training rows. head: what follows the last layer. settings: those of the estimator."""
    groups = head.get("classes", 1)
    last = -(-settings["width"] // groups) * groups  # the next width that splits into the classes
    widths = [settings["width"]] * (settings["depth"] - 1) + [last]
    useful = useful_bits(encoder, words)
    layers = []
    for number, neurons in enumerate(widths):
        inputs = encoder.features if number == 0 else widths[number - 1]
        choice = len(useful) if number == 0 else inputs
        wiring, options = _wiring(settings, choice)
        layer_seed, layer_groups = seed * SEEDS_PER_NETWORK + number, groups if number == len(widths) - 1 else 1
        wires = make_wiring(wiring, choice, neurons, layer_seed, layer_groups, dict(options))
        if number == 0:
            wires = torch.from_numpy(useful)[wires.long()].to(torch.int32)
        layers.append(
            LogicLayer(
                inputs, neurons, seed=layer_seed, wiring=wiring, start=settings["start"], groups=layer_groups,
                wires=wires, **options,
            )
        )  # fmt: skip
    return LogicNetwork(
        layers=layers,
        method=settings["method"],
        tau=settings["tau"],
        cage=settings["cage"],
        seed=seed,
        encoder=encoder,
        **head,
    )


def _wiring(settings: dict[str, Any], choice: int) -> tuple[str, dict[str, Any]]:
    """The wiring by name and its options, with no more candidates than there are."""
    if settings["wiring"] != "learned":
        return settings["wiring"], {}
    return ("learned", {"candidates": min(settings["candidates"], choice)}) if choice > 1 else ("random", {})


def useful_bits(encoder: Encoder, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The bits that are not the same in all rows, one of each threshold; all, where there is none."""
    always, ever = np.bitwise_and.reduce(words), np.bitwise_or.reduce(words)
    varies = unpack((always ^ ever)[None], encoder.features)[0].astype(bool)
    repeated = np.zeros(encoder.thresholds.shape, bool)
    repeated[:, 1:] = encoder.thresholds[:, 1:] == encoder.thresholds[:, :-1]
    found = np.flatnonzero(varies & ~repeated.ravel())
    return found if len(found) else np.arange(encoder.features)
