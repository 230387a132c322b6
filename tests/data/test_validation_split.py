"""The validation split: the last part of train, the same memory, taken out of train only where it is asked for."""

import numpy as np
import pytest
import torch
from small_runs import digits

import hardwire as hw
from hardwire.data import Dataset, Split


def small_split(rows=12, features=6):
    return Split(torch.rand(rows, features), torch.arange(rows) % 2)


def test_validation_is_the_last_sixth_of_train_and_train_stays_whole():
    data = digits()
    assert (len(data.train), len(data.validation), len(data.test)) == (1347, 224, 450)
    assert torch.equal(data.validation.x.words, data.train.x.words[-224:])
    assert torch.equal(data.validation.y, data.train.y[-224:])
    assert isinstance(data.validation, Split) and repr(data.validation) == "Split(224 rows of 320 bits)"


def test_with_validation_takes_those_rows_out_of_train_without_copying_anything():
    data = digits()
    held = data.with_validation()
    assert (len(held.train), len(held.validation)) == (1347 - 224, 224)
    storage = data.train.x.words.untyped_storage().data_ptr()
    for split in (data.validation, held.train, held.validation):
        assert split.x.words.untyped_storage().data_ptr() == storage
    assert torch.equal(torch.cat([held.train.y, held.validation.y]), data.train.y)
    assert held.with_validation() is held and held.validation.y is held.validation.y
    assert (held.classes, held.encoder, held.inputs) == (data.classes, data.encoder, data.inputs)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_another_share_can_be_taken(share):
    held = digits().with_validation(share)
    assert len(held.validation) == int(1347 * share) and len(held.train) == 1347 - int(1347 * share)


def test_raw_values_follow_the_rows():
    data = digits()
    held = data.with_validation(0.25)
    raw = data.raw("train")
    assert np.array_equal(data.raw("validation"), raw[-224:])
    assert np.array_equal(held.raw("train"), raw[: len(held.train)])
    assert np.array_equal(held.raw("validation"), raw[len(held.train) :])
    assert np.array_equal(held.raw("test"), data.raw("test"))
    for split in ("train", "validation", "test"):
        assert np.array_equal(held.encoder.encode(held.raw(split)), getattr(held, split).x.numpy())


def test_rows_that_were_held_out_already_are_the_validation_and_train_stays_as_it_is():
    mine = small_split(4)
    data = Dataset("mine", small_split(), small_split(), classes=2, held_out=mine)
    assert data.validation is mine and data.with_validation() is data and len(data.train) == 12
    assert len(data.with_validation(0.5).train) == 6
    with pytest.raises(hw.HardwireError, match="6 features and validation rows 7"):
        Dataset("mine", small_split(), small_split(), classes=2, held_out=small_split(4, 7))


def test_fit_trains_on_what_is_left_and_a_dataset_with_rows_held_out_keeps_them():
    data = digits()
    held = data.with_validation(0.5)
    nets = [hw.LogicNetwork(320, 10, 50, 1, seed=0) for _ in range(2)]
    run = {"iterations": 5, "batch_size": 20}
    ours = hw.fit(nets[0], held, **run, validation=True)
    pairs = hw.fit(nets[1], (held.train.x, held.train.y), **run, validation=held.validation)
    assert ours == pairs and ours.final.deploy == hw.measure_gap(nets[0], data.train.batch(slice(-673, None))).deploy


def test_too_few_rows_wrong_shares_and_sorted_rows_are_refused():
    with pytest.raises(hw.HardwireError, match="one row is too few"):
        Dataset("mine", small_split(1), small_split(), classes=2).with_validation()
    for share in (0, 1, -1, float("nan")):
        with pytest.raises(hw.HardwireError, match="is not a share of the training rows"):
            digits().with_validation(share)
    by_class = Split(torch.rand(12, 6), torch.arange(12) // 4)
    with pytest.raises(hw.HardwireError, match=r"the last 1 rows, .* contain class 2.*are sorted: shuffle"):
        Dataset("mine", Split(by_class.x[:9], by_class.y[:9]), by_class, classes=3).with_validation()


def test_a_file_can_bring_validation_rows_of_its_own(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (30, 4)), np.arange(30) % 3
    arrays = {"x_train": x[:15], "y_train": y[:15], "x_test": x[15:22], "y_test": y[15:22]}
    np.savez(tmp_path / "own.npz", **arrays, x_validation=x[22:], y_validation=y[22:])
    data = hw.data.load(tmp_path / "own.npz")
    assert len(data.train) == 15 and np.array_equal(data.validation.y.numpy(), y[22:])
    assert np.array_equal(data.raw("validation"), x[22:])
    np.savez(tmp_path / "half.npz", **arrays, x_validation=x[22:])
    with pytest.raises(hw.HardwireError, match="lacks y_validation"):
        hw.data.load(tmp_path / "half.npz")
