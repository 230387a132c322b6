"""How tables are read: decimal commas, separators, missing values, labels as they were written, warnings, lines."""

import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.bits import Columns
from hardwire.data.frames import Where, read_frame
from hardwire.data.kinds import split_name
from hardwire.data.table_options import TableOptions, with_options

TEXT = (
    st.text(string.ascii_letters + " ,;'äß|-", min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda text: text.lower() not in ("", "na", "nan", "null", "none", "inf", "true", "false", "infinity"))
)


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_decimal_comma_is_read_if_asked_for_and_warned_of_else(tmp_path):
    path = written(tmp_path, "size;kind\n1,518;a\n1,521;b\n2,5;a\n3;b\n")
    with pytest.warns(
        UserWarning, match=r"column 'size' holds texts that look like numbers, such as '1,518'.*--decimal"
    ):
        hw.data.load(f"{path}#kind")
    data = hw.data.load(f"{path}?decimal=%2C#kind")
    assert sorted([*data.raw("train")[:, 0], *data.raw("test")[:, 0]]) == [1.518, 1.521, 2.5, 3]
    assert data.columns.reading == {"decimal": ","}
    with pytest.warns(UserWarning, match=r"the target size holds texts that look like numbers"):
        hw.data.load(f"{path}#size")
    assert hw.data.load(f"{path}?decimal=%2C#size").number is not None


def test_a_model_remembers_how_its_table_was_written(tmp_path):
    path = written(tmp_path, "size|kind\n'1,5'|a\n?|b\n2,5|a\n3|b\n".replace("'", "~"))
    data = hw.data.load(with_options(f"{path}#kind", decimal=",", separator="bar", na=["?"], quote="~"))
    net = hw.LogicNetwork(data.inputs, 2, width=20, depth=1, seed=0, encoder=data.encoder)
    net.columns = data.columns
    again = hw.data.load(f"{path}#kind", like=net, whole=True)
    assert np.isnan(again.raw("test")).sum() == 1 and np.nanmax(again.raw("test")) == 3
    hw.Circuit.from_network(net).save(tmp_path / "circuit")
    from hardwire.circuit.tables import predict_table

    assert predict_table(hw.Circuit.load(tmp_path / "circuit"), path, tmp_path / "out.csv") == 4
    assert pd.read_csv(tmp_path / "out.csv")["size"].tolist() == ["1,5", "?", "2,5", "3"]


@pytest.mark.parametrize(
    ("labels", "known"),
    [
        (["01", "02"], ("01", "02")),
        (["0", "1"], (0, 1)),
        (["0.0", "1.0"], (0.0, 1.0)),
        (["True", "False"], (False, True)),
        (["1", "1.0"], (1.0,)),
    ],
)
def test_labels_stay_as_they_were_written(tmp_path, labels, known):
    path = written(tmp_path, "x,y\n" + "".join(f"{row},{labels[row % 2]}\n" for row in range(20)))
    if len(known) == 1:
        with pytest.raises(hw.HardwireError, match="always"):
            hw.data.load(f"{path}#y")
        return
    data = hw.data.load(f"{path}#y")
    assert data.columns.labels == known and [str(label) for label in known] == sorted(labels)
    net = hw.LogicNetwork(data.inputs, 2, width=20, depth=1, seed=0, encoder=data.encoder)
    net.columns = data.columns
    assert sorted(hw.data.load(f"{path}#y", like=net, whole=True).test.y.tolist()) == [0] * 10 + [1] * 10


def test_many_texts_to_predict_are_warned_of(tmp_path):
    path = written(tmp_path, "x,y\n" + "".join(f"{row},k{row % 60}\n" for row in range(240)))
    with pytest.warns(UserWarning, match="the target y has 60 different texts, and each becomes a class"):
        assert hw.data.load(f"{path}#y").classes == 60


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    path = written(tmp_path, 'a,b\n\n"1\n",x\n\n,y\n3,z\n')
    assert [Where(path)(np.array([row])) for row in range(3)] == ["line 3", "line 6", "line 7"]
    assert Where(path, first=1)(np.array([0, 1])) == "2 rows, the first in line 6"
    assert Where(tmp_path / "t.parquet")(np.array([4])) == "row 5"


def test_values_that_floats_merge_are_warned_of():
    times = 1.7e9 + np.arange(50)
    with pytest.warns(UserWarning, match=r"column when has 50 different values, of which float32 tells apart 1"):
        hw.Encoder.fit(times[:, None], 8, names=["when"])
    with pytest.warns(UserWarning, match="column x0 has 50 different values"):
        hw.LogicClassifier(width=20, iterations=1, wiring="random").fit(times[:, None], np.arange(50) % 2)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"decimal": ";"}, "unknown decimal point ';'"),
        ({"separator": "::"}, "separator '::' is not one character"),
        ({"decimal": ",", "separator": "comma"}, "cannot be both"),
    ],
)
def test_wrong_ways_to_read_are_refused(given, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        TableOptions(**given)


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXT, max_size=3), st.sampled_from([",", "."]), st.sampled_from([None, ";", "\t"]))
def test_options_survive_the_name_of_a_dataset(na, decimal, separator):
    na = [text for text in na if "," not in text]
    name = with_options("dir@2/t.csv@8#the #1", na=na, decimal=decimal, separator=separator)
    path, options = split_name(name)
    assert (str(path), options["levels"], options["target"]) == ("dir@2/t.csv", 8, "the #1")
    assert options.get("options", TableOptions()) == TableOptions(decimal, separator, tuple(na))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(TEXT, st.floats(-1e6, 1e6, width=32) | st.none()), min_size=2, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([".", ","]),
)
def test_any_table_is_read_as_it_was_written(tmp_path_factory, rows, separator, decimal):
    if decimal == separator:
        separator = ";"
    frame = pd.DataFrame(rows, columns=["text", "number"])
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame.to_csv(path, index=False, sep=separator, decimal=decimal)
    read = read_frame(path, TableOptions(decimal=decimal, separator=separator))
    assert read["text"].tolist() == frame["text"].tolist()
    assert np.array_equal(read["number"].to_numpy(float), frame["number"].to_numpy(float), equal_nan=True)
    raw = Columns.of(read).numbers(read)
    assert (raw[:, 0] >= 0).all() and np.array_equal(np.isnan(raw[:, 1]), frame["number"].isna())
