"""Circuits that come with the package: by name, from Python and on the command line."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from shell import fail, run

import hardwire as hw
from hardwire import zoo
from hardwire.circuit.evaluate import test_set as images_and_labels
from hardwire.data import store
from hardwire.data.catalog import entry_of


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_all_circuits_together_are_below_a_megabyte():
    folder = files("hardwire.zoo")
    sizes = [len(entry.read_bytes()) for entry in folder.iterdir() if entry.name.endswith(".circuit")]
    assert sizes and sum(sizes) < 1e6 and len(sizes) == len(zoo.names())


@pytest.mark.parametrize("entry", zoo.entries(), ids=lambda entry: entry.name)
def test_a_circuit_is_what_the_index_says(entry):
    collection = entry_of(entry.data).collection
    circuit = hw.load(entry.name)
    assert isinstance(circuit, hw.Circuit) and circuit.digest == entry.digest
    assert len(circuit.netlist.gate) == entry.gates
    assert (circuit.provenance.dataset, circuit.provenance.accuracy) == (entry.data, entry.accuracy)
    assert hw.recipes.load(entry.recipe).data == entry.data
    if collection is not None and len(store.present(collection)) < len(collection.files):
        pytest.skip(f"{entry.data} is not in the data folder; run: hardwire data fetch {entry.data}")
    images, labels = images_and_labels(hw.data.load(entry.data))
    assert (circuit.predict(images) == labels).mean() == entry.accuracy


def test_load_reads_models_and_circuits_and_prefers_files():
    net = hw.LogicNetwork(8, 2, 10, 1, seed=0)
    hw.save(net, "model")
    hw.Circuit.from_network(net).save("circuit")
    assert isinstance(hw.load("model"), hw.LogicNetwork) and isinstance(hw.load("circuit"), hw.Circuit)
    Path("circuit").rename("digits-1k")
    assert hw.load("digits-1k").inputs == 8 and zoo.load_circuit("digits-1k").inputs == 8


def test_a_name_that_is_neither_is_one_line_with_the_nearest():
    with pytest.raises(hw.HardwireError, match=r"there is no file digit-1k; .*did you mean digits-1k\?"):
        hw.load("digit-1k")
    for path in ("missing.circuit", "folder/missing"):
        with pytest.raises(hw.HardwireError, match=f"there is no file {path}"):
            hw.load(path)
    with pytest.raises(hw.HardwireError):
        hw.load("a\0b")


def test_a_file_that_is_not_the_indexed_circuit_is_refused(monkeypatch):
    entry = zoo.entries()[0]
    changed = zoo.CircuitEntry(**vars(entry) | {"digest": "0" * 32})
    monkeypatch.setattr(zoo, "entries", lambda: [changed])
    with pytest.raises(hw.HardwireError, match="install hardwire again"):
        hw.load(entry.name)


def test_the_command_line_knows_circuits_by_name(capsys):
    listed = run("circuit", "list")
    assert "digits-1k" in listed and "97.11" in listed
    run("circuit", "export", "digits-1k", "digits.c")
    assert Path("digits.c").exists()
    assert "accuracy 0.9711 on 450 images" in run("circuit", "run", "digits-1k", "--data", "digits")
    run("playground", "digits-1k", "-o", "page.html")
    assert Path("page.html").read_text().startswith("<!")
    assert "921" in run("circuit", "stats", "digits-1k")
    assert "did you mean digits-1k?" in fail(capsys, "circuit", "stats", "digits1k")


def test_a_circuit_by_name_needs_no_torch():
    code = (
        "import sys, numpy as np, hardwire as hw\n"
        "circuit = hw.load('digits-1k')\n"
        "print(circuit.predict(np.zeros((2, 64), np.uint8), raw=True).shape)\n"
        "sys.exit('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "(2,)\n"), result.stderr
