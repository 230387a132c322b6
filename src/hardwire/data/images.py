"""Images of bytes as network inputs, encoded a few rows at a time into packed words.

So CIFAR-10-Binary, with 95,232 bits per image, is never in memory unpacked. Encoded datasets are not cached on disk:
encoding takes about as long as reading them back would.
"""

from collections.abc import Iterator

import numpy as np
import torch

from hardwire.bits import Bits, Encoder, word_count
from hardwire.data.catalog import Images
from hardwire.data.dataset import SPLITS, Dataset
from hardwire.data.rows import Split
from hardwire.errors import HardwireError

_CHUNK = 256  # rows encoded at a time; without the native module each CIFAR row is 95 kB of bools in between


def load_images(name: str, entry: Images) -> Dataset:
    """Loads the dataset of a catalogue entry."""
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


def _read_split(name: str, entry: Images, split: str, encoder: Encoder) -> Split:
    rows = entry.rows[split]
    y = np.empty(rows, np.int64)
    if entry.binary:
        words = np.empty((rows, word_count(encoder.features)), np.uint64)
        for part, raw, labels in _parts(name, entry, split):
            words[part], y[part] = encoder.encode(raw), labels
        return Split(Bits.from_numpy(words, encoder.features), torch.from_numpy(y))
    x = np.empty((rows, entry.inputs), np.float32)
    for part, raw, labels in _parts(name, entry, split):
        x[part], y[part] = raw, labels
        x[part] /= np.float32(entry.maximum)
    return Split(torch.from_numpy(x), torch.from_numpy(y))


def _parts(name: str, entry: Images, split: str) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yields a few rows of a split at a time, with the slice of their row numbers; checks the number of rows."""
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
