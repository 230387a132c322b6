"""Tables in files, as a dataset by name: "table.csv#target"."""

import numpy as np
import pandas as pd
import pytest
import torch

import hardwire as hw
from hardwire.data.targets import MOST_CLASSES

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RANDOM.normal(size=200),
        "colour": RANDOM.choice(["red", "dark blue", 'say "green"'], 200),
        "kind": RANDOM.choice(["a", "b", "c"], 200),
        "price": RANDOM.gamma(2, 100, 200),
    }
)


@pytest.fixture(params=[".csv", ".parquet"])
def path(request, tmp_path):
    path = tmp_path / f"table{request.param}"
    FRAME.to_csv(path, index=False) if request.param == ".csv" else FRAME.to_parquet(path)
    return path


def test_a_column_of_text_is_a_target_of_classes(path):
    data = hw.data.load(f"{path}@8#kind")
    assert (data.name, data.classes, data.inputs, data.number) == ("table", 3, 24, None)
    assert (data.columns.target, data.columns.labels) == ("kind", ("a", "b", "c"))
    assert data.columns.names == ("size", "colour", "price")
    assert (len(data.train), len(data.test)) == (160, 40)
    for split in ("train", "test"):
        rows, raw = getattr(data, split), data.raw(split)
        assert np.array_equal(data.encoder.encode(raw), rows.x.numpy())
        sizes = FRAME["size"].tolist()
        kinds = [FRAME["kind"][sizes.index(size)] for size in raw[:, 0]]
        assert [data.columns.labels[number] for number in rows.y.tolist()] == kinds


def test_a_column_of_numbers_is_a_number_to_compute(path):
    data = hw.data.load(f"{path}#price")
    low, high = data.number
    assert low < FRAME["price"].min() and high > FRAME["price"].max()
    assert data.train.y.dtype == torch.float64 and data.columns.labels is None
    assert sorted([*data.train.y.tolist(), *data.test.y.tolist()]) == pytest.approx(sorted(FRAME["price"]))
    net = hw.LogicNetwork(data.inputs, number=data.number, width=200, depth=1, seed=0)
    before = hw.measure_gap(net, data.train).deploy
    history = hw.fit(net, data, iterations=50, lr=0.05, progress=False)
    assert hw.measure_gap(net, data.train).deploy < before and history.final.total == 0
    assert net.columns is data.columns and net.encoder is data.encoder


@pytest.mark.parametrize(
    ("values", "classes"),
    [([0, 1] * 60, 2), ([True, False] * 60, 2), ([3.0, 5.0] * 60, 2), ([*range(MOST_CLASSES)] * 2, MOST_CLASSES)],
)
def test_few_whole_numbers_and_truth_values_are_classes(tmp_path, values, classes):
    pd.DataFrame({"x": np.arange(len(values)), "y": values}).to_csv(tmp_path / "t.csv", index=False)
    assert hw.data.load(f"{tmp_path / 't.csv'}#y").classes == classes


def test_many_whole_numbers_are_a_number(tmp_path):
    pd.DataFrame({"x": np.arange(300), "y": np.arange(300)}).to_csv(tmp_path / "t.csv", index=False)
    assert hw.data.load(f"{tmp_path / 't.csv'}#y").number is not None


def test_other_separators_quotes_blanks_and_an_index_are_understood(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('\ufeff; size ;"the; kind"\n0; 1.5;"a; b"\n\n1;2.5; c \n2;3.5;c\n3;0.5;"a; b"\n', encoding="utf-8")
    data = hw.data.load(f"{path}#the; kind")
    assert data.columns.names == ("size",) and data.columns.labels == ("a; b", "c")


def test_columns_that_tell_nothing_are_not_wired(tmp_path):
    frame = FRAME.assign(constant=1.0, flag=RANDOM.integers(0, 2, 200))
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = hw.data.load(f"{tmp_path / 't.csv'}@8#kind")
    useful = np.array(data.useful_inputs()) // 8
    assert np.bincount(useful, minlength=5).tolist() == [8, 3, 8, 0, 1]
    assert hw.data.load("digits").useful_inputs() is None


BAD = {
    "no target": ("a,b\n1,2\n", "", "needs the column to predict.*its columns are a, b"),
    "wrong target": ("size,kind\n1,2\n", "#knd", "unknown column .*did you mean kind"),
    "only the target": ("a\n1\n2\n", "#a", "no column besides a"),
    "empty file": ("", "#a", "cannot read .* as a table"),
    "no rows": ("a,b\n", "#b", "0 rows"),
    "one row": ("a,b\n1,2\n", "#b", "always 2"),
    "constant target": ("a,b\n1,x\n2,x\n", "#b", "always 'x'; there is nothing to learn"),
    "missing target": ("a,b\n1,x\n2,\n3,y\n", "#b", "b is missing in line 3"),
    "infinite target": ("a,b\n1,1.5\n2,inf\n3,2\n", "#b", "infinite"),
    "empty cell": ("a,b\n1,x\n\n,y\n3,y\n", "?missing=error#b", "column 'a' is empty in line 4; fill in"),
    "unknown option": ("a,b\n1,x\n2,y\n", "?decimals=,#b", "unknown option of a table .*did you mean decimal"),
    "cells without quotes": ("a;b\n1;'x;y'\n2;'x;z'\n", "#b", "more cells than the first line has names.*--quote"),
    "two columns of a name": ("a,a,b\n1,2,x\n2,2,y\n", "#b", "two columns named 'a'"),
    "dropped and missing": ("a,b\n1,x\n2,y\n", "?drop=c#b", "unknown column of .*t.csv 'c'"),
    "infinite cell": ("a,b\n1,x\ninf,y\n3,y\n", "#b", "column 'a' is infinite in line 3"),
    "ragged": ("a,b\n1,x\n1,2,3,4\n", "#b", "cannot read .* as a table"),
    "too few of each": ("a,b\n" + "".join(f"{i},n{i}\n" for i in range(500)), "#b", "500 different labels in 500 rows"),
    "names": ("a,b\n" + "".join(f"n{i},{i % 2}\n" for i in range(500)), "#b", "'a' has 500 different texts"),
    "thresholds": ("a,b\n1,x\n2,y\n", "@0#b", "@0, the number of thresholds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_with_a_way_out(case, tmp_path):
    text, behind, rule = BAD[case]
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(hw.HardwireError, match=rule):
        hw.data.load(f"{tmp_path / 't.csv'}{behind}")


def test_files_that_are_no_tables_are_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"nothing")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00a,b\n")
    for name in ("t.parquet#a", "b.csv#a"):
        with pytest.raises(hw.HardwireError, match="cannot read"):
            hw.data.load(str(tmp_path / name))
    with pytest.raises(hw.HardwireError, match="there is no file"):
        hw.data.load(str(tmp_path / "missing.csv#a"))
    np.savez(tmp_path / "a.npz", x=1)
    with pytest.raises(hw.HardwireError, match="is not a table"):
        hw.data.load(str(tmp_path / "a.npz#a"))
