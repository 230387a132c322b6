"""Datasets and kinds of files from outside: what is registered is loaded, listed and trained like any other."""

import dataclasses

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.data import kinds


def parity():
    x = np.random.default_rng(0).integers(0, 2, (80, 4))
    y = x.sum(1) % 2
    return hw.data.from_arrays((x[:60], y[:60]), (x[60:], y[60:]))


def test_a_toy_dataset_is_registered_loaded_listed_and_trained_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hw.data.register("parity", parity, "four bits, even or odd")
    data = hw.data.load("parity")
    assert (data.name, data.inputs, data.classes, len(data.validation)) == ("parity", 4, 2, 10)
    assert "parity" in hw.data.names() and hw.data.fetch("parity") is None
    listed = CliRunner().invoke(cli.app, ["data", "list"]).output
    assert "parity" in listed and "four bits, even or odd" in listed
    arguments = ["train", "parity", "--width", "20", "--iterations", "5", "--out", "p.safetensors"]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    assert hw.load("p.safetensors").inputs == 4


def test_images_are_registered_by_how_their_raw_bytes_are_read():
    def read(split):
        yield np.full((3, 4), 200 if split == "train" else 10, np.uint8), np.arange(3)

    entry = hw.data.Images("grey", {"train": 3, "test": 3}, (2, 2), 255, 2, True, read, classes=3)
    hw.data.register("grey", entry)
    data = hw.data.load("grey")
    assert data.inputs == 8 and data.train.x.unpack(torch.uint8).unique().tolist() == [1]
    assert np.array_equal(data.raw("test"), np.full((3, 4), 10))


def test_a_name_is_given_once_and_is_not_that_of_a_file():
    for name, message in (
        ("digits", "there is a dataset digits already"),
        ("a.npz", "cannot be the name of a dataset"),
    ):
        with pytest.raises(hw.HardwireError, match=message):
            hw.data.register(name, parity)
    for name in ("", None):
        with pytest.raises(hw.HardwireError, match="cannot be the name of a dataset"):
            hw.data.register(name, parity)


def test_a_new_kind_of_file_is_a_line_of_one_table(tmp_path, monkeypatch):
    def read_numbers(path):
        rows = np.loadtxt(path, dtype=int)
        return dataclasses.replace(parity(), name=f"{len(rows)} rows")

    monkeypatch.setitem(kinds.KINDS, ".txt", read_numbers)
    (tmp_path / "own.txt").write_text("1 2\n3 4\n")
    assert hw.data.load(str(tmp_path / "own.txt")).name == "2 rows"
    hw.data.check(tmp_path / "own.txt")
    with pytest.raises(hw.HardwireError, match=r"there is no file .*other\.txt"):
        hw.data.check(tmp_path / "other.txt")


def test_check_refuses_what_load_would_not_find():
    hw.data.check("digits")
    with pytest.raises(hw.HardwireError, match=r"unknown dataset 'digit'; did you mean digits\?"):
        hw.data.check("digit")
    with pytest.raises(hw.HardwireError, match=r"there is no file nowhere\.npz"):
        hw.data.check("nowhere.npz")
