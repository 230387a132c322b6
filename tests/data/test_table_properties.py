"""Properties of the readers of tables, on random tables: what is written is read, whole or part by part."""

import csv
import io
import string

import numpy as np
import pandas as pd
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.bits import Columns
from hardwire.data import streams
from hardwire.data.frames import Where, read_csv, read_frame
from hardwire.data.table_options import TableOptions

MISSING = ("", "na", "n/a", "nan", "null", "none", "inf", "infinity", "true", "false")
TEXT = (
    st.text(string.ascii_letters + " ,;'\"äß|-\n?", min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda text: text.lower() not in MISSING)
)
NUMBER = st.floats(-1e9, 1e9) | st.none()
ROWS = st.lists(st.tuples(TEXT, NUMBER, st.sampled_from(["red", "blue", None])), min_size=2, max_size=12)
few = settings(max_examples=20, deadline=None)


def values(column):
    """The values of a column, None where one is missing."""
    return [None if missing else value for value, missing in zip(column.tolist(), column.isna().tolist(), strict=True)]


def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("t")


@few
@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from(["?", "missing", "-1"]), st.sampled_from("\"'~"))
def test_quoted_cells_and_own_marks_of_missing_values_are_read_back(tmp_path_factory, rows, separator, mark, quote):
    frame = pd.DataFrame(rows, columns=["text", "number", "colour"])
    frame.loc[frame["number"] == float(mark) if mark == "-1" else [], "number"] = 0.0  # -1 cannot be both
    path = folder(tmp_path_factory) / "t.csv"
    frame.to_csv(path, index=False, sep=separator, na_rep=mark, quotechar=quote, quoting=csv.QUOTE_NONNUMERIC)
    options = TableOptions(separator=separator, na=(mark,), quote=quote)
    read = read_frame(path, options)
    expected = frame["text"].where(frame["text"] != mark, None)
    assert values(read["text"]) == values(expected)
    assert np.array_equal(read["number"].to_numpy(float), frame["number"].to_numpy(float), equal_nan=True)
    assert values(read["colour"]) == values(frame["colour"])


@few
@given(ROWS, st.integers(1, 5))
def test_a_table_in_parts_is_the_whole_table(tmp_path_factory, rows, size):
    frame = pd.DataFrame(rows, columns=["text", "number", "colour"])
    path = folder(tmp_path_factory) / "t.csv"
    frame.to_csv(path, index=False)
    columns = Columns.of(read_frame(path))
    whole = columns.numbers(read_frame(path))
    before, streams.ROWS = streams.ROWS, size
    try:
        parts = list(streams.read_parts(path, columns.names, list(columns.texts)))
    finally:
        streams.ROWS = before
    assert [len(part.cells) for part in parts][:-1] == [size] * (len(parts) - 1)
    assert np.array_equal(np.concatenate([columns.numbers(part.values) for part in parts]), whole, equal_nan=True)


@few
@given(st.lists(st.tuples(st.integers(0, 2), TEXT, TEXT), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_a_row_is_named_by_the_line_on_which_an_editor_shows_it(tmp_path_factory, rows, end):
    text, lines = "a,b" + end, []
    for blank, first, second in rows:
        text += blank * end
        lines.append(text.count("\n") + 1)
        cells = io.StringIO()
        csv.writer(cells, lineterminator=end, quoting=csv.QUOTE_ALL).writerow([first, second])
        text += cells.getvalue()
    path = folder(tmp_path_factory) / "t.csv"
    path.write_bytes(text.encode())
    assert len(read_csv(path)) == len(rows)
    assert [Where(path)([row]) for row in range(len(rows))] == [f"line {line:,}" for line in lines]


@few
@given(st.lists(st.sampled_from(["0", "1", "7", "-3"]), min_size=2, max_size=3, unique=True), st.data())
def test_labels_keep_the_way_in_which_they_were_written(tmp_path_factory, labels, data):
    form = data.draw(st.sampled_from(["{}", "{}.0", "0{}", "k{}", "{}.50"]))
    labels = sorted(form.format(label) if not label.startswith("-") else label for label in labels)
    path = folder(tmp_path_factory) / "t.csv"
    path.write_text("x,y\n" + "".join(f"{row},{labels[row % len(labels)]}\n" for row in range(30)))
    loaded = hw.data.load(f"{path}#y")
    if loaded.number is not None:  # numbers with fractions are no classes
        assert any(float(label) % 1 for label in labels)
        return
    assert sorted(map(str, loaded.columns.labels)) == labels
    truth = [labels[row % len(labels)] for row in loaded.raw("train")[:, 0].astype(int)]
    assert [str(loaded.columns.labels[number]) for number in loaded.train.y.tolist()] == truth


@few
@given(ROWS, st.lists(st.tuples(TEXT, NUMBER, TEXT), min_size=1, max_size=5))
def test_no_row_that_comes_later_is_refused_and_strangers_light_no_bit(rows, later):
    frame = pd.DataFrame(rows, columns=["text", "number", "colour"])
    assume(frame["colour"].notna().any())  # a column that is always empty is no text
    columns = Columns.of(frame, missing="indicator")
    encoder = hw.Encoder.fit(columns.numbers(frame), 4, **columns.encoding(), names=columns.names)
    new = pd.DataFrame(later, columns=["text", "number", "colour"])
    codes = columns.numbers(new)
    bits = np.unpackbits(encoder.encode(codes).view(np.uint8), axis=1, bitorder="little")[:, : encoder.features]
    bits = bits.reshape(len(new), *encoder.thresholds.shape)
    for place, name in ((0, "text"), (2, "colour")):
        known = new[name].isin(frame[name].dropna())
        assert np.array_equal(codes[:, place] >= 0, known) and np.array_equal(bits[:, place].any(axis=1), known)
    lowest = encoder.thresholds[1].min()  # the indicator is there with every number that is not far below all others
    assert not (frame["number"].astype(np.float32) <= lowest).any()
    assert np.array_equal(bits[:, 1].any(axis=1), new["number"].astype(np.float32) > lowest)


@few
@given(st.binary(max_size=300) | st.text('a,;"\n0123.5?é\t', max_size=120).map(str.encode))
def test_any_bytes_are_a_table_or_one_line_of_refusal(tmp_path_factory, content):
    path = folder(tmp_path_factory) / "t.csv"
    path.write_bytes(content)
    for read in (lambda: hw.data.load(f"{path}#a"), lambda: list(streams.read_parts(path))):
        try:
            read()
        except hw.HardwireError as error:
            assert "\n" not in str(error)
