"""Augmentation on packed images, and thresholds by the name of a dataset."""

import pytest
import torch
from small_runs import digits, same_state

import hardwire as hw
from hardwire.data.augmentation import Augmented


def pixels(x, levels=5):
    return x.unpack(torch.float32).view(len(x), 8, 8, levels)


def test_every_image_of_a_batch_is_its_original_flipped_or_shifted_with_a_repeated_border():
    data = digits()
    moved = hw.data.augment(data, flip=True, shift=1).train
    rows = torch.arange(40)
    x, y = moved.batch(rows)
    assert torch.equal(y, data.train.y[:40])
    seen = set()
    for image, original in zip(pixels(x), pixels(data.train.x[:40]), strict=True):
        ways = [
            (flip, dy, dx)
            for flip in (False, True)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if torch.equal(image, transformed(original, flip, dy, dx))
        ]
        assert ways
        seen.add(ways[0])
    assert len(seen) > 9, "each image goes its own way"


def transformed(image, flip, dy, dx):
    y, x = (torch.clamp(torch.arange(8) + d, 0, 7) for d in (dy, dx))
    return image[y][:, x.flip(0) if flip else x]


def test_a_cutout_is_a_square_of_zeros_that_may_reach_beyond_the_border():
    data = digits()
    covered = hw.data.augment(data, cutout=3).train.batch(torch.arange(60))[0]
    sizes = set()
    for image, original in zip(pixels(covered), pixels(data.train.x[:60]), strict=True):
        ways = [
            (y, x) for y in range(8) for x in range(8) if torch.equal(image, original * (1 - square(y, x)[..., None]))
        ]
        assert ways
        sizes.update(int(square(*way).sum()) for way in ways)
    assert {4, 6, 9} <= sizes


def square(y, x):
    rows, columns = (((torch.arange(8) - centre + 1) // 3 == 0).float() for centre in (y, x))
    return rows[:, None] * columns


@pytest.mark.parametrize("share", [0.05, 0.25, 0.4])
def test_noise_inverts_the_given_share_of_the_bits_and_none_behind_the_last(share):
    data = digits()
    noisy = hw.data.augment(hw.data.load("digits@2"), noise=share).train
    plain = hw.data.load("digits@2").train.x[:400]
    x = noisy.batch(torch.arange(400))[0]
    inverted = (x.unpack(torch.float32) != plain.unpack(torch.float32)).float().mean().item()
    assert inverted == pytest.approx(round(share * 256) / 256, abs=0.01)
    odd = hw.data.augment(data, noise=share).train.batch(torch.arange(50))[0]
    assert torch.equal(hw.Bits.pack(odd.unpack(torch.float32)).words, odd.words)


def test_the_same_batch_is_changed_in_the_same_way_and_another_in_another():
    train = hw.data.augment(digits(), shift=2, seed=3).train
    assert torch.equal(train.batch(torch.arange(30))[0].words, train.batch(torch.arange(30))[0].words)
    first = train.batch(torch.arange(30))[0].words[0]
    assert any(not torch.equal(first, train.batch(torch.arange(n))[0].words[0]) for n in (2, 3, 4, 5))


def test_measurements_and_held_out_rows_see_the_images_as_they_are():
    data = hw.data.augment(digits(), flip=True, shift=2)
    assert torch.equal(data.train.x.words, digits().train.x.words)
    parted = data.with_validation()
    assert isinstance(parted.train, Augmented)
    assert torch.equal(parted.validation.x.words, digits().train.x.words[-len(parted.validation) :])


def test_an_augmented_run_resumes_to_the_same_bits_and_is_not_mistaken_for_another(tmp_path):
    data = hw.data.augment(digits(), shift=1)
    options = {"batch_size": 32, "evaluate_every": 5, "progress": False}

    def net():
        return hw.LogicNetwork(320, 10, widths=[60, 50], seed=1)

    whole, parts = net(), net()
    hw.fit(whole, data, iterations=10, **options)
    hw.fit(parts, data, iterations=5, **options, checkpoint=tmp_path / "run")
    hw.fit(resumed := net(), data, iterations=10, **options, checkpoint=tmp_path / "run")
    assert same_state(whole, resumed)
    with pytest.raises(hw.HardwireError, match="augmentation"):
        hw.fit(net(), digits(), iterations=12, **options, checkpoint=tmp_path / "run")


def test_thresholds_follow_an_at_sign():
    data = hw.data.load("digits@2")
    assert data.name == "digits@2" and data.inputs == 128 and data.encoder.levels == 2


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: hw.data.load("digits@0"), "1 to 16"),
        (lambda: hw.data.load("digits@many"), "asks for 'many'"),
        (lambda: hw.data.load("digit@3"), "did you mean digits"),
        (lambda: hw.data.augment(digits(), shift=8), "out of sight"),
        (lambda: hw.data.augment(digits(), shift=-1), "shift -1"),
        (lambda: hw.data.augment(digits(binary=False)), "no packed images"),
        (lambda: hw.data.augment(digits(), cutout=8), "whole image"),
        (lambda: hw.data.augment(digits(), noise=0.5), "below 0.5"),
        (lambda: hw.data.augment(digits(), noise=float("nan")), "below 0.5"),
        (lambda: hw.data.augment(digits(), noise=0.001), "smallest step"),
    ],
)
def test_what_cannot_be_done_is_one_clear_error(make, rule):
    with pytest.raises(hw.HardwireError, match=rule):
        make()
