"""What is measured on a network by the run that trains it: at its start, at every evaluation and at its end.

Nothing here changes the network; whatever needs a training pass takes it on a copy. Surprising: this decides what is in
a store and not how a network trains, but it belongs to a run's identity all the same, since two stores that measured
differently should not be taken for one.
"""

from dataclasses import dataclass
from typing import Any

import hardwire as hw
from hardwire.data import Dataset, Split
from hardwire.data.rows import Rows
from hardwire.temperature import CAGE
from hardwire.training import GapMeasures
from hardwire_paper.measured import bounds, forwards, gradients, hessian

TRAIN_ROWS = 10_000  # of the training set, on which training accuracy is measured
BATCH = 512  # rows of the training set, on which gradients are measured
DRAWS = 8  # of noise, over which those of the first step are averaged


@dataclass(frozen=True)
class Measures:
    """At every evaluation: the gap on the test rows, accuracy on training rows, gradients by layer, CAGE's average.

    held_out: validation rows that are kept out of training, on which deployed accuracy is measured as well.
    """

    train: Split
    held_out: Split | None = None

    def __call__(self, net: Any, rows: Rows) -> dict[str, Any]:
        results = GapMeasures()(net, rows)
        seen = hw.measure_gap(net, self.train.part(slice(TRAIN_ROWS)))
        results |= {"train_method": seen.method, "train_deploy": seen.deploy}
        results |= gradients.by_level(net, *self.train.batch(slice(BATCH)))
        if isinstance(net.selector.temperature, CAGE):
            results["ema"] = net.selector.temperature.confidence.item()
        if self.held_out is not None:
            results["validation"] = hw.measure_gap(net, self.held_out).deploy
        return results


def measure_initial(net: hw.LogicNetwork, data: Dataset) -> dict[str, float]:
    """The class scores before training, and the gradients of the first step."""
    start = gradients.by_level(net, *data.train.batch(slice(BATCH)), draws=DRAWS)
    sizes = {
        f"start.{name}.{level}": size for name, sizes in start.items() for level, size in enumerate(sizes, start=1)
    }
    return bounds.class_scores(net, data) | sizes


def measure_trained(net: hw.LogicNetwork, data: Dataset) -> dict[str, float]:
    """What the propositions speak about, on the trained network."""
    return bounds.measure(net, data) | forwards.measure(net, data) | hessian.measure(net, data)
