"""Tables on the command line: train, gap, predict, circuits, from end to end."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from shell import fail, run
from sklearn.datasets import load_iris

import hardwire as hw
from hardwire.circuit import Provenance
from hardwire.recipes import BITS, IMAGES, TABLES

TINY = ["--width", "120", "--iterations", "80", "--lr", "0.05", "--wiring", "random"]


@pytest.fixture(autouse=True)
def tables_in_a_folder_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    flowers = load_iris(as_frame=True)
    frame = flowers.data.assign(species=flowers.target_names[flowers.target])
    frame.to_csv("flowers.csv", index=False)
    frame.to_parquet("flowers.parquet")
    frame.drop(columns="species")[::-1].assign(note="x").to_csv("rows.csv", index=False)


def test_a_table_is_trained_measured_and_predicted_by_model_and_circuit():
    said = run("train", "flowers.csv", "--target", "species", *TINY, "-o", "model")
    assert "3 classes of species" in said and "120 training and 30 test rows" in said
    assert "finished" in run("train", "flowers.csv", "--target", "species", *TINY, "-o", "model")
    assert "on the 30 test rows" in run("gap", "model")
    run("circuit", "build", "model", "circuit")
    run("predict", "model", "rows.csv", "-o", "by_model.csv")
    run("predict", "circuit", "rows.csv", "-o", "by_circuit.parquet", "--scores")
    by_model, by_circuit = pd.read_csv("by_model.csv"), pd.read_parquet("by_circuit.parquet")
    truth = pd.read_csv("flowers.csv")["species"][::-1].tolist()
    assert by_model["prediction"].tolist() == by_circuit["prediction"].tolist()
    assert np.mean(by_model["prediction"] == truth) > 0.9
    assert by_model.columns.tolist() == [*pd.read_csv("rows.csv").columns, "prediction"]
    scores = by_circuit[["score setosa", "score versicolor", "score virginica"]]
    winners = scores.columns.to_numpy()[scores.to_numpy().argmax(1)]
    assert ("score " + by_circuit["prediction"] == winners).all()


def test_a_number_is_trained_and_predicted():
    said = run("train", "flowers.parquet", "--target", "petal width (cm)", *TINY, "-o", "model")
    assert "a number of petal width (cm) from" in said and "squared error" in said
    assert "squared error" in run("gap", "model")
    assert "R^2 0." in run("circuit", "build", "model", "circuit")
    table = pd.read_csv("flowers.csv")
    shown = run("predict", "circuit", "flowers.csv")
    lines = [line.rsplit(",", 1)[1] for line in shown.splitlines()[1:]]
    error = np.square(np.array(lines, float) - table["petal width (cm)"]).mean()
    assert error < 0.2 * table["petal width (cm)"].var()


def test_another_table_is_measured_with_the_thresholds_and_labels_of_the_model():
    run("train", "flowers.csv", "--target", "species", *TINY, "-o", "model")
    table = pd.read_csv("flowers.csv")
    table[table["species"] != "setosa"].to_csv("others.csv", index=False)
    net = hw.load("model")
    others = hw.data.load("others.csv", like=net, whole=True)
    expected = hw.measure_gap(net, others.test).deploy
    assert expected > 0.85 and f"{100 * expected:.1f}" in run("gap", "model", "--data", "others.csv")
    table.assign(species="rose").to_csv("roses.csv", index=False)
    with pytest.raises(hw.HardwireError, match="'rose', which the model does not know"):
        hw.data.load("roses.csv", like=net)


def test_a_model_without_columns_reads_them_in_order():
    data = hw.data.load("digits")
    net = hw.LogicNetwork(data.inputs, 10, width=100, depth=1, seed=0, encoder=data.encoder)
    hw.save(net, "model")
    raw = data.raw("test")[:20]
    pd.DataFrame(raw, columns=[f"pixel {i}" for i in range(64)]).to_csv("digits.csv", index=False)
    lines = run("predict", "model", "digits.csv").splitlines()
    expected = hw.Circuit.from_network(net).predict(raw, raw=True).tolist()
    assert [int(line.rsplit(",", 1)[1]) for line in lines[1:]] == expected


def test_predicting_with_a_circuit_file_does_not_load_torch():
    run("train", "flowers.csv", "--target", "species", *TINY, "-o", "model")
    run("circuit", "build", "model", "circuit")
    code = (
        "import sys; from hardwire.cli import main\n"
        "try: main(['predict', 'circuit', 'rows.csv', '-o', 'out.csv'])\n"
        "except SystemExit: pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["train", "flowers.csv"], "needs the column to predict"),
        (["train", "flowers.csv", "--target", "spcies"], "did you mean species"),
        (["train", "digits", "--target", "species"], "options of tables are for .csv"),
        (["train", "missing.csv", "--target", "a"], "there is no file missing.csv"),
        (["predict", "missing", "rows.csv"], "there is no file missing"),
        (["predict", "model", "missing.csv"], "there is no file missing.csv"),
        (["predict", "model", "rows.txt"], "unknown kind of table '.txt'"),
        (["predict", "model", "rows.csv", "-o", "out.xls"], "unknown kind of table '.xls'"),
        (["predict", "model", "short.csv"], "lacks petal length"),
        (["predict", "model", "empty.csv", "--missing", "error"], "column 'sepal length (cm)' is empty in line 3"),
        (["predict", "model", "again.csv"], "already has a column 'prediction'"),
    ],
)
def test_mistakes_are_one_line_with_a_way_out(capsys, arguments, rule):
    net = hw.LogicNetwork(64, 3, width=30, depth=1, seed=0)
    data = hw.data.load("flowers.csv#species")
    net.encoder, net.columns = data.encoder, data.columns
    hw.save(net, "model")
    rows = pd.read_csv("rows.csv")
    rows[rows.columns[:2]].to_csv("short.csv", index=False)
    rows.assign(prediction=1).to_csv("again.csv", index=False)
    rows.loc[1, "sepal length (cm)"] = np.nan
    rows.to_csv("empty.csv", index=False)
    assert rule in fail(capsys, *arguments)


def test_info_as_json_is_plain_values():
    there = json.loads(run("info", "--json"))
    assert there["hardwire"] == hw.__version__ and "native" in there["engines"]
    assert hw.__version__ in run("info")


def test_info_and_a_playground_need_no_torch(tmp_path):
    hw.Circuit.from_network(hw.LogicNetwork(64, 2, width=10, depth=1, seed=0), Provenance(dataset="mnist@3")).save(
        "circuit"
    )
    code = (
        "import importlib.metadata, sys; from hardwire.cli import main\n"
        "class Missing:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name in ('torch', 'pooch'): raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "version = importlib.metadata.version\n"
        "def without(name):\n"
        "    if name == 'torch': raise importlib.metadata.PackageNotFoundError(name)\n"
        "    return version(name)\n"
        "importlib.metadata.version = without\n"
        "main(sys.argv[1:])"
    )
    for arguments, said in (
        (["info"], "not installed"),
        (["playground", "circuit", "-o", "page.html"], "wrote page.html"),
    ):
        result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 0 and said in result.stdout, result.stderr


def test_the_help_names_the_default_settings():
    text = " ".join(run("train", "--help").split()).replace("│ │ ", "")
    assert f"[default: {IMAGES.wiring}; for small data {BITS.wiring}]" in text
    assert f"[default: {IMAGES.depth} for images, otherwise {TABLES.depth}]" in text
    assert f"[default: {IMAGES.width} for images, by rows and classes for tables, otherwise {BITS.width}]" in text
