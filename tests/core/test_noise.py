import dataclasses
import sysconfig
from pathlib import Path

import oracle
import pytest
import torch
from cases import close, property_test
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hardwire.noise import NoiseKey, gumbel, gumbel_like, philox, sample_race

ONES = 0xFFFFFFFF
KNOWN_ANSWERS = [  # philox4x32-10 in the kat_vectors of the Random123 library, counter, key and answer
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
DOUBLE = torch.zeros((), dtype=torch.float64)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_philox_gives_the_known_answers_on_tensors_and_on_integers(counter, key, answer):
    assert tuple(word.item() for word in philox(tuple(torch.tensor(word) for word in counter), key)) == answer
    assert tuple(philox(counter, key)) == answer
    assert tuple(oracle.philox(counter, key)) == answer


class Int64(int):
    """An integer that must stay within 63 bits whatever is done to it, as C++ wants of a signed word."""

    def _then(operation):
        def checked(self, other):
            result = Int64(operation(int(self), int(other)))
            assert 0 <= result < 2**63
            return result

        return checked

    __mul__, __add__, __lshift__, __rshift__ = map(_then, (int.__mul__, int.__add__, int.__lshift__, int.__rshift__))
    __and__, __or__, __xor__ = map(_then, (int.__and__, int.__or__, int.__xor__))


def test_philox_never_overflows_a_signed_word():
    for counter, key, answer in KNOWN_ANSWERS:
        assert philox(tuple(Int64(word) for word in counter), key) == answer


@pytest.mark.skipif(
    not Path(sysconfig.get_paths()["include"], "Python.h").exists(),
    reason="torch.compile needs Python's headers: apt install python3-dev",
)
@pytest.mark.slow  # the C++ compiler takes its time
def test_compiled_noise_is_the_eager_noise():
    def noise(step):
        return gumbel(NoiseKey(3, step), 0, 6, 16, torch.zeros(()))

    compiled = torch.compile(noise)
    for step in torch.arange(4):
        torch.testing.assert_close(compiled(step), noise(step))


@property_test
@given(
    st.integers(0, 2**53 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 1000),
    st.integers(0, 2**16 - 1),
    st.booleans(),
    st.integers(2, 18),
)
def test_every_gumbel_variable_is_the_oracles(seed, step, layer, draw, evaluation, choices):
    noise = gumbel(NoiseKey(seed, torch.tensor(step), draw, evaluation), layer, 3, choices, DOUBLE)
    expected = [[oracle.gumbel(seed, step, layer, n, i, draw, evaluation) for i in range(choices)] for n in range(3)]
    close(noise, expected, 1e-5)


def test_a_neurons_noise_does_not_depend_on_how_many_neurons_there_are():
    key = NoiseKey(3, 4)
    assert torch.equal(gumbel(key, 0, 5, 16, DOUBLE), gumbel(key, 0, 9, 16, DOUBLE)[:5])


@pytest.mark.parametrize("change", [{"seed": 2}, {"step": 2}, {"draw": 1}, {"evaluation": True}])
def test_every_part_of_the_key_changes_the_noise(change):
    key = NoiseKey(seed=1, step=1)
    other = dataclasses.replace(key, **change)
    assert not torch.isclose(gumbel(key, 0, 50, 16, DOUBLE), gumbel(other, 0, 50, 16, DOUBLE)).any()
    assert not torch.isclose(gumbel(key, 0, 50, 16, DOUBLE), gumbel(key, 1, 50, 16, DOUBLE)).any()


def test_counts_past_their_field_wrap_and_stay_inside_32_bits():
    wrapped = gumbel(NoiseKey(1, 2**32 + 5, draw=2**16 + 7), 0, 4, 16, DOUBLE)
    assert torch.equal(wrapped, gumbel(NoiseKey(1, 5, draw=7), 0, 4, 16, DOUBLE))


def test_gumbel_noise_has_the_distribution_of_its_name():
    noise = gumbel(NoiseKey(11, 0), 0, 20_000, 16, torch.zeros(()))
    assert noise.mean().item() == pytest.approx(0.57722, abs=0.01)  # Euler's constant
    assert noise.var().item() == pytest.approx(1.64493, abs=0.03)  # pi^2 / 6
    assert (noise < 0).float().mean().item() == pytest.approx(0.36788, abs=0.005)  # exp(-1)


@pytest.mark.parametrize("word", [0, 2**32 - 1])
def test_the_lowest_and_the_highest_word_give_finite_noise(word, monkeypatch):
    monkeypatch.setattr("hardwire.noise.philox", lambda counter, key: (torch.tensor([[word]]),) * 4)
    assert gumbel(NoiseKey(0, 0), 0, 1, 4, torch.zeros(())).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_noise_has_the_dtype_it_is_asked_for_and_is_finite(dtype):
    like = torch.zeros(1000, 16, dtype=dtype)
    for noise in (gumbel(NoiseKey(0, 0), 0, 1000, 16, like), gumbel_like(like)):
        assert noise.dtype == dtype
        assert noise.shape == (1000, 16)
        assert noise.isfinite().all()


def test_a_race_is_gumbel_noise_independent_of_choice_and_of_logits():
    logits = torch.tensor([[0.0, 2.0, -1.0, 0.5, 1.5], [3.0, 3.0, -40.0, 0.0, 1.0]], dtype=torch.float64)
    winner, noisy = sample_race(NoiseKey(5, 6, per_sample=True), 0, torch.tensor([2, 7]), 40_000, logits)
    assert torch.equal(winner, noisy.argmax(-1))
    noise = noisy + logits.logsumexp(-1).view(2, 1, 1) - logits.unsqueeze(1)
    for node in range(2):
        counts, shares = torch.bincount(winner[node], minlength=5), torch.softmax(logits[node], 0)
        possible = shares > 1e-9
        assert not counts[~possible].any()
        assert stats.chisquare(counts[possible], 40_000 * shares[possible]).pvalue > 1e-3
        for k in range(5):
            assert stats.kstest(noise[node, :, k], "gumbel_r").pvalue > 1e-3
        between = torch.corrcoef(torch.exp(-noise[node].T)) - torch.eye(5)
        assert between.abs().max() < 0.02
    assert torch.corrcoef(noise[:, :, 0])[0, 1].abs() < 0.02  # the draws of two nodes are their own
