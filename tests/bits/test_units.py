"""An encoder knows what it was made for: an image in other units is taken rightly or refused, never misread."""

import numpy as np
import pytest

from hardwire.bits import Encoder, unpack
from hardwire.bits.units import kind_of
from hardwire.errors import HardwireError

BYTES = np.array([[0, 64, 127], [128, 200, 255]], np.uint8)
EXPECTED = [[0, 0, 0], [1, 1, 1]]


def encoded(encoder, raw):
    return unpack(encoder.encode(raw), encoder.features).tolist()


@pytest.mark.parametrize("encoder", [Encoder.uniform(3, 1, 255), Encoder.uniform(3, 1, 1)], ids=["bytes", "unit"])
def test_bytes_and_the_unit_interval_are_both_taken_for_what_they_are(encoder):
    assert encoded(encoder, BYTES) == EXPECTED
    assert encoded(encoder, BYTES / 255) == EXPECTED
    assert encoded(encoder, (BYTES / 255).astype(np.float32)) == EXPECTED


def test_a_threshold_between_two_bytes_has_the_same_two_on_its_sides_in_the_unit_interval():
    every = np.arange(256, dtype=np.uint8)[:, None]
    for threshold in (0, 1, 17, 127, 254):
        encoder = Encoder([[threshold]], "bytes", 255)
        assert encoded(encoder, every) == encoded(encoder, every / np.float32(255)) == (every > threshold).tolist()


@pytest.mark.parametrize(
    ("encoder", "raw", "message"),
    [
        (Encoder.uniform(3, 1, 255), np.eye(3), "floats of 0 and 1 alone are ambiguous"),
        (Encoder.uniform(3, 1, 255), [[0, 1, 256]], "a raw value is 256, but this encoder reads 0 to 255"),
        (Encoder.uniform(3, 1, 255), [[-1.0, 5, 9]], "a raw value is -1"),
        (Encoder.uniform(3, 1, 1), BYTES.astype(float), "this encoder reads 0 to 1"),
        (Encoder.uniform(3, 5, 16, "bytes"), BYTES, "a raw value is 64, but this encoder reads 0 to 16"),
        (Encoder.uniform(3, 1, 1, "bits"), [[0, 0.5, 1]], "reads only 0 and 1"),
    ],
)
def test_what_is_neither_or_could_be_either_is_refused(encoder, raw, message):
    with pytest.raises(HardwireError, match=message):
        encoder.encode(np.asarray(raw))


def test_nan_is_below_every_threshold_and_infinity_above():
    encoder = Encoder([[-1e30, 0, 1e30]])
    assert encoded(encoder, [[np.nan], [np.inf], [-np.inf]]) == [[0, 0, 0], [1, 1, 1], [0, 0, 0]]


def test_whole_numbers_that_no_float_holds_are_compared_exactly():
    encoder = Encoder([[1 << 24]], "int32")
    assert encoded(encoder, np.array([[1 << 24], [(1 << 24) + 1]])) == [[0], [1]]


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (np.zeros((2, 1), bool), "bits"),
        (np.zeros((2, 1), np.uint8), "bytes"),
        (np.zeros((2, 1), np.int8), "int8"),
        (np.zeros((2, 1), np.int16), "int16"),
        (np.zeros((2, 1), np.uint16), "int32"),
        (np.zeros((2, 1), np.int64), "int32"),
        (np.full((2, 1), 1 << 40), "floats"),
        (np.zeros((2, 1)), "floats"),
    ],
)
def test_fitted_encoders_know_the_type_of_their_columns(x, kind):
    assert kind_of(x) == kind
    x = x.copy()
    x[0] += x.dtype.type(1)
    assert Encoder.fit(x, bits=1).kind == kind


def test_units_survive_a_file_and_damaged_ones_are_refused():
    encoder = Encoder.uniform(3, 1, 16, "bytes")
    again = Encoder.restored(encoder.thresholds, encoder.units())
    assert (again.kind, again.maximum) == ("bytes", 16)
    for damaged in (
        None,
        "",
        "[]",
        "{}",
        '{"kind": "words", "maximum": 1}',
        '{"kind": "bits", "maximum": "1"}',
        "[" * 99_999,
    ):
        with pytest.raises(HardwireError, match=r"damaged|JSON|nested|unknown kind|not a finite|does not say"):
            Encoder.restored(encoder.thresholds, damaged)
