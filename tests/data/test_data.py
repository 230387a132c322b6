"""The data room's public face: names, splits, encoders, raw values, and what is refused."""

import numpy as np
import pytest
import torch
from data_files import ROWS, cifar_contents, collection_of, idx, idx_contents, idx_entry, put

import hardwire as hw
from hardwire.bits import Encoder
from hardwire.data import Dataset, Images, Split, catalog, store
from hardwire.data.formats import parse_cifar, parse_idx
from hardwire.data.sets.cifar10 import cifar_reader
from hardwire.data.sets.mnist import MNIST


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDWIRE_DATA", str(tmp_path))
    return tmp_path


def register(monkeypatch, entry):
    monkeypatch.setitem(catalog.ENTRIES, "tiny", entry)


def load_tiny(monkeypatch, folder, contents, **options):
    put(folder / "tiny", contents)
    register(monkeypatch, idx_entry(collection_of(contents), **options))
    return hw.data.load("tiny")


def small_split(rows=4, features=6, label=1):
    return Split(torch.rand(rows, features), torch.full((rows,), label))


def test_digits_load_without_any_file_as_320_bits_of_10_classes(folder):
    data = hw.data.load("digits")
    assert (data.inputs, data.classes, data.image_shape) == (320, 10, (8, 8))
    assert (len(data.train), len(data.test)) == (1347, 450)
    assert isinstance(data.train.x, hw.Bits) and data.train.y.dtype == torch.int64
    assert list(folder.iterdir()) == []


def test_digits_are_always_split_the_same_way_and_keep_class_proportions():
    first, second = hw.data.load("digits"), hw.data.load("digits")
    assert torch.equal(first.test.x.words, second.test.x.words) and torch.equal(first.test.y, second.test.y)
    assert first.test.y.bincount().min() >= 43 and first.test.y.bincount().max() <= 46


def test_digit_bits_say_by_plain_loops_which_sixths_of_16_a_pixel_exceeds():
    data = hw.data.load("digits")
    raw, bits = data.raw("test"), data.test.x.unpack(torch.uint8).numpy()
    for row in range(0, 450, 90):
        for pixel in range(64):
            expected = [int(6 * int(raw[row, pixel]) > 16 * (level + 1)) for level in range(5)]
            assert bits[row, 5 * pixel : 5 * pixel + 5].tolist() == expected


def test_digits_of_both_splits_are_the_whole_of_scikit_learns_set():
    from sklearn.datasets import load_digits

    data = hw.data.load("digits")
    ours = np.concatenate([data.raw("train"), data.raw("test")])
    assert sorted(map(bytes, ours)) == sorted(map(bytes, load_digits().data.astype(np.uint8)))


def test_a_continuous_set_is_bytes_over_255_and_its_encoder_the_deployed_threshold(monkeypatch, folder):
    data = load_tiny(monkeypatch, folder, idx_contents(), binary=False)
    raw = data.raw("train")
    assert raw.dtype == np.uint8 and raw.shape == (300, 20)
    assert data.train.x.dtype == torch.float32
    assert np.array_equal(data.train.x.numpy(), raw.astype(np.float32) / np.float32(255))
    deployed = hw.bits.unpack(data.encoder.encode(raw), 20)
    assert np.array_equal(deployed, (data.train.x > 0.5).numpy())


def test_a_binary_set_is_one_where_the_byte_exceeds_127_and_a_half(monkeypatch, folder):
    contents = idx_contents()
    data = load_tiny(monkeypatch, folder, contents)
    images = np.frombuffer(contents["train-images"], np.uint8, offset=16).reshape(300, 20)
    assert data.encoder.thresholds.tolist() == [[127.5]] * 20
    assert np.array_equal(data.train.x.unpack(torch.uint8).numpy(), images >= 128)
    assert np.array_equal(data.train.y.numpy(), np.frombuffer(contents["train-labels"], np.uint8, offset=8))
    assert len(data.test) == ROWS["test"] and data.image_shape == (4, 5)


