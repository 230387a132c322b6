"""Default settings of a training run, for images, tables, loops and other data; defined here and nowhere else.

`hardwire train`, `hw.train`, `Settings.for_dataset` and the estimators all use them. Those for images were chosen on
validation rows of MNIST, Fashion-MNIST and CIFAR-10 (benchmarks/image_defaults.py), those for tables on tables that
scikit-learn makes and ships (benchmarks/choose_tables.py). Wiring "auto" is "structured" if images have a shape
(benchmarks/wiring.py), else "random", the paper's. Surprising: this module imports no torch, so that the help of the
command line can quote it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hardwire.data.catalog import ENTRIES, Images
from hardwire.data.kinds import is_file, is_table


@dataclass(frozen=True)
class Defaults:
    """Defaults of the network and of its training, by the names of `hardwire.training.Settings`.

    levels: thresholds per pixel, for images that are not bits yet.
    """

    width: int = 2000
    depth: int = 2
    method: str = "hard-st"
    wiring: str = "auto"
    candidates: int | None = None
    redraw: Mapping[str, Any] | None = None
    start: str = "normal"
    options: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 2000
    batch_size: int = 128
    lr: float = 0.01
    schedule: str = "constant"
    augment: Mapping[str, Any] = field(default_factory=dict)
    levels: int | None = None

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The given settings, completed by the defaults that are compatible with them.

        Width and depth are not filled in, because the width depends on the number of classes.
        """
        left_out = {"width", "depth", "levels", *given}
        if "epochs" in given:
            left_out.add("iterations")
        if given.get("wiring", self.wiring) != self.wiring:
            left_out |= {"candidates", "redraw", "options"}  # options of learned wires
        missing = {name: value for name, value in vars(self).items() if name not in left_out}
        if ("tau" in given or given.get("cage") is False) and "method" in missing:
            missing["method"] = self.method.removesuffix("+cage")
        if not str(given.get("method", self.method)).startswith(("hard-st", "gumbel-st")):
            missing.pop("options", None)  # they say how hard methods learn
        return missing | dict(given)


IMAGES = Defaults(
    width=8000,
    depth=1,
    method="hard-st+cage",
    wiring="learned",
    candidates=16,
    redraw={"every": 20, "until": 0.8},
    options={"wire_gradient": "mixture"},
    iterations=6000,
    batch_size=256,
    lr=0.03,
    schedule="cosine",
    levels=7,
)
TABLES = Defaults(
    width=4000,
    method="hard-st+cage",
    wiring="learned",
    candidates=32,
    iterations=1000,
    batch_size=256,
    lr=0.03,
    schedule="cooldown",
)
BITS = Defaults()
LOOPS = Defaults(  # `width` is that of no loop: each layer of a cell has twice as many gates as the state has bits
    depth=3,
    method="hard-st+cage",
    wiring="learned",
    candidates=8,
    start="residual",
    batch_size=256,
    lr=0.05,
    levels=1,
)
DEFAULTS = {"images": IMAGES, "table": TABLES, "bits": BITS, "loop": LOOPS}
ENOUGH_IMAGES = 10_000  # training rows; the defaults for images were chosen on sets of 50,000 and more
NARROWEST, WIDEST_BY_ROWS, WIDEST = 1000, 4000, 8000  # gates per layer for a table
GATES_PER_ROW, GATES_PER_CLASS = 1.5, 350
TABLE_EPOCHS, MIN_STEPS, MAX_STEPS = 30, 300, 2000


def steps_for(rows: int, batch_size: int) -> int:
    """Training steps for a table: a fixed number of epochs, within limits that keep the waiting time reasonable."""
    return min(MAX_STEPS, max(MIN_STEPS, math.ceil(TABLE_EPOCHS * rows / batch_size)))


def width_for(rows: int, classes: int | None) -> int:
    """Gates per layer for a table: enough for each class, and not so many that few rows are known by heart.

    Chosen on tables that scikit-learn makes and ships; docs/tables.md has the figures. The number of columns made no
    difference there. classes: None for a number, which more gates resolve more finely.
    """
    if classes is None:
        return WIDEST_BY_ROWS
    by_rows = min(max(math.ceil(GATES_PER_ROW * rows), NARROWEST), WIDEST_BY_ROWS)
    return max(by_rows, min(GATES_PER_CLASS * classes, WIDEST))


def round_up(width: int, classes: int) -> int:
    """The next multiple of the classes."""
    return -(-width // classes) * classes


def kind_of(dataset: Any) -> str:
    """Which defaults fit a dataset, given by its name, its path or itself: "images", "table" or "bits".

    Images are those with a known shape whose pixels thresholds turn into bits, if there are enough of them: fewer, such
    as "digits", count as bits.
    """
    if not isinstance(dataset, str):
        if dataset.columns is not None:
            return "table"
        packed = dataset.encoder is not None and hasattr(dataset.train.x, "features")
        images, rows = packed and dataset.image_shape is not None, len(dataset.train)
    elif is_table(dataset):
        return "table"
    else:
        entry = _entry(dataset)
        images, rows = isinstance(entry, Images), entry.rows["train"] if isinstance(entry, Images) else 0
    return "images" if images and rows >= ENOUGH_IMAGES else "bits"


def default_name(dataset: str, levels: int | None) -> str:
    """The name of a dataset with the default thresholds, if it holds pixels and its name asks for none."""
    entry = _entry(dataset)
    if levels is None or "@" in dataset or not isinstance(entry, Images) or entry.binary:
        return dataset
    return f"{dataset}@{levels}"


def _entry(dataset: str) -> Any:
    return None if is_file(dataset) else ENTRIES.get(dataset.partition("@")[0])
