"""What the names of datasets stand for, and `register`, which adds one.

The datasets themselves are in `hardwire.data.sets`, one file each. Surprising: nothing here imports torch, so a
mistyped name is refused at once; only loading a dataset needs it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hardwire.bits import Encoder
from hardwire.data.kinds import KINDS, is_file, parse_count
from hardwire.data.store import Collection
from hardwire.errors import HardwireError, check_new, unknown_name

if TYPE_CHECKING:
    from hardwire.data.dataset import Dataset

Chunks = Iterator[tuple[np.ndarray, np.ndarray]]  # raw uint8 [rows, raw_features], labels [rows]


class CatalogEntry(ABC):
    """A dataset of the catalogue: its description, its files if it needs any, and how to load it.

    Attributes:
        description: One line for `hardwire data list`.
        collection: The files to download, or None.
        rows: Rows of each split, by its name; empty if known only after loading.
        inputs: Bits or values of a row, or None if known only after loading.
        classes: Number of classes, or None if known only after loading.
    """

    description: str
    collection: Collection | None
    rows: dict[str, int]
    inputs: int | None
    classes: int | None

    @abstractmethod
    def load(self, name: str) -> "Dataset":
        """Loads the dataset; its files are in the data folder."""


@dataclass(frozen=True)
class Images(CatalogEntry):
    """A dataset of images stored as bytes, encoded by evenly spaced thresholds.

    Args:
        description: One line for `hardwire data list`.
        rows: Rows of each split, "train" and "test".
        image_shape: Shape of one image, such as (28, 28) or (3, 32, 32).
        maximum: The highest value of a pixel.
        levels: Thresholds per pixel, evenly spaced over [0, maximum].
        binary: Whether x holds bits; otherwise it holds floats, raw / maximum.
        read: Yields chunks of raw rows uint8 [rows, pixels] and labels [rows] of a split, given its name.
        collection: The files to download, or None.
        classes: Number of classes.

    Example:
        >>> import numpy as np
        >>> import hardwire as hw
        >>> def read(split):
        ...     yield np.zeros((3, 4), np.uint8), np.arange(3)
        >>> grey = hw.data.Images("grey", {"train": 3, "test": 3}, (2, 2), 255, 2, True, read, classes=3)
        >>> grey.inputs
        8
    """

    description: str
    rows: dict[str, int]
    image_shape: tuple[int, ...]
    maximum: int
    levels: int
    binary: bool
    read: Callable[[str], Chunks]
    collection: Collection | None = None
    classes: int = 10
    inputs: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", self.raw_features * self.levels)

    @property
    def raw_features(self) -> int:
        return math.prod(self.image_shape)

    def encoder(self) -> Encoder:
        return Encoder.uniform(self.raw_features, self.levels, self.maximum, "bytes")

    def load(self, name: str) -> "Dataset":
        from hardwire.data.images import load_images

        return load_images(name, self)


@dataclass(frozen=True)
class FunctionEntry(CatalogEntry):
    """A dataset that a function makes."""

    make: "Callable[[], Dataset]"
    description: str = ""
    collection: None = None
    rows: dict[str, int] = field(default_factory=dict)
    inputs: None = None
    classes: None = None

    def load(self, name: str) -> "Dataset":
        return replace(self.make(), name=name)


ENTRIES: dict[str, CatalogEntry] = {}


def register(name: str, entry: "CatalogEntry | Callable[[], Dataset]", description: str = "") -> None:
    """Gives a dataset a name, for this process.

    Args:
        name: The name that `load`, `fetch` and the command line will know.
        entry: A function that makes the `Dataset`, or a `CatalogEntry` such as `Images`.
        description: One line for `hardwire data list`, if `entry` is a function.

    Raises:
        HardwireError: If the name is taken, or looks like the path of a file.

    Example:
        >>> import numpy as np
        >>> import hardwire as hw
        >>> def parity():
        ...     x = np.arange(16)[:, None] >> np.arange(4) & 1
        ...     return hw.data.from_arrays((x, x.sum(1) % 2), (x, x.sum(1) % 2))
        >>> hw.data.register("parity", parity, "four bits, even or odd")
        >>> hw.data.load("parity").inputs
        4
    """
    if not isinstance(name, str) or not name or is_file(name):
        raise HardwireError(f"{name!r} cannot be the name of a dataset; use text that is not the path of a file")
    check_new("dataset", name, ENTRIES)
    ENTRIES[name] = entry if isinstance(entry, CatalogEntry) else FunctionEntry(entry, description)


def entry_of(name: str) -> CatalogEntry:
    """The entry of a name; "mnist@3" asks for three thresholds per pixel, 2,352 bits an image."""
    plain, _, levels = name.partition("@")
    if plain not in ENTRIES:
        raise unknown_name("dataset", plain, (*ENTRIES, f"a path to a {', '.join(KINDS)} file"))
    entry = ENTRIES[plain]
    if "@" not in name:
        return entry
    if not isinstance(entry, Images):
        raise HardwireError(f"{plain} is not a dataset of images, so it has no thresholds to set; leave out @{levels}")
    count = parse_count(levels)
    if count is None or count > entry.maximum:
        raise HardwireError(
            f"{name[:80]!r} asks for {levels[:40]!r} thresholds per pixel; use a number from 1 to {entry.maximum}, "
            f"such as {plain}@3"
        )
    return replace(entry, levels=count, binary=True)
