"""A user's own .npz: how the values of x decide how it is read, and what is refused."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw

PAGE = Path(__file__).parents[2] / "docs" / "data.md"
RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (9, 4, 5))
FLOATS = RNG.random((9, 20))
Y = np.arange(9) % 3


def save(tmp_path, **arrays):
    defaults = dict(x_train=BITS, y_train=Y, x_test=BITS[:4], y_test=Y[:4])
    path = tmp_path / "own.npz"
    np.savez(path, **{name: value for name, value in (defaults | arrays).items() if value is not None})
    return path


def deployed_bits(data, split):
    return hw.bits.unpack(data.encoder.encode(data.raw(split)), data.inputs)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
def test_values_of_only_0_and_1_become_bits_whatever_their_type(tmp_path, dtype):
    data = hw.data.load(save(tmp_path, x_train=BITS.astype(dtype), x_test=BITS[:4].astype(dtype)))
    assert np.array_equal(data.train.x.unpack(torch.uint8).numpy(), BITS.reshape(9, 20))
    assert (data.name, data.inputs, data.classes, data.image_shape) == ("own", 20, 3, (4, 5))
    assert np.array_equal(deployed_bits(data, "test"), BITS[:4].reshape(4, 20))
    assert data.raw("test").dtype == dtype


def test_floats_in_0_to_1_stay_continuous_with_the_threshold_one_half(tmp_path):
    data = hw.data.load(str(save(tmp_path, x_train=FLOATS, x_test=FLOATS[:4])))
    assert torch.equal(data.train.x, torch.from_numpy(FLOATS).float())
    assert data.image_shape is None and data.encoder.thresholds.tolist() == [[0.5]] * 20
    assert np.array_equal(deployed_bits(data, "test"), FLOATS[:4] > 0.5)


def test_one_continuous_split_makes_both_continuous(tmp_path):
    data = hw.data.load(save(tmp_path, x_train=FLOATS, x_test=BITS[:4].reshape(4, 20).astype(float)))
    assert not isinstance(data.test.x, hw.Bits)


def test_bytes_of_images_are_divided_by_255(tmp_path):
    images = RNG.integers(0, 256, (9, 4, 5), np.uint8)
    data = hw.data.load(save(tmp_path, x_train=images, x_test=images[:4] // 200))
    assert np.array_equal(data.train.x.numpy(), images.reshape(9, 20).astype(np.float32) / np.float32(255))
    assert np.array_equal(deployed_bits(data, "train"), images.reshape(9, 20) > 127)


def test_own_thresholds_make_bits_of_any_numbers(tmp_path):
    x = RNG.normal(size=(9, 3)) * 40
    thresholds = np.array([[-20, 0, 20], [-1, 0, 1], [0, 30, 60]])
    data = hw.data.load(save(tmp_path, x_train=x, x_test=x[:4], thresholds=thresholds))
    expected = (x.astype(np.float32)[:, :, None] > thresholds).reshape(9, 9)
    assert data.inputs == 9 and np.array_equal(data.train.x.unpack(torch.uint8).numpy(), expected)


@pytest.mark.parametrize(
    "arrays, message",
    [
        (dict(x_train=None, y_test=None), "lacks x_train, y_test; it needs x_train, y_train, x_test, y_test"),
        (dict(x_train=FLOATS * 2, x_test=FLOATS), r"x_train: continuous x must lie in \[0, 1\]"),
        (dict(x_train=FLOATS, x_test=FLOATS * np.nan, y_test=Y), r"x_test: continuous x must lie in \[0, 1\]"),
        (dict(x_train=BITS * 7), "x_train is int64 up to 7.*thresholds"),
        (dict(x_train=(BITS * 16).astype(np.uint8)), "x_train is uint8 up to 16"),
        (dict(x_train=BITS[:8]), "8 rows of x but 9 labels"),
        (dict(x_train=BITS[:0], y_train=Y[:0]), r"x_train of shape \[0, 4, 5\] is empty"),
        (dict(x_test=BITS[:4, :3]), "not the same"),
        (dict(x_train=Y), "x_train must be numbers"),
        (dict(x_train=np.full((9, 20), "a")), "x_train must be numbers"),
        (dict(y_train=Y.astype(float)), "y_train must be one integer per row"),
        (dict(y_train=Y[:, None]), "y_train must be one integer per row"),
        (dict(y_test=Y[:4] - 1), "label -1 of y_test is out of range"),
        (dict(y_test=np.full(4, 2**63, np.uint64)), "out of range"),
        (dict(thresholds=np.zeros((3, 2))), r"thresholds must be numbers \[20, levels\]"),
        (dict(thresholds=np.full((20, 2), np.nan)), "thresholds must be finite"),
        (dict(x_train=np.full((9, 4, 5), np.nan), thresholds=np.zeros((20, 2))), "x_train: raw values must be finite"),
        (dict(y_train=np.array([object()] * 9)), "cannot read .* as an .npz of plain arrays"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_name_of_the_array(tmp_path, arrays, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.data.load(save(tmp_path, **arrays))


def test_a_missing_file_a_folder_and_files_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(hw.HardwireError, match=r"there is no file .*nowhere.npz"):
        hw.data.load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("x_train")
    np.save(tmp_path / "array.npy", BITS)
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        for name in ("x_train", "y_train", "x_test", "y_test"):
            archive.writestr(name, "text")
    (tmp_path / "folder.npz").mkdir()
    for path in (tmp_path / "text.npz", tmp_path / "zip.npz"):
        with pytest.raises(hw.HardwireError, match=r"np\.savez"):
            hw.data.load(path)
    with pytest.raises(hw.HardwireError, match="is a folder, not a file"):
        hw.data.load(tmp_path / "folder.npz")
    for path in (tmp_path, tmp_path / "array.npy"):
        with pytest.raises(hw.HardwireError, match=r"unknown kind of file .*\.npz"):
            hw.data.load(path)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_gives_an_error_of_ours_or_loads(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(save(folder).read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (folder / "own.npz").write_bytes(content)
    try:
        assert len(hw.data.load(folder / "own.npz").train) == 9
    except hw.HardwireError as error:
        assert "own" in str(error)


def test_the_examples_of_the_data_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 2
    space = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), space)