def test_cifar_batches_become_31_bits_a_channel_in_file_order(monkeypatch, folder):
    contents = cifar_contents()
    put(folder / "tiny", contents)
    collection = collection_of(contents)
    entry = Images("tiny", {"train": 7, "test": 2}, (3, 32, 32), 255, 31, True, cifar_reader(collection), collection)
    register(monkeypatch, entry)
    data = hw.data.load("tiny")
    records = np.frombuffer(contents["batch_0.bin"] + contents["batch_1.bin"], np.uint8).reshape(7, 3073)
    assert data.inputs == 95_232
    assert data.train.y.tolist() == records[:, 0].tolist()
    assert np.array_equal(data.raw("train"), records[:, 1:])
    counted = data.train.x.unpack(torch.int64).reshape(7, 3072, 31)
    assert torch.equal(counted, counted.sort(2, descending=True).values)  # a thermometer: ones first
    assert np.array_equal(counted.sum(2).numpy(), ((32 * records[:, 1:].astype(int) - 1) // 255).clip(0))


def test_a_batch_is_the_asked_rows_of_x_and_y():
    data = hw.data.load("digits")
    for indices in ([5, 0, 5], torch.tensor([5, 0, 5]), slice(2, 5), np.array([1, 2])):
        x, y = data.train.batch(indices)
        assert torch.equal(x.words, data.train.x.words[indices]) and torch.equal(y, data.train.y[indices])


def test_names_lists_every_named_set_and_an_unknown_name_is_answered_with_them():
    assert hw.data.names() == [
        "digits",
        "mnist",
        "mnist-binary",
        "fashion-mnist",
        "fashion-mnist-binary",
        "cifar10",
        "cifar10-binary",
    ]
    for call in (hw.data.load, hw.data.fetch):
        with pytest.raises(hw.HardwireError, match=r"unknown dataset 'mnits'.*mnist-binary.*\.npz"):
            call("mnits")


def test_raw_refuses_a_split_that_does_not_exist_and_a_set_without_a_source():
    with pytest.raises(hw.HardwireError, match="unknown split 'valid'; did you mean validation"):
        hw.data.load("digits").raw("valid")
    with pytest.raises(hw.HardwireError, match="made without a source of raw values"):
        Dataset("mine", small_split(), small_split(), classes=2).raw("test")


def test_raw_notices_that_the_rows_have_changed():
    data = Dataset("mine", small_split(), small_split(), 2, read_raw=lambda split: np.zeros((3, 6)))
    with pytest.raises(hw.HardwireError, match="has changed since it was loaded"):
        data.raw("test")


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_continuous_values_outside_0_to_1_are_refused(value):
    x = torch.rand(4, 6)
    x[2, 3] = value
    with pytest.raises(hw.HardwireError, match=r"must lie in \[0, 1\]"):
        Split(x, torch.zeros(4, dtype=torch.int64))


@pytest.mark.parametrize(
    "x, y, message",
    [
        (torch.rand(4, 6), torch.zeros(3, dtype=torch.int64), "4 rows of x but 3 labels"),
        (torch.rand(0, 6), torch.zeros(0, dtype=torch.int64), "empty"),
        (torch.rand(4, 0), torch.zeros(4, dtype=torch.int64), "empty"),
        (torch.rand(4, 6), torch.zeros(4), "labels are an int64 tensor"),
        (torch.rand(4, 6), [0, 1, 0, 1], "labels are an int64 tensor"),
        (torch.rand(4, 6), torch.tensor([0, 1, -1, 0]), "label -1 is out of range"),
        (torch.rand(4, 6).double(), torch.zeros(4, dtype=torch.int64), "Bits or a float32 tensor"),
        (np.zeros((4, 6), np.float32), torch.zeros(4, dtype=torch.int64), "Bits or a float32 tensor"),
        (hw.Bits.pack(torch.ones(4, 6)), torch.zeros(5, dtype=torch.int64), "4 rows of x but 5 labels"),
    ],
)
def test_a_malformed_split_is_refused(x, y, message):
    with pytest.raises(hw.HardwireError, match=message):
        Split(x, y)


def test_a_dataset_refuses_splits_that_do_not_fit_together():
    good = small_split()
    bits = Split(hw.Bits.pack(torch.ones(4, 6)), good.y)
    cases = [
        (dict(test=small_split(label=2)), "label 2 in the test split is out of range.*0 to 1"),
        (dict(test=small_split(features=7)), "6 features and test rows 7"),
        (dict(test=bits), "one split holds bits and the other floats"),
        (dict(encoder=Encoder.uniform(6, 2, 1)), "encoder gives 12 bits, but the rows have 6"),
        (dict(image_shape=(2, 2)), "does not hold 6 raw values"),
    ]
    for change, message in cases:
        with pytest.raises(hw.HardwireError, match=message):
            Dataset(**(dict(name="mine", train=good, test=good, classes=2) | change))


def test_files_with_a_label_out_of_range_are_refused(monkeypatch, folder):
    with pytest.raises(hw.HardwireError, match="tiny: label 10 in the train split is out of range"):
        load_tiny(monkeypatch, folder, idx_contents(highest_label=10))


def test_files_without_rows_are_refused(monkeypatch, folder):
    empty = {"train": 0, "test": 7}
    with pytest.raises(hw.HardwireError, match="empty"):
        load_tiny(monkeypatch, folder, idx_contents(rows=empty), rows=empty)


def test_files_with_fewer_or_more_rows_than_the_catalogue_says_are_refused(monkeypatch, folder):
    for rows in (299, 301):
        with pytest.raises(hw.HardwireError, match=f"in the train split, not {rows}"):
            load_tiny(monkeypatch, folder, idx_contents(), rows={"train": rows, "test": 7})


def test_images_and_labels_of_different_number_are_refused(monkeypatch, folder):
    contents = idx_contents() | {"train-labels": idx(np.zeros(200, np.uint8))}
    with pytest.raises(hw.HardwireError, match="300 images, 200 labels"):
        load_tiny(monkeypatch, folder, contents)


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\0\0\x0d\x01\0\0\0\0", b"\0\0\x08\x03\0\0", b"hello"])
def test_what_is_not_an_idx_file_is_refused(content):
    with pytest.raises(hw.HardwireError, match="not an IDX file"):
        parse_idx(content)


def test_files_of_the_wrong_length_are_refused():
    with pytest.raises(hw.HardwireError, match=r"promises the shape \[3\]"):
        parse_idx(idx(np.arange(3, dtype=np.uint8))[:-1])
    with pytest.raises(hw.HardwireError, match="multiple of 3073"):
        parse_cifar(bytes(3072))


def test_the_catalogue_agrees_with_itself():
    for name, entry in catalog.ENTRIES.items():
        assert entry.encoder().features == entry.inputs, name
        assert entry.collection is None or entry.collection.name in catalog.ENTRIES, name
    assert catalog.ENTRIES["cifar10-binary"].inputs == 95_232


@pytest.mark.skipif(len(store.present(MNIST)) < 4, reason="needs MNIST: hardwire data fetch mnist")
def test_mnist_pixels_are_distributed_as_the_papers_table_says():
    """Table app_mnist_dist; its figures are those of all 70,000 images."""
    data, binary = hw.data.load("mnist"), hw.data.load("mnist-binary")
    counts = sum(np.bincount(data.raw(split).ravel(), minlength=256) for split in ("train", "test"))
    ranges = (counts[:1], counts[1:26], counts[26:230], counts[230:])  # 0.1 and 0.9 are 25.5 and 229.5 in bytes
    assert [round(100 * part.sum() / counts.sum(), 1) for part in ranges] == [80.9, 1.7, 8.7, 8.8]
    ones = sum(int(np.bitwise_count(split.x.numpy()).sum()) for split in (binary.train, binary.test))
    assert ones == counts[128:].sum() and round(100 * ones / counts.sum(), 1) == 13.3
    assert data.test.y.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
