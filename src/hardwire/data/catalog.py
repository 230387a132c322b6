"""What the names of datasets stand for, and `register`, which adds one.

The sets themselves are in `hardwire.data.sets`, a file each. Surprising: nothing here needs torch, so that a mistyped
name is refused at once; a set that is loaded brings it in.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hardwire.bits import Encoder
from hardwire.data.kinds import KINDS, is_file
from hardwire.data.store import Collection
from hardwire.errors import HardwireError, check_new, unknown_name

if TYPE_CHECKING:
    from hardwire.data.dataset import Dataset

Chunks = Iterator[tuple[np.ndarray, np.ndarray]]  # raw uint8 [rows, raw_features], labels [rows]


class Entry(ABC):
    """What a name stands for: what a list says of it, its files if it needs any, and how it is loaded.

    rows (of each split), inputs and classes are empty where only loading tells.
    """

    description: str
    collection: Collection | None
    rows: dict[str, int]
    inputs: int | None
    classes: int | None

    @abstractmethod
    def load(self, name: str) -> "Dataset":
        """The dataset; its files are there."""


@dataclass(frozen=True)
class Images(Entry):
    """Images of bytes, encoded by evenly spaced thresholds.

    read: split name -> chunks of raw rows and labels; levels: thresholds for each raw value, evenly spaced over
    [0, maximum]; binary: x is the bits, else raw / maximum; collection: None where the data needs no file.
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
class Made(Entry):
    """A dataset that a function makes."""

    make: "Callable[[], Dataset]"
    description: str = ""
    collection: None = None
    rows: dict[str, int] = field(default_factory=dict)
    inputs: None = None
    classes: None = None

    def load(self, name: str) -> "Dataset":
        return replace(self.make(), name=name)


ENTRIES: dict[str, Entry] = {}


def register(name: str, entry: "Entry | Callable[[], Dataset]", description: str = "") -> None:
    """Gives a dataset a name, in this process. entry: an `Entry`, or a function that makes the `Dataset`."""
    if not isinstance(name, str) or not name or is_file(name):
        raise HardwireError(f"{name!r} cannot name a dataset; use a text that is not the path of a file")
    check_new("dataset", name, ENTRIES)
    ENTRIES[name] = entry if isinstance(entry, Entry) else Made(entry, description)


def entry_of(name: str) -> Entry:
    """The entry of a name; the error for an unknown one lists the known.

    Behind a set of images, @LEVELS asks for so many thresholds of each value: mnist@3 has 2,352 bits an image.
    """
    plain, _, levels = name.partition("@")
    if plain not in ENTRIES:
        raise unknown_name("dataset", plain, (*ENTRIES, f"a path to an {' or '.join(KINDS)} file"))
    entry = ENTRIES[plain]
    if "@" not in name:
        return entry
    if not isinstance(entry, Images):
        raise HardwireError(f"{plain} is not a set of images, so it has no thresholds to choose; leave out @{levels}")
    if not levels.isdecimal() or not 1 <= int(levels) <= entry.maximum:
        raise HardwireError(
            f"{name!r} asks for {levels!r} thresholds; use a number from 1 to {entry.maximum}: {plain}@3"
        )
    return replace(entry, levels=int(levels), binary=True)
