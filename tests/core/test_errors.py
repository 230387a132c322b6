"""The two errors that every room shares."""

import pickle

import numpy as np
import pytest

import hardwire as hw
from hardwire.errors import HardwireError, shown, unknown_name, whole_number
from hardwire.selection import METHODS


@pytest.mark.parametrize("value", [True, 0, -1, 2.0, "2", None, float("nan")])
def test_only_whole_numbers_of_at_least_one_pass_and_the_error_says_so(value):
    with pytest.raises(HardwireError, match=r"^rows .* is not a whole number of at least 1$"):
        whole_number("rows", value)


def test_a_whole_number_of_numpy_is_one_too_and_comes_back_as_int():
    assert type(whole_number("rows", np.int32(3))) is int
    assert whole_number("seed", 0, least=0) == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [("hardst", "hard-st"), ("Hard-ST", "hard-st"), ("gumble-st", "gumbel-st"), ("softmix", "soft-mix")],
)
def test_a_mistyped_name_is_answered_with_the_nearest_one_and_the_whole_list(given, meant):
    said = str(unknown_name("method", given, METHODS))
    assert said == f"unknown method {given!r}; did you mean {meant}? choose one of: {', '.join(METHODS)}"


def test_the_beginning_of_a_long_name_is_near_enough():
    assert "did you mean cifar10-binary?" in str(unknown_name("dataset", "cifar", ["digits", "cifar10-binary"]))


@pytest.mark.parametrize("name", ["steam", "", None, 3])
def test_what_is_like_no_name_gets_the_list_alone(name):
    assert str(unknown_name("engine", name, ["auto", "native"])) == (
        f"unknown engine {name!r}; choose one of: auto, native"
    )


def test_a_wrong_method_of_a_network_is_told_the_right_one():
    with pytest.raises(HardwireError, match=r"did you mean hard-st\?"):
        hw.LogicNetwork(4, 2, 2, 1, method="hard_st")


def test_long_names_are_cut_off():
    text = str(unknown_name("column", "x" * 5000, ["y" * 5000, "z" * 5000]))
    assert len(text) < 400 and "yyy, zzz" in text


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    assert shown("a") == "'a'" and shown("a" * 200).endswith("...")
    assert shown(10**5000) == "a int too large to show"


def test_no_error_fills_the_screen_with_a_value_from_a_file():
    text = str(HardwireError(f"the name {'x' * 5000} is too long; use a shorter one"))
    assert len(text) < 1100 and text.startswith("the name xxx") and text.endswith("x is too long; use a shorter one")
    with pytest.raises(HardwireError, match="is not a positive number") as caught:
        hw.LogicNetwork(4, 2, 2, 1, tau="9" * 5000)
    assert len(str(caught.value)) < 200
    again = pickle.loads(pickle.dumps(caught.value))  # as it comes from a worker
    assert (type(again), str(again)) == (HardwireError, str(caught.value))


def test_a_line_that_quotes_a_long_value_is_shortened_and_other_lines_stay():
    file = "one of 40 files: 1234 bytes"
    text = str(HardwireError("\n".join(["tau " + "9" * 5_000 + " is too large", *[file] * 40])))
    first, *rest = text.split("\n")
    assert len(first) == 1_000 and first.startswith("tau 999") and first.endswith("9 is too large")
    assert rest == [file] * 40
