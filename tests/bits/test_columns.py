import json

import numpy as np
import pandas as pd
import pytest

from hardwire import HardwireError
from hardwire.bits import Columns
from hardwire.bits.texts import MOST_LEVELS

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2, 3],
        "colour": ["red", "blue", "red"],
        "known": [True, False, True],
        "grade": pd.Categorical(["b", "a", "b"]),
        "count": pd.Series([1, 2, 3], dtype="Int64"),
    }
)


def test_texts_become_their_place_among_all_texts_and_numbers_stay():
    columns = Columns.of(FRAME)
    assert columns.texts == {"colour": ("blue", "red"), "grade": ("a", "b")}
    assert columns.numbers(FRAME).tolist() == [[1.5, 1, 1, 1, 1], [2, 0, 0, 0, 2], [3, 1, 1, 1, 3]]


def test_columns_are_found_by_name_in_any_order_among_others():
    columns = Columns.of(FRAME)
    shuffled = FRAME[FRAME.columns[::-1]].assign(other="x")
    assert np.array_equal(columns.numbers(shuffled), columns.numbers(FRAME))


def test_a_missing_text_has_a_code_where_training_had_some_and_else_no_bit():
    gaps = FRAME.assign(colour=[None, "red", "red"])
    assert Columns.of(FRAME).numbers(gaps)[:, 1].tolist() == [-1, 1, 1]
    assert Columns.of(gaps).numbers(gaps)[:, 1].tolist() == [1, 0, 0]
    assert np.isnan(Columns.of(FRAME, missing="error").numbers(gaps)[0, 1])


def test_an_unknown_text_has_no_bit_or_is_an_error():
    pink = FRAME.assign(colour="pink")
    assert Columns.of(FRAME).numbers(pink)[:, 1].tolist() == [-1, -1, -1]
    with pytest.raises(HardwireError, match="'colour' holds 'pink', which the training data did not have: blue, red"):
        Columns.of(FRAME, unknown="error").numbers(pink)


def test_of_many_texts_the_most_frequent_have_bits_and_the_rest_is_other():
    texts = [f"t{number}" for number in range(100) for _ in range(100 - number)]
    columns = Columns.of(pd.DataFrame({"place": [*texts, None]}))
    codes = columns.codes("place")
    assert codes.count == MOST_LEVELS and (codes.other, codes.missing) == (62, 63)
    assert set(codes.levels) == {f"t{number}" for number in range(62)}
    seen = columns.numbers(pd.DataFrame({"place": ["t0", "t99", "new", None]}))[:, 0]
    assert seen.tolist() == [codes.levels.index("t0"), 62, 62, 63]
    with pytest.raises(HardwireError, match=r"'id' has 300 different texts, and the 63 most frequent ones cover 21%"):
        Columns.of(pd.DataFrame({"id": [f"n{number}" for number in range(300)]}))


def test_an_ordered_categorical_keeps_its_order_and_dates_are_days():
    grades = pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True)
    dates = ["1970-01-02", "2000-01-01T12:00", None]
    frame = pd.DataFrame({"grade": grades, "day": dates, "stamp": pd.to_datetime(dates, format="ISO8601")})
    columns = Columns.of(frame)
    assert columns.ordered == ("grade",) and columns.dates == ("day", "stamp")
    assert columns.encoding() == {"codes": {0: 3}, "categories": [], "present": []}
    numbers = columns.numbers(frame)
    assert numbers[:, 0].tolist() == [0, 2, 1]
    assert np.array_equal(numbers[:, 1], [1, 10957.5, np.nan], equal_nan=True)
    assert np.array_equal(numbers[:, 1], numbers[:, 2], equal_nan=True)
    with pytest.raises(HardwireError, match=r"'day' holds something other than dates like 2024-12-31"):
        columns.numbers(frame.assign(day="yesterday"))


def test_columns_survive_json():
    columns = Columns.of(FRAME, target="price", labels=("low", 3, True, 2.5), reading={"decimal": ",", "na": ["?"]})
    assert Columns.from_json(columns.to_json()) == columns


def test_columns_of_earlier_versions_refuse_what_they_did_not_know():
    old = Columns.from_json('{"names": ["a"], "texts": {"a": ["x"]}, "target": null, "labels": null}')
    assert (old.missing, old.unknown, old.codes("a").other) == ("error", "error", -1)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 9999, "9" * 5000])
def test_damaged_json_of_names_is_refused(text):
    with pytest.raises(HardwireError, match=r"names of (its )?columns"):
        Columns.from_json(text)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"names": 3}, {"names": [3]}, {"texts": {"a": 1}}, {"texts": {"a": [[]]}}, {"target": 1}, {"labels": [{}]}),
        *({"absent": {"a": 9}}, {"other": {"b": 1}}, {"dates": 3}, {"reading": 1}, {"missing": "none"}),
    ],
)
def test_names_of_wrong_types_are_refused(wrong):
    text = json.dumps({"names": ["a"], "texts": {"a": ["x"]}, "target": None, "labels": None} | wrong)
    with pytest.raises(HardwireError, match="damaged"):
        Columns.from_json(text)


@pytest.mark.parametrize(
    ("frame", "rule"),
    [
        (FRAME.drop(columns="size"), "lacks size; it needs size, colour"),
        (FRAME.assign(size="large"), "'size' holds 'large', but numbers were trained on"),
        (FRAME.assign(size=pd.to_datetime("2020-01-01")), "'size' holds the date Timestamp"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(frame, rule):
    with pytest.raises(HardwireError, match=rule):
        Columns.of(FRAME).numbers(frame)
