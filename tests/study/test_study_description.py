"""Tests of study descriptions: TOML to a grid of runs, and every mistake in it."""

import pytest
import small_studies

import hardwire as hw
from hardwire import study
from hardwire.study.description import METHODS, parse
from hardwire.study.version import code_version


def test_every_combination_is_one_run_and_every_run_has_its_own_key():
    description = small_studies.small(seeds=[0, 1, 2], depths=[2, 3], learning_rates=[0.01, 0.02])
    configs = list(description)
    assert len(configs) == len(description) == 3 * 2 * 2 * 3 * 2
    assert len({config.key("1") for config in configs}) == len(configs)
    assert configs[0].key("1") != configs[0].key("2")  # other code, other run


def test_a_study_goes_seed_by_seed():
    seeds = [config.seed for config in small_studies.small(seeds=[0, 1])]
    assert seeds == sorted(seeds)


def test_with_cage_each_tau_is_a_repeat_with_randomness_of_its_own():
    description = small_studies.small(methods=list(METHODS))
    streams = {}
    for config in description:
        streams.setdefault(config.method, set()).add(config.stream)
    assert all(len(found) == (2 if "cage" in method else 1) for method, found in streams.items())


def test_a_dataset_may_differ_from_the_rest():
    text = small_studies.SMALL + "\n[datasets.mnist-binary]\nwidths = [200]\niterations = [7]\n"
    digits, mnist = parse(text).grids
    assert (digits.widths, mnist.widths, mnist.iterations, mnist.batch_size) == ((100,), (200,), (7,), 64)


@pytest.mark.parametrize(("preset", "runs"), [("smoke", 24), ("small", 180), ("paper", 3 * 6 * 5 * 3 * 3)])
def test_presets_are_valid_and_of_the_stated_size(preset, runs):
    assert len(parse(study.preset_text(preset))) == runs


def test_the_paper_preset_has_the_papers_hyperparameters():
    mnist, _, cifar = parse(study.preset_text("paper")).grids
    assert (mnist.widths, mnist.iterations, mnist.learning_rates, mnist.batch_size) == (
        (64_000,),
        (50_000,),
        (0.01,),
        512,
    )
    assert (cifar.widths, cifar.iterations, cifar.learning_rates) == ((128_000,), (60_000,), (0.05,))
    assert mnist.depths == (4, 5, 6) and mnist.evaluate_every == 500 and len(mnist.seeds) == 3


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("taus", "tau", "unknown key 'tau' in the study; known are: name, datasets, methods, taus"),
        ('"hard-st"', '"hard-ts"', "unknown method 'hard-ts'; did you mean hard-st? choose one of: soft-mix"),
        ("datasets.digits", "datasets.digit", "unknown dataset 'digit'; did you mean digits? choose one of: digits"),
        ("[0.5, 2.0]", "[]", "taus is empty"),
        ("[0.5, 2.0]", "[0.5, -2.0]", "taus: -2.0 is not a positive number"),
        ("[0.5, 2.0]", "[0.5, 0.5]", "names a value twice"),
        ("[100]", "[101]", "width 101 cannot be split into 10 equal classes"),
        ("[60]", '["60"]', "iterations: '60' is not a whole number of at least 1"),
        ("seeds = [0]", "seeds = [true]", "seeds: True is not a whole number"),
        ("batch_size = 64", "", "batch_size missing for digits"),
        ('name = "test"', "", "name is missing"),
        ("[datasets.digits]", "", "no dataset"),
        ("[datasets.digits]", "[datasets.digits]\nwidth = 3", "unknown key 'width' in datasets.digits"),
        ("[datasets.digits]", '[datasets."away.npz"]', "there is no file away.npz"),
        ("depths = [2]", "depths = [2", "this is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_the_way_out(tmp_path, before, after, message):
    assert before in small_studies.SMALL
    file = tmp_path / "study.toml"
    file.write_text(small_studies.SMALL.replace(before, after))
    with pytest.raises(hw.HardwireError) as error:
        study.describe(file)
    assert message in str(error.value) and str(file) in str(error.value)


def test_a_file_that_is_not_there_or_not_text_is_one_error(tmp_path):
    with pytest.raises(hw.HardwireError, match="cannot read the study"):
        study.describe(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(hw.HardwireError, match="not a text file"):
        study.describe(tmp_path / "bytes.toml")


def test_the_code_version_names_the_release_and_the_code():
    version = code_version()
    assert version.startswith(f"{hw.__version__}+") and len(version) == len(hw.__version__) + 9
