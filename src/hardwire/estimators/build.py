"""Builds the network of an estimator; its first layer reads only bits that vary in the training rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder
from hardwire.network import LogicNetwork
from hardwire.wiring import candidates_for


def build_network(
    encoder: Encoder, words: npt.NDArray[np.uint64], head: dict[str, Any], seed: int, settings: dict[str, Any]
) -> LogicNetwork:
    """words: bits of the training rows. head: arguments for what follows the last layer. settings: the parameters."""
    groups = head.get("classes", 1)
    width = settings["width"]
    last = -(-width // groups) * groups  # rounded up to a multiple of the classes
    input_subset = encoder.useful(words)
    candidates = settings["candidates"] if settings["wiring"] == "learned" else None
    return LogicNetwork(
        encoder.features,
        widths=[width] * (settings["depth"] - 1) + [last],
        input_subset=input_subset.tolist(),
        encoder=encoder,
        seed=seed,
        **{name: settings[name] for name in ("arity", "method", "tau", "cage", "start")},
        **candidates_for(settings["wiring"], candidates, min(len(input_subset), width)),
        **head,
    )
