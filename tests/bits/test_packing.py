import numpy as np
import oracle
import pytest
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

from hardwire.bits import Encoder, check_words, pack, transpose, unpack, word_count
from hardwire.bits import words as packing
from hardwire.errors import HardwireError

NATIVE = packing._native
sizes = st.sampled_from([0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 130, 200])


def both_ways(function):
    """The results with numpy alone and, where it was built, with the native module."""
    results = []
    for module in (None, *filter(None, [NATIVE])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(packing, "_native", module)
            results.append(function())
    return results


def random_bits(rows, features, seed):
    return np.random.default_rng(seed).integers(0, 2, (rows, features), dtype=np.uint8)


@property_test
@given(sizes, sizes, st.integers(0, 99))
def test_pack_puts_every_bit_where_the_oracle_does_and_unpack_brings_it_back(rows, features, seed):
    x = random_bits(rows, features, seed)
    for words in both_ways(lambda: pack(x)):
        assert words.dtype == np.uint64
        assert words.shape == (rows, word_count(features))
        assert words.tolist() == [oracle.words(row) for row in x.tolist()]
        for back in both_ways(lambda words=words: unpack(words, features)):
            np.testing.assert_array_equal(back, x)


@property_test
@given(sizes, sizes, st.integers(0, 99))
def test_transpose_exchanges_rows_and_features(rows, features, seed):
    x = random_bits(rows, features, seed)
    for words in both_ways(lambda: transpose(pack(x), features)):
        np.testing.assert_array_equal(words, pack(x.T))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_pack_takes_any_dtype_and_any_memory_order(dtype):
    x = random_bits(5, 70, 0)
    for given_x in (x.astype(dtype), np.asfortranarray(x).astype(dtype), np.repeat(x, 2, axis=1)[:, ::2].astype(dtype)):
        for words in both_ways(lambda given_x=given_x: pack(given_x)):
            np.testing.assert_array_equal(unpack(words, 70), x)


@property_test
@given(st.integers(1, 5), st.sampled_from([1, 2, 5, 31, 63, 64, 65, 130]), st.booleans(), st.integers(0, 99))
def test_the_encoder_is_a_thermometer_on_bytes_and_on_floats(raw_features, levels, shared, seed):
    rng = np.random.default_rng(seed)
    thresholds = np.sort(rng.integers(0, 255, (1 if shared else raw_features, levels)), axis=1)
    encoder = Encoder(np.broadcast_to(thresholds, (raw_features, levels)).astype(np.float32))
    raw = rng.integers(0, 256, (4, raw_features), dtype=np.uint8)
    raw[0] = encoder.thresholds[:, 0]  # equal to a threshold is not above it
    expected = [oracle.words(oracle.thermometer(row, encoder.thresholds.tolist())) for row in raw.tolist()]
    for values in (raw, raw.astype(np.float64), raw.astype(np.int64)):
        for words in both_ways(lambda values=values: encoder.encode(values)):
            assert words.tolist() == expected


def test_the_encoder_compares_fractions():
    encoder = Encoder([[0.25, 0.5], [0.1, 0.9]])
    for words in both_ways(lambda: encoder.encode(np.array([[0.25, 0.95], [0.6, 0.0]]))):
        assert unpack(words, 4).tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]


def test_the_uniform_encoder_has_the_interior_points_of_equal_steps():
    encoder = Encoder.uniform(raw_features=3, levels=31, maximum=255)
    assert (encoder.raw_features, encoder.levels, encoder.features) == (3, 31, 93)
    np.testing.assert_allclose(encoder.thresholds, np.tile(255 * np.arange(1, 32) / 32, (3, 1)), rtol=1e-6)


def test_an_empty_batch_encodes_to_no_rows():
    for words in both_ways(lambda: Encoder.uniform(3, 30, 1).encode(np.zeros((0, 3)))):
        assert words.shape == (0, 2)


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (lambda: pack(np.zeros(3)), "takes a matrix"),
        (lambda: unpack(np.zeros((2, 1), np.int64), 5), "uint64"),
        (lambda: unpack(np.zeros((2, 2), np.uint64), 5), r"\[rows, 1\]"),
        (lambda: check_words(np.full((2, 1), 32, np.uint64), 5), "padding bits"),
        (lambda: transpose(np.full((2, 1), 32, np.uint64), 5), "padding bits"),
        (lambda: Encoder(np.zeros(3)), "raw_features, levels"),
        (lambda: Encoder(np.zeros((3, 0))), "raw_features, levels"),
        (lambda: Encoder(np.full((3, 1), np.nan)), "finite"),
        (lambda: Encoder(np.zeros((3, 1))).encode(np.zeros((2, 4))), "rows of 3 raw values"),
        (lambda: Encoder(np.zeros((3, 1))).encode(np.zeros(3)), "rows of 3 raw values"),
        (lambda: Encoder(np.zeros((3, 1)), "words"), "unknown kind of raw values 'words'"),
        (lambda: Encoder(np.zeros((3, 1)), maximum=-1), "not a finite number above 0"),
    ],
)
def test_malformed_arrays_are_refused(action, rule):
    with pytest.raises(HardwireError, match=rule):
        action()
