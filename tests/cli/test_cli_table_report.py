"""What `hardwire train table.csv` ends with: score and spread, mistakes, the columns that are read, what to do next."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import fail, run

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RANDOM.normal(size=150).round(3),
        "noise": RANDOM.normal(size=150).round(3),
        "constant": 1,
        "colour": RANDOM.choice(["red", "blue", ""], 150),
    }
)
FRAME["kind"] = np.where((FRAME["size"] > 0) ^ (FRAME["colour"] == "red"), "in", "out")
FRAME["price"] = (FRAME["size"] * 3 + (FRAME["colour"] == "red")).round(3)
TINY = ["--width", "101", "--iterations", "60", "--lr", "0.05", "--wiring", "random"]


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False, sep=";", decimal=",")


def test_classes_end_with_a_confusion_matrix_and_the_columns_read():
    train = ["train", "t.csv", "--target", "kind", "--decimal", ",", "--drop", "price", *TINY, "-o", "m.safetensors"]
    said = run(*train, "--plot", "read.svg")
    assert "accuracy" in said and "on 30 held-out rows, log loss" in said and "true / predicted" in said
    assert said.index("colour") > 0 and "Columns by the gate inputs" in said
    for command in (
        "predict m.safetensors rows.csv",
        "circuit build m.safetensors",
        "circuit export m.safetensors m.c",
    ):
        assert command in said
    with open("read.svg") as file:
        assert "<svg" in file.read()
    said = run(*train, "--no-resume", "--json")
    numbers = json.loads(said[said.index("{\n") :])["table"]
    assert np.sum(numbers["confusion"]) == 30 and numbers["importance"]["constant"] == 0
    assert numbers["score"] == pytest.approx(np.trace(numbers["confusion"]) / 30) and 0 < numbers["spread"] < 0.2
    assert "t.csv?decimal=%2C&drop=price#kind" in run(*train, "--show-settings")
    run("predict", "m.safetensors", "t.csv", "-o", "out.csv", "--missing", "zero")
    assert pd.read_csv("out.csv")["size"].tolist() == pd.read_csv("t.csv", sep=";", dtype=str)["size"].tolist()


def test_a_number_ends_with_its_residuals(capsys):
    said = run("train", "t.csv", "--target", "price", "--decimal", ",", *TINY, "-o", "m")
    assert "R^2" in said and "Truth minus prediction" in said and "mean absolute error" in said
    assert "use a name that ends in .svg" in fail(
        capsys, "train", "t.csv", "--target", "kind", *TINY, "--plot", "x.txt"
    )
    assert "--plot draws the columns of a table" in fail(
        capsys, "train", "digits", "--width", "50", "--iterations", "2", "--plot", "x.svg", "-o", "n"
    )
