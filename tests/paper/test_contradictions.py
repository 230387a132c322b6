"""What docs/paper.md says about the paper's contradictions, from the paper's own numbers."""

import math
from pathlib import Path

import pytest

import hardwire as hw
from hardwire_paper import printed
from hardwire_paper.claims import claims
from hardwire_paper.judging import printed_numbers
from hardwire_paper.theory.single_nodes import start_confidence

PAGE = (Path(__file__).parents[2] / "docs" / "paper.md").read_text()


def highest(dataset, method, **only):
    trajectories = printed.trajectories().items()
    return max(
        float(cell.high)
        for (data, name, depth, tau), cell in trajectories
        if (data, name, depth) == (dataset, method, 6) and tau in (only.get("tau", tau),)
    )


def test_the_page_counts_the_claims():
    assert f"table of {len(claims())} claims" in PAGE


def test_peaks_are_of_the_last_80_percent_and_by_sign_or_by_size():
    assert printed.SELECTION_GAP["soft-gumbel"][0].endswith("/ 2")
    assert float(printed.trajectories()["mnist-binary", "soft-gumbel", 6, 0.05].low) == -30
    assert printed.CROSS_DATASET["soft-gumbel"]["cifar10-binary"] == "3.5"
    assert highest("cifar10-binary", "soft-gumbel") == 0.5
    assert float(printed.trajectories()["cifar10-binary", "soft-gumbel", 6, 0.05].low) == -3.5


def test_gumbel_st_with_cage_on_mnist_has_9_and_5():
    assert printed.CROSS_DATASET["gumbel-st+cage"]["mnist"] == "9" and highest("mnist", "gumbel-st+cage") == 5


def test_noise_does_not_amplify_on_cifar():
    assert highest("cifar10-binary", "soft-mix", tau=2.0) == 9
    assert highest("cifar10-binary", "soft-gumbel", tau=2.0) == 0.4


def test_two_t_values_ask_for_two_deviations_of_the_same_peaks():
    sizes = {"hard-zero-gap": 40, "forward-decides": 39}
    first, second = (size * math.sqrt(3) / abs(float(printed.STATISTICS[key][0])) for key, size in sizes.items())
    assert round(first) == 11 and round(second) == 22
    assert printed.STATISTICS["forward-decides"][1] == ".093"


def test_58_and_6_are_57_6_and_7_2():
    worst, spread = (value for value, _ in printed_numbers(printed.ROBUSTNESS["hard-st+cage"]["cifar10-binary"]))
    assert worst == 57.6 < 58 and spread == 0.5
    assert printed.ROBUSTNESS["hard-st"]["cifar10-binary"].endswith("7.2")


def test_confidence_starts_at_a_quarter_and_cage_ends_elsewhere_than_its_formula():
    assert start_confidence() == pytest.approx(0.25, abs=0.005)

    def tau(confidence):
        return 3 - 2.5 * (confidence - 1 / 16) / (1 - 1 / 16)

    assert round(tau(0.9), 2) == 0.77 and round(tau(0.85), 2) == 0.9
    cage = hw.CAGE(choices=16)
    assert cage.tau.item() == pytest.approx(3.0)
    for text in ("0.77 and 0.90", "p = .093", "57.6", "7.2", "37.5%", "11 points, the second 22"):
        assert text in PAGE
