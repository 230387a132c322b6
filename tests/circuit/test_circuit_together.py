"""Several files are written together or not at all: a header never stands without its C."""

import os

import pytest
from circuit_oracle import random_circuit

import hardwire as hw
from hardwire.files import whole, write_together


def test_all_files_are_replaced_and_nothing_else_is_left(tmp_path):
    (tmp_path / "a").write_text("before")
    write_together({tmp_path / "a": "text", tmp_path / "b": b"bytes"})
    assert (tmp_path / "a").read_text() == "text" and (tmp_path / "b").read_bytes() == b"bytes"
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("ending", ["c", "wasm"])
@pytest.mark.parametrize("full_at", [1, 2])
def test_a_full_disk_leaves_both_files_of_an_export_as_they_were(tmp_path, monkeypatch, ending, full_at):
    """The disk is full when the first or the second file is brought to it."""
    files = random_circuit(1).export(tmp_path / f"net.{ending}")
    before = [path.read_bytes() for path in files]
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == full_at:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole.os, "fsync", full)
    with pytest.raises(hw.HardwireError, match=r"cannot write .*: No space left on device"):
        random_circuit(2).export(tmp_path / f"net.{ending}")
    assert [path.read_bytes() for path in files] == before
    assert len(os.listdir(tmp_path)) == 2


def test_a_folder_in_place_of_the_second_file_leaves_the_first_unwritten(tmp_path):
    (tmp_path / "net.c").mkdir()
    with pytest.raises(hw.HardwireError, match="it is a folder"):
        random_circuit(2).export(tmp_path / "net.c")
    assert os.listdir(tmp_path) == ["net.c"]
