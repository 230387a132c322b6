import pickle

import numpy as np
import pytest
import torch
from cases import property_test
from hypothesis import given
from hypothesis import strategies as st

from hardwire import Bits, HardwireError
from hardwire.bits.matrix import _unpack_by_shifts

sizes = st.sampled_from([1, 2, 7, 63, 64, 65, 130])


def random_bits(rows, features, seed=0):
    return torch.randint(0, 2, (rows, features), generator=torch.Generator().manual_seed(seed))


@property_test
@given(st.integers(0, 5), sizes, st.sampled_from([torch.bool, torch.uint8, torch.int64, torch.float32, torch.float64]))
def test_packing_and_unpacking_is_a_round_trip_in_every_dtype(rows, features, dtype):
    x = random_bits(rows, features).to(dtype)
    bits = Bits.pack(x)
    assert bits.shape == (rows, features)
    assert len(bits) == rows
    assert bits.words.shape == (rows, (features + 63) // 64)
    assert torch.equal(bits.unpack(dtype), x)


def test_bits_off_the_cpu_unpack_with_torchs_own_shifts_to_the_same():
    x = random_bits(3, 130)
    assert torch.equal(_unpack_by_shifts(Bits.pack(x).words, 130), x)


@pytest.mark.parametrize(
    "rows", [slice(1, 3), [2, 0], torch.tensor([3, 3, 1]), torch.tensor([True, False, True, False, False]), slice(0, 0)]
)
def test_rows_are_chosen_as_in_a_matrix(rows):
    x = random_bits(5, 70)
    assert torch.equal(Bits.pack(x)[rows].unpack(torch.int64), x[rows])


@pytest.mark.parametrize("row", [0, -1])
def test_one_row_stays_a_matrix(row):
    x = random_bits(5, 70)
    assert torch.equal(Bits.pack(x)[row].unpack(torch.int64), x[row].unsqueeze(0))


def test_numpy_words_are_taken_and_given_without_a_copy():
    words = np.array([[1], [2]], np.uint64)
    bits = Bits.from_numpy(words, 5)
    words[0, 0] = 16
    assert bits.unpack(torch.int64).tolist() == [[0, 0, 0, 0, 1], [0, 1, 0, 0, 0]]
    assert np.shares_memory(bits.numpy(), words)


def test_a_batch_takes_one_bit_for_each_feature():
    assert Bits.pack(random_bits(10, 640)).nbytes == 10 * 640 // 8


def test_bits_survive_pickle():
    x = random_bits(3, 70)
    assert torch.equal(pickle.loads(pickle.dumps(Bits.pack(x))).unpack(torch.int64), x)


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (lambda: Bits.pack(torch.tensor([[0.0, 0.5]])), "only 0 and 1"),
        (lambda: Bits.pack(torch.tensor([[0.0, float("nan")]])), "only 0 and 1"),
        (lambda: Bits.pack(torch.tensor([0, 1])), "takes a matrix"),
        (lambda: Bits(torch.zeros(2, 2, dtype=torch.int64), 64), r"\[rows, 1\]"),
        (lambda: Bits(torch.zeros(2, 1), 64), "int64"),
        (lambda: Bits.from_numpy(np.zeros((2, 2), np.uint32), 64), "uint64"),
        (lambda: Bits.from_numpy(np.full((2, 1), 32, np.uint64), 5), "padding bits"),
        (lambda: Bits.pack(torch.ones(1, 64))[:, 0], "rows only"),
    ],
)
def test_malformed_bits_are_refused(action, rule):
    with pytest.raises(HardwireError, match=rule):
        action()
