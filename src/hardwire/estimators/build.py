"""The network of an estimator: layers as asked for, the first of which reads only bits that tell something."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder
from hardwire.network import LogicNetwork
from hardwire.wiring import candidates_for


def build_network(
    encoder: Encoder, words: npt.NDArray[np.uint64], head: dict[str, Any], seed: int, settings: dict[str, Any]
) -> LogicNetwork:
    """words: the bits of the training rows. head: what follows the last layer. settings: those of the estimator."""
    groups = head.get("classes", 1)
    width = settings["width"]
    last = -(-width // groups) * groups  # the next width that splits into the classes
    reads = encoder.useful(words)
    candidates = settings["candidates"] if settings["wiring"] == "learned" else None
    return LogicNetwork(
        encoder.features,
        widths=[width] * (settings["depth"] - 1) + [last],
        reads=reads.tolist(),
        encoder=encoder,
        seed=seed,
        **{name: settings[name] for name in ("method", "tau", "cage", "start")},
        **candidates_for(settings["wiring"], candidates, min(len(reads), width)),
        **head,
    )
