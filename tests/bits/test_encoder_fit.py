import numpy as np
import pytest
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

from hardwire import Encoder, HardwireError
from hardwire.bits import unpack

random = np.random.default_rng(0)


def shares(x, **options):
    """The share of rows in which each bit is true, [raw_features, bits]."""
    encoder = Encoder.fit(x, **options)
    return unpack(encoder.encode(x), encoder.features).mean(0).reshape(encoder.thresholds.shape)


def test_quantile_thresholds_cut_a_column_into_equal_shares():
    x = random.normal(size=(900, 2)) * [1, 1000]
    assert np.allclose(shares(x, bits=8), np.arange(8, 0, -1) / 9, atol=1e-3)


def test_uniform_thresholds_cut_the_range_into_equal_steps():
    x = np.array([[0.0, -3], [9, 6]])
    assert Encoder.fit(x, bits=8, how="uniform").thresholds.tolist() == [[*range(1, 9)], [*range(-2, 6)]]


def test_a_value_that_fills_most_rows_does_not_take_the_thresholds_of_the_others():
    x = np.concatenate([np.zeros(900), random.uniform(1, 2, 100)])[:, None]
    assert np.allclose(shares(x, bits=4), [[0.1, 0.075, 0.05, 0.025]], atol=0.002)


def test_few_values_have_a_threshold_between_any_two_and_a_constant_has_none_that_it_passes():
    x = np.column_stack([random.permutation(np.arange(60) % 3), np.full(60, 7)])
    encoder = Encoder.fit(x, bits=4)
    assert encoder.thresholds.tolist() == [[0.5, 1.5, 1.5, 1.5], [7, 7, 7, 7]]


@property_test
@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 10_000))
def test_a_row_of_weight_n_counts_as_n_rows(rows, bits, seed):
    generator = np.random.default_rng(seed)
    x, weights = generator.integers(0, 9, (rows, 3)) / 7, generator.integers(0, 4, rows)
    weights[0] = 1
    repeated = np.repeat(x, weights, axis=0)
    assert np.array_equal(Encoder.fit(x, bits, weights=weights).thresholds, Encoder.fit(repeated, bits).thresholds)


@property_test
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=30), st.integers(1, 9))
def test_thresholds_ascend_and_tell_all_values_apart_where_there_are_enough(values, bits):
    x = np.array(values, np.float32)[:, None]
    encoder = Encoder.fit(x, bits)
    assert (np.diff(encoder.thresholds) >= 0).all()
    codes = {encoder.encode(row[None])[0, 0] for row in x}
    assert len(codes) == min(len(np.unique(x)), bits + 1)


@pytest.mark.parametrize(
    ("x", "options", "rule"),
    [
        ([[1.0], [np.inf]], {}, "finite numbers"),
        ([[1.0], [1e300]], {}, "below 3.4e38"),
        ([[1.0], [2.0]], {"bits": 0}, "bits 0 is not a whole number"),
        ([[1.0], [2.0]], {"how": "quantiles"}, "did you mean quantile"),
        ([1.0, 2.0], {}, r"numbers \[rows, raw_features\]"),
        (np.empty((0, 3)), {}, r"not float64 \[0, 3\]"),
        ([["red"], ["blue"]], {}, "numbers"),
        ([[1.0], [2.0]], {"weights": [1.0]}, "2 numbers"),
        ([[1.0], [2.0]], {"weights": [0, 0]}, "not all 0"),
    ],
)
def test_what_cannot_be_cut_is_refused(x, options, rule):
    with pytest.raises(HardwireError, match=rule):
        Encoder.fit(x, **options)
