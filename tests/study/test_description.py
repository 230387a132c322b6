"""Tests of study descriptions: TOML to a grid of runs, and every mistake in it."""

from pathlib import Path

import pytest
import small_studies

import hardwire as hw
from hardwire import study
from hardwire.selection import METHOD_VARIANTS
from hardwire.study.description import parse
from hardwire.study.kinds import preset_text, presets
from hardwire.study.plan import make_plan
from hardwire_paper.networks import stream


def test_every_combination_is_one_run_and_every_run_has_its_own_key():
    description = small_studies.small(seeds=[0, 1, 2], depths=[2, 3], learning_rates=[0.01, 0.02])
    configs = list(description)
    assert len(configs) == len(description) == 3 * 2 * 2 * 3 * 2
    assert len({config.key("1") for config in configs}) == len(configs)
    assert configs[0].key("1") != configs[0].key("2")  # other code, other run


def test_a_study_goes_seed_by_seed():
    seeds = [config["seed"] for config in small_studies.small(seeds=[0, 1])]
    assert seeds == sorted(seeds)


def test_with_cage_each_tau_is_a_repeat_with_randomness_of_its_own():
    description = small_studies.small(methods=list(METHOD_VARIANTS))
    streams = {}
    for config in description:
        streams.setdefault(config["method"], set()).add(stream(config))
    assert all(len(taus) == (2 if "cage" in method else 1) for method, taus in streams.items())


def test_a_dataset_may_differ_from_the_rest():
    text = small_studies.SMALL + "\n[datasets.mnist-binary]\nwidths = [200]\niterations = [7]\n"
    digits, mnist = (grid.values for grid in parse(text).grids)
    assert (digits["width"], mnist["width"], mnist["iterations"], mnist["batch_size"]) == ((100,), (200,), (7,), (64,))


def test_a_method_may_have_temperatures_of_its_own_on_some_datasets_too():
    text = small_studies.SMALL.replace('methods = ["soft-mix", "hard-st", "gumbel-st+cage"]\n', "")
    text += "[datasets.mnist-binary]\n[methods.hard-st]\n[methods.'gumbel-st+cage']\ntaus = [1.0, 2.0, 3.0]\n"
    taus = {}
    for config in parse(text):
        taus.setdefault((config["dataset"], config["method"]), []).append(config["tau"])
    assert taus == {
        ("digits", "hard-st"): [0.5, 2.0],
        ("digits", "gumbel-st+cage"): [1.0, 2.0, 3.0],
        ("mnist-binary", "hard-st"): [0.5, 2.0],
        ("mnist-binary", "gumbel-st+cage"): [1.0, 2.0, 3.0],
    }


def test_an_axis_may_be_a_list_or_tables_also_of_numbers():
    text = small_studies.SMALL.replace("[datasets.digits]", "") + "[depths.2]\n[depths.3]\nwidths = [200]\n"
    text = text.replace('name = "test"', 'name = "test"\ndatasets = ["digits"]').replace("depths = [2]\n", "")
    assert {(config["depth"], config["width"]) for config in parse(text)} == {(2, 100), (3, 200)}


def test_what_two_grids_share_is_one_run():
    text = small_studies.SMALL.replace("[datasets.digits]", "") + "[datasets.digits]\n[taus.2]\n[taus.'2.0']\n"
    assert len(parse(text.replace("taus = [0.5, 2.0]\n", ""))) == 3


def test_a_value_may_have_several_tables():
    text = small_studies.SMALL.replace('methods = ["soft-mix", "hard-st", "gumbel-st+cage"]\n', "")
    text += "[[methods.hard-st]]\ntaus = [0.5]\n[[methods.hard-st]]\ntaus = [1.0]\ndepths = [3, 4]\n"
    assert [(config["tau"], config["depth"]) for config in parse(text)] == [(0.5, 2), (1.0, 3), (1.0, 4)]


def test_networks_beyond_the_papers_are_axes_too():
    more = 'minutes = [0.5, 1.0]\nthreads = 2\nstart = ["normal", "residual"]\n'
    text = small_studies.SMALL.replace("iterations = [60]\n", more)
    description = parse(text + "[wiring.random]\n[wiring.learned]\ncandidates = 4\n")
    assert len(description) == 6 * 2 * 2 * 2 and description.threads == 2
    assert {config["iterations"] for config in description} == {None}
    assert "wiring learned candidates 4 start residual" in description.kind.label(description.configs[-1])


@pytest.mark.parametrize(
    ("preset", "runs"), [("smoke", 24), ("small", 180), ("paper", 3 * 6 * 5 * 3 * 3), ("demo", 12), ("systems", 57)]
)
def test_presets_are_valid_and_of_the_stated_size(preset, runs):
    assert len(parse(preset_text(preset))) == runs and preset in presets()


