"""The network of an estimator, whose first layer reads only bits that differ among the training rows.

A column of few values fills its thermometer with repeated thresholds, and a constant one tells nothing; to wire a gate
to such a bit would waste it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Encoder, unpack
from hardwire.network import LogicNetwork


def build_network(
    encoder: Encoder, words: npt.NDArray[np.uint64], head: dict[str, Any], seed: int, settings: dict[str, Any]
) -> LogicNetwork:
    """words: the bits of the training rows. head: what follows the last layer. settings: those of the estimator."""
    groups = head.get("classes", 1)
    width = settings["width"]
    last = -(-width // groups) * groups  # the next width that splits into the classes
    reads = useful_bits(encoder, words)
    wiring: dict[str, Any] = {"wiring": settings["wiring"]}
    most = min(len(reads), width)
    if settings["wiring"] == "learned":
        wiring = {"wiring": "learned", "candidates": min(settings["candidates"], most)} if most > 1 else {}
    return LogicNetwork(
        encoder.features,
        widths=[width] * (settings["depth"] - 1) + [last],
        reads=reads.tolist(),
        encoder=encoder,
        seed=seed,
        **{name: settings[name] for name in ("method", "tau", "cage", "start")},
        **wiring,
        **head,
    )


def useful_bits(encoder: Encoder, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The bits that are not the same in all rows, one of each threshold; all, where there is none."""
    always, ever = np.bitwise_and.reduce(words), np.bitwise_or.reduce(words)
    varies = unpack((always ^ ever)[None], encoder.features)[0].astype(bool)
    repeated = np.zeros(encoder.thresholds.shape, bool)
    repeated[:, 1:] = encoder.thresholds[:, 1:] == encoder.thresholds[:, :-1]
    found = np.flatnonzero(varies & ~repeated.ravel())
    return found if len(found) else np.arange(encoder.features)
