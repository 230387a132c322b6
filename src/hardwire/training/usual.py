"""What a training uses where nothing else is said, for images and for tables: the one place of such numbers.

Wiring "auto" is "structured" where images have a shape, which won on validation rows of MNIST, Fashion-MNIST and
CIFAR-10 (benchmarks/wiring.py), else "random", the paper's. The numbers of tables were chosen on validation rows of
tables other than the ones our documentation reports; see benchmarks/tabular.py.
"""

import math
from dataclasses import dataclass
from typing import Any

from hardwire.data.kinds import is_table


@dataclass(frozen=True)
class Usual:
    """Arguments of the network and of the training, by the names of `hardwire.training.settings.Settings`."""

    width: int = 2000
    depth: int = 2
    method: str = "hard-st"
    wiring: str = "auto"
    candidates: int | None = None
    start: str = "normal"
    iterations: int = 2000
    batch_size: int = 128
    lr: float = 0.01

    def beside(self, given: dict[str, Any]) -> dict[str, Any]:
        """Those that go together with what was given; width and depth are left to the number of classes."""
        usual = {name: value for name, value in vars(self).items() if name not in ("width", "depth", *given)}
        if "epochs" in given:
            usual.pop("iterations", None)
        if ("tau" in given or given.get("cage") is False) and "method" in usual:
            usual["method"] = self.method.removesuffix("+cage")
        if given.get("wiring", self.wiring) != self.wiring:
            usual.pop("candidates", None)
        return usual


IMAGES = Usual()
TABLES = Usual(
    width=4000,
    method="hard-st+cage",
    wiring="learned",
    candidates=32,
    iterations=1000,
    batch_size=256,
    lr=0.03,
)
PASSES, LEAST, MOST = 30, 300, 2000  # over the rows of a table, and the steps that this may come to


def steps_for(rows: int, batch_size: int) -> int:
    """Training steps for a table of so many rows: more rows are worth more steps, within what one likes to wait for."""
    return min(MOST, max(LEAST, math.ceil(PASSES * rows / batch_size)))


def usual_for(dataset: str) -> Usual:
    return TABLES if is_table(dataset) else IMAGES
