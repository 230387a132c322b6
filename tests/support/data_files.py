"""Tiny files in the formats of the real datasets, and a catalogue entry made of them; shared by the data tests."""

import gzip
import hashlib
import struct

import numpy as np

from hardwire.data import Images
from hardwire.data.sets.mnist import idx_reader
from hardwire.data.sources import DataFile
from hardwire.data.store import Collection

ROWS = {"train": 300, "test": 7}  # 300: more than the chunk that is encoded at a time
IDX_NAMES = ("train-images", "train-labels", "t10k-images", "t10k-labels")


def idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def idx_contents(highest_label: int = 9, rows=ROWS) -> dict[str, bytes]:
    """Name -> content of four IDX files of 4x5 images."""
    rng = np.random.default_rng(0)
    contents = []
    for count in rows.values():
        labels = rng.integers(0, highest_label + 1, count, np.uint8)
        labels[:1] = highest_label
        contents += [idx(rng.integers(0, 256, (count, 4, 5), np.uint8)), idx(labels)]
    return dict(zip(IDX_NAMES, contents, strict=True))


def cifar_contents(batches=(3, 4, 2)) -> dict[str, bytes]:
    """Name -> content of CIFAR-10 batches of so many rows; the last is the test batch."""
    rng = np.random.default_rng(1)
    contents = {}
    for number, rows in enumerate(batches):
        records = rng.integers(0, 256, (rows, 3073), np.uint8)
        records[:, 0] %= 10
        contents[f"batch_{number}.bin"] = records.tobytes()
    return contents


def collection_of(contents: dict[str, bytes], sources=()) -> Collection:
    files = (DataFile(name, len(body), hashlib.sha256(body).hexdigest()) for name, body in contents.items())
    return Collection("tiny", tuple(files), tuple(sources))


def put(folder, contents: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in contents.items():
        (folder / name).write_bytes(body)


def put_gz(folder, contents: dict[str, bytes]) -> None:
    put(folder, {f"{name}.gz": gzip.compress(body) for name, body in contents.items()})


def idx_entry(collection: Collection, binary: bool = True, rows=ROWS) -> Images:
    return Images("tiny", rows, (4, 5), 255, 1, binary, idx_reader(collection), collection)
