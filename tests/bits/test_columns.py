import json

import numpy as np
import pandas as pd
import pytest

from hardwire import HardwireError
from hardwire.bits import Columns

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


def test_what_is_missing_is_nan():
    assert np.isnan(Columns.of(FRAME).numbers(FRAME.assign(colour=[None, "red", "red"]))[0, 1])


def test_columns_survive_json():
    columns = Columns.of(FRAME, target="price", labels=("low", 3, True, 2.5))
    assert Columns.from_json(columns.to_json()) == columns


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 9999, "9" * 5000])
def test_damaged_json_of_names_is_refused(text):
    with pytest.raises(HardwireError, match=r"names of (its )?columns"):
        Columns.from_json(text)


@pytest.mark.parametrize(
    "wrong",
    [{"names": 3}, {"names": [3]}, {"texts": {"a": 1}}, {"texts": {"a": [[]]}}, {"target": 1}, {"labels": [{}]}],
)
def test_names_of_wrong_types_are_refused(wrong):
    text = json.dumps({"names": ["a"], "texts": {"a": ["x"]}, "target": None, "labels": None} | wrong)
    with pytest.raises(HardwireError, match="damaged"):
        Columns.from_json(text)


@pytest.mark.parametrize(
    ("frame", "rule"),
    [
        (FRAME.drop(columns="size"), "lacks size; it needs size, colour"),
        (FRAME.assign(colour="pink"), "'colour' holds 'pink', which the training data did not have: blue, red"),
        (FRAME.assign(size="large"), "'size' holds 'large', but numbers were trained on"),
        (FRAME.assign(size=pd.to_datetime("2020-01-01")), "'size' holds datetime64"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(frame, rule):
    with pytest.raises(HardwireError, match=rule):
        Columns.of(FRAME).numbers(frame)
