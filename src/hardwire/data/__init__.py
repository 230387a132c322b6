"""Datasets by name, verified by checksum, or from your own .npz: `hw.data.load("mnist-binary")`.

Binary sets stay packed from the first byte on: CIFAR-10-Binary, 95,232 bits an image, is encoded a few hundred rows
at a time straight into its words. They are not cached on disk: encoding takes about as long as reading them back.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np
import torch

from hardwire.bits import Bits, Encoder, word_count
from hardwire.data import store
from hardwire.data.catalog import ENTRIES, Entry, entry_of
from hardwire.data.dataset import SPLITS, Dataset, Split
from hardwire.data.npz import load_npz
from hardwire.errors import HardwireError

__all__ = ["Dataset", "Split", "fetch", "load", "names"]

_CHUNK = 256  # rows encoded at a time; without the native module each CIFAR row is 95 kB of bools on its way


def names() -> list[str]:
    """The datasets that `load` and `fetch` know by name."""
    return list(ENTRIES)


def fetch(name: str, repair: bool = False) -> Path | None:
    """Makes sure that the files of a dataset are in the data folder and right; gives their folder (None: no files).

    repair: files whose checksum is wrong are fetched again; otherwise they are an error.
    """
    collection = entry_of(name).collection
    if collection is None:
        return None
    store.verify(collection, repair)
    return collection.folder


def load(name: str | PathLike) -> Dataset:
    """A dataset by name (see `names`), its files fetched where they are missing; or the path of an .npz file."""
    if isinstance(name, PathLike) or str(name).endswith(".npz"):
        return load_npz(Path(name).expanduser())
    entry = entry_of(name)
    if entry.collection is not None:
        store.fetch_missing(entry.collection)
    encoder = entry.encoder()
    train, test = (_read_split(name, entry, split, encoder) for split in SPLITS)
    return Dataset(
        name=name,
        train=train,
        test=test,
        classes=entry.classes,
        encoder=encoder,
        image_shape=entry.image_shape,
        read_raw=lambda split: np.concatenate([raw for raw, _ in entry.read(split)]),
    )


def _read_split(name: str, entry: Entry, split: str, encoder: Encoder) -> Split:
    rows = entry.rows[split]
    y = np.empty(rows, np.int64)
    if entry.binary:
        x = np.empty((rows, word_count(encoder.features)), np.uint64)
    else:
        x = np.empty((rows, entry.inputs), np.float32)
    for part, raw, labels in _parts(name, entry, split):
        y[part] = labels
        if entry.binary:
            x[part] = encoder.encode(raw)
        else:
            np.divide(raw, np.float32(entry.maximum), out=x[part])
    return Split(Bits.from_numpy(x, encoder.features) if entry.binary else torch.from_numpy(x), torch.from_numpy(y))


def _parts(name: str, entry: Entry, split: str) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The split a few rows at a time, with the slice of rows they are; exactly as many rows as the entry says."""
    rows, at = entry.rows[split], 0
    for raw, labels in entry.read(split):
        if len(raw) != len(labels) or at + len(raw) > rows:
            raise HardwireError(
                f"{name}: {len(raw)} images, {len(labels)} labels in the {split} split, not {rows} of each"
            )
        for start in range(0, len(raw), _CHUNK):
            part = slice(start, start + _CHUNK)
            yield slice(at + start, at + start + len(raw[part])), raw[part], labels[part]
        at += len(raw)
    if at != rows:
        raise HardwireError(f"{name}: {at} rows in the {split} split, not {rows}")