def test_the_paper_preset_has_the_papers_hyperparameters():
    mnist, _, cifar = (grid.values for grid in parse(preset_text("paper")).grids)
    numbers = ("width", "iterations", "learning_rate", "batch_size", "evaluate_every")
    assert [mnist[name] for name in numbers] == [(64_000,), (50_000,), (0.01,), (512,), (500,)]
    assert [cifar[name] for name in numbers[:3]] == [(128_000,), (60_000,), (0.05,)]
    assert mnist["depth"] == (4, 5, 6) and mnist["tau"] == (0.05, 0.1, 0.5, 1.0, 2.0) and len(mnist["seed"]) == 3


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("taus", "tau", "unknown key in the study: 'tau'; did you mean taus?"),
        ('"hard-st"', '"hard-ts"', "unknown method 'hard-ts'; did you mean hard-st? choose one of: soft-mix"),
        ("datasets.digits", "datasets.digit", "unknown dataset 'digit'; did you mean digits? choose one of: digits"),
        ("[0.5, 2.0]", "[]", "taus is empty"),
        ("[0.5, 2.0]", "[0.5, -2.0]", "taus: -2.0 is not a positive number"),
        ("[0.5, 2.0]", "[0.5, 0.5]", "names a value twice"),
        ("[100]", "[101]", "width 101 cannot be split into 10 equal classes"),
        ("[60]", '["60"]', "iterations: '60' is not a whole number of at least 1"),
        ("seeds = [0]", "seeds = [true]", "seeds: True is not a whole number"),
        ("batch_size = 64", "", "batch_size missing; set it at the top or in [datasets.digits]"),
        ("iterations = [60]", "", "iterations missing; set it at the top, or minutes"),
        ('name = "test"', "", "name is missing"),
        ("[datasets.digits]", "", "datasets missing; set it at the top"),
        ("[datasets.digits]", "[datasets]", "datasets is empty"),
        ("[datasets.digits]", "[datasets]\ndigits = 3", "datasets.digits must be a table"),
        ('kind = "network"', "", 'kind is missing; say what the runs are, such as kind = "'),
        ('kind = "network"', 'kind = "networks"', "unknown kind of run 'networks'; did you mean network?"),
        ('name = "test"', 'name = "test"\nthreads = 0', "threads 0 is not a whole number of at least 1"),
        ('name = "test"', 'name = "test"\nworkers = 0', "workers 0 is not a whole number of at least 1"),
        ('name = "test"', 'name = "test"\nkeep = 1', "keep: 1 is not true or false"),
        ('name = "test"', 'name = "test"\nwiring = "rnadom"', "did you mean random?"),
        ('name = "test"', 'name = "test"\nnoise = "everywhere"', "noise"),
        (
            "[datasets.digits]",
            "[datasets.digits]\nwidth = 3",
            "in datasets.digits: 'width'; did you mean widths?",
        ),
        ("[datasets.digits]", '[datasets."away.npz"]', "there is no file away.npz"),
        ("depths = [2]", "depths = [2", "is not valid TOML"),
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
    with pytest.raises(hw.HardwireError, match="there is no file"):
        study.describe(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(hw.HardwireError, match="is not UTF-8 text"):
        study.describe(tmp_path / "bytes.toml")


def test_a_study_says_how_many_runs_there_are_at_once_and_the_command_may_say_otherwise():
    description = parse(small_studies.SMALL.replace('name = "test"', 'name = "test"\nthreads = 2\nworkers = 1'))
    assert (description.threads, description.workers) == (2, 1)
    assert make_plan(description).workers == 1 and make_plan(description, workers=3).workers == 3
    assert "with 1 at once, 2 threads each" in str(make_plan(description))


GRID = {  # the studies in results/: runs, and what the first line of each promises
    "1-paper-width.toml": 24,
    "2-paper-depth.toml": 5,
    "3-seeds-and-depths.toml": 3 * 3 * 3 * 3 + 3 * 3 * 3,
    "4-cifar.toml": 6 * 2 + 1,
    "5-noise.toml": 2 * 2 * 2 * 3,
    "5-noise-per-sample.toml": 2 * 2 * 2 * 3,
    "6-systems.toml": 19 * 3,
    "8-reading.toml": 8 + 2 + 6 + 3 + 1,
    "9-table-1.toml": (4 * 5 + 2) * 3,
    "10-paper-scale.toml": 9,
    "11-cifar.toml": 2 * 2 + 2,
    "12-mixtures.toml": 4,
    "13-more-systems.toml": 7 * 3,
}


@pytest.mark.parametrize(("name", "runs"), GRID.items())
def test_the_studies_of_the_published_grid_parse_to_the_runs_they_promise(name, runs):
    description = study.describe(Path(__file__).parents[2] / "results" / name)
    assert len(description) == runs
    if description.kind.name == "network":
        assert (description.threads, description.workers) == (2, 1)
        assert {config["batch_size"] for config in description} == {512}
