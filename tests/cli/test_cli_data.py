"""`hardwire data list` and `hardwire data fetch`."""

import re

import pytest
from data_files import collection_of, idx_contents, idx_entry, put, put_gz
from typer.testing import CliRunner

import hardwire as hw
from hardwire.cli.data import app
from hardwire.data import catalog
from hardwire.data.sources import Folder

CONTENTS = idx_contents()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a set `tiny` whose source has every file; the catalogue has digits besides."""
    monkeypatch.setenv("HARDWIRE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    put_gz(tmp_path / "system", CONTENTS)
    tiny = idx_entry(collection_of(CONTENTS, [Folder(tmp_path / "system", "dataset-tiny")]))
    digits = catalog.ENTRIES["digits"]
    catalog.ENTRIES.clear()
    catalog.ENTRIES.update(digits=digits, tiny=tiny)
    return tmp_path / "data" / "tiny"


def row_of(name):
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0, result.output
    line = next(line for line in result.output.splitlines() if f" {name} " in line)
    return re.split(r" {2,}", line.strip())


def test_list_shows_sizes_and_whether_the_files_are_there(folder):
    assert row_of("digits")[:7] == ["digits", "320", "10", "1,347", "450", "not needed"]
    assert row_of("tiny")[:6] == ["tiny", "20", "10", "300", "7", "no"]
    put(folder, {"train-labels": CONTENTS["train-labels"], "train-images": b"too short"})
    assert row_of("tiny")[5] == "1 of 4 files"
    put(folder, CONTENTS)
    assert row_of("tiny")[5] == "yes"


def test_list_shows_every_real_dataset_and_the_folder_in_80_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HARDWIRE_DATA", str(tmp_path))
    output = CliRunner().invoke(app, ["list"]).output
    assert all(name in output for name in hw.data.names()) and str(tmp_path) in output
    assert "95,232" in output and "…" not in output


@pytest.mark.parametrize("name", ["tiny", "all"])
def test_get_fetches_and_says_where(folder, name):
    result = CliRunner().invoke(app, ["fetch", name])
    assert result.exit_code == 0, result.output
    assert f"tiny: verified in {folder}" in result.output
    assert ("digits: needs no download" in result.output) == (name == "all")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENTS


def test_get_refuses_a_wrong_file_until_asked_to_repair_it(folder):
    put(folder, CONTENTS | {"t10k-labels": b"wrong"})
    result = CliRunner().invoke(app, ["fetch", "tiny"])
    assert isinstance(result.exception, hw.HardwireError) and "--repair" in str(result.exception)
    assert CliRunner().invoke(app, ["fetch", "tiny", "--repair"]).exit_code == 0
    assert (folder / "t10k-labels").read_bytes() == CONTENTS["t10k-labels"]


def test_get_refuses_an_unknown_name(folder):
    result = CliRunner().invoke(app, ["fetch", "tinny"])
    assert isinstance(result.exception, hw.HardwireError) and "choose one of: digits, tiny" in str(result.exception)
