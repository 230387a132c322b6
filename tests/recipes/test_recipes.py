"""Recipes: files that say how to train, by name or by path, also from strangers; and the defaults."""

from dataclasses import replace

import numpy as np
import pytest
from mutations import MUTATIONS, mutations
from shell import run
from small_runs import same_state

import hardwire as hw
from hardwire import recipes
from hardwire.records import try_recipe
from hardwire.training import Settings
from hardwire.training.recipe_settings import recipe_of, settings_of

SMALL = """
title = "a test"
data = "digits@2"
iterations = 120
batch_size = 64
rates = { all = 0.05, wire_logits = 0.1 }
augment = { flip = false, shift = 0 }

[network]
widths = [60, 40]
method = "hard-st+cage"
wiring = "learned"
candidates = 4
"""


def written(tmp_path, text, name="small.toml"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_an_entry_that_is_missing_or_unknown_is_named(tmp_path):
    for text, message in (
        ("title = ", "is not valid TOML"),
        ("title = 3\nspeed = 4", "unknown entry of a recipe 'speed'"),
        ("title = 3", "lacks data, iterations, batch_size, rates"),
    ):
        with pytest.raises(hw.HardwireError, match=message):
            recipes.load(written(tmp_path, text, "bad.toml"))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            '[[layers]]\nkind = "logic"\ninputs = 320\nneurns = 20',
            "layer 0, logic, cannot be built: .*'neurns'|'neurons'",
        ),
        ("augment = { flop = true }\n[network]\nwidths = [20]", "augment cannot be built: .*'flop'"),
        ("redraw = { evry = 5 }\n[network]\nwidths = [20]\nwiring = 'learned'", "redraw cannot be built: .*'evry'"),
        ("[network]\nwidths = [20]\ninptus = 3", "inptus"),
    ],
)
def test_names_that_nothing_takes_are_mistakes_of_the_recipe(tmp_path, entry, message):
    text = f'title = "t"\ndata = "digits"\niterations = 5\nbatch_size = 32\nrates = {{ all = 0.02 }}\n{entry}\n'
    with pytest.raises(hw.HardwireError, match=message):
        try_recipe(recipes.load(written(tmp_path, text, "bad.toml")))


HEAD = 'title = "t"\ndata = "digits"\niterations = 5\nbatch_size = 32\nrates = { all = 0.02 }\n'


@pytest.mark.parametrize(
    "name", ["../escaped", "/tmp/escaped", "a/b", "..", ".hidden", "a\\\\b", "", "x" * 101, "a\\nb"]
)
def test_a_recipe_cannot_name_files_outside_its_folder(tmp_path, name):
    with pytest.raises(hw.HardwireError, match="cannot name files"):
        recipes.load(written(tmp_path, f'name = "{name}"\n{HEAD}'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a." * 30_000 + "a = 1", "32 dots"),
        ("a = {" + "a." * 30_000 + "a = 1}", "32 dots"),
        ("a = " + "[" * 30_000, "nested too deeply"),
        ("a = " + "9" * 5_000, "valid TOML: a number in it has thousands of digits$"),
        ("a = " + "{a=" * 20_000, "nested too deeply"),
        ("iterations = " + "9" * 5_000, "not valid TOML"),
        ("# " + "x" * 300_000, "longer than 256 kB"),
        ("title = 3", "lacks data"),
        (HEAD + f"seed = {'9' * 4000}", "seed is above"),
        (HEAD + "seed = true", "seed True is not a whole number"),
        (HEAD.replace("iterations = 5", "iterations = -5"), "iterations -5"),
        (HEAD.replace("iterations = 5", "iterations = 5e9"), "iterations 5000000000.0"),
        (HEAD.replace('"t"', "1979-05-27"), "title is datetime.date.*must be text"),
        (HEAD.replace("{ all = 0.02 }", "0.02"), "rates is 0.02; it must be a table"),
        (HEAD.replace("{ all = 0.02 }", "{ wires = 0.02 }"), 'need an entry "all"'),
        (HEAD.replace("0.02", "nan"), "learning rate of 'all' is nan"),
        (HEAD.replace("0.02", "[1]"), r"learning rate of 'all' is \[1\]"),
        (HEAD + "layers = [1]", "must be tables"),
        (HEAD + "[network]\nwidths = [20]\nclasses = 3", "network set classes"),
        (HEAD + "[network]\nwidths = 'wide'", "widths are 'wide'"),
        (HEAD + "[network]\nwidths = [[20]]", r"width \[20\] is not a whole number"),
        (HEAD + "[network]\nwidths = [20]\nmethod = 3", "method is 3; it must be text"),
        (HEAD + "augment = { shift = 'far' }", "shift 'far' is not a whole number"),
        (HEAD + "[[layers]]\nkind = [1]", "unknown kind of layer"),
        (HEAD.replace('"digits"', '"digits@' + "9" * 5000 + '"'), "thresholds per pixel"),
    ],
)
def test_a_hostile_recipe_is_one_line(tmp_path, text, message):
    with pytest.raises(hw.HardwireError, match=message) as raised:
        try_recipe(recipes.load(written(tmp_path, text, "bad.toml")))
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 600


def test_a_recipe_that_is_not_text_or_not_there_is_one_line(tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b'title = "\xff\xfe"')
    for name, message in (
        ("bytes.toml", "not UTF-8 text, at byte 9"),
        ("none.toml", "there is no file"),
        ("folder.toml", "cannot read"),
    ):
        (tmp_path / "folder.toml").mkdir(exist_ok=True)
        with pytest.raises(hw.HardwireError, match=message):
            recipes.load(str(tmp_path / name))


def test_a_damaged_recipe_is_built_or_is_one_line(tmp_path):
    data = hw.data.load("digits@2")
    for content in mutations((SMALL + "seed = 3\n").encode(), MUTATIONS):
        (tmp_path / "bad.toml").write_bytes(content)
        try:
            recipe = recipes.load(str(tmp_path / "bad.toml"))
            if sum(recipe.network.get("widths", [])) < 10_000:  # a large network is no mistake
                settings_of(recipe).network(data)
        except hw.HardwireError as error:
            assert "\n" not in str(error) and len(str(error)) < 1000


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_of_the_package_is_the_same_after_settings_and_text(tmp_path, name):
    recipe = recipes.load(name)
    settings = settings_of(recipe)
    again = recipes.load(written(tmp_path, recipe_of(settings, 10).text()))
    assert replace(settings_of(again), recipe=settings.recipe) == settings
    assert settings.recipe == name and settings.file_name(10) == f"{name}-seed0.safetensors"
    assert recipes.load(written(tmp_path, recipe.text(), f"{name}.toml")) == recipe


def test_what_is_replaced_in_a_recipe_shows_in_the_name_of_its_model():
    recipe = recipes.load("mnist-8k")
    names = [
        settings_of(recipe, dataset, **given).file_name(10)
        for dataset, given in [
            (None, {}),
            (None, {"seed": 1}),
            (None, {"width": 100}),
            ("digits", {}),
            (None, {"iterations": 5}),
        ]
    ]
    assert names[:2] == ["mnist-8k-seed0.safetensors", "mnist-8k-seed1.safetensors"] and len(set(names)) == len(names)
    smaller = settings_of(recipe, "digits", width=100, depth=3, tau=0.5, epochs=2.0)
    assert smaller.sizes(10) == [100] * 3 and (smaller.tau, smaller.iterations, smaller.epochs) == (0.5, None, 2.0)
    assert settings_of(recipe, wiring="random").redraw is None


def test_python_and_the_command_line_train_the_same_network_from_a_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, SMALL.replace("iterations = 120", "iterations = 20"))
    trained = hw.train(recipe=path, progress=False)
    run("train", "--recipe", path, "-o", "m.safetensors")
    assert same_state(trained.net, hw.load("m.safetensors"))
    assert trained.settings.schedule == "cosine" and trained.data.name == "digits@2"
    changed = hw.train("digits@1", recipe=path, width=50, depth=1, iterations=3, progress=False)
    assert changed.net.widths == [50] and changed.net.inputs == 64 and changed.history.final.iteration == 3


def test_python_and_the_command_line_share_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = replace(
        recipes.BITS, width=60, depth=1, wiring="learned", candidates=4, redraw={"every": 3}, iterations=10,
        batch_size=32, schedule="cosine", augment={"shift": 1}, options={"wire_gradient": "mixture"},
    )  # fmt: skip
    monkeypatch.setitem(recipes.DEFAULTS, "bits", changed)
    trained = hw.train("digits", progress=False)
    run("train", "digits", "-o", "m.safetensors")
    assert same_state(trained.net, hw.load("m.safetensors"))
    assert trained.net.layers[0].wire_logits.shape == (2, 60, 4) and trained.settings.augment == {"shift": 1}
    given = hw.train(hw.data.load("digits"), iterations=5, wiring="random", method="soft-mix", progress=False)
    assert given.settings.redraw is None and given.settings.options == {} and given.settings.schedule == "cosine"


def test_images_tables_and_other_bits_have_defaults_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setitem(recipes.DEFAULTS, "images", replace(recipes.IMAGES, width=70, levels=3))
    monkeypatch.setitem(recipes.DEFAULTS, "bits", replace(recipes.BITS, width=80))
    datasets = ("mnist", "mnist@2", "mnist-binary", "digits", "own.npz", "t.csv#y")
    names = {name: Settings.for_dataset(name) for name in datasets}
    assert {name: settings.dataset for name, settings in names.items()} == {
        "mnist": "mnist@3",
        "mnist@2": "mnist@2",
        "mnist-binary": "mnist-binary",
        "digits": "digits",
        "own.npz": "own.npz",
        "t.csv#y": "t.csv#y",
    }
    assert [settings.sizes(10)[0] for settings in names.values()] == [70, 70, 70, 80, 80, recipes.TABLES.width]
    x = np.random.default_rng(0).integers(0, 2, (40, 6))
    data = hw.data.from_arrays((x, x[:, 0]), (x, x[:, 0]), name="mine")
    assert hw.train(data, iterations=2, progress=False).net.widths == [80, 80]


def test_neither_a_dataset_nor_a_recipe_is_one_line():
    with pytest.raises(hw.HardwireError, match="name a dataset to train on, or a recipe"):
        hw.train()
    with pytest.raises(hw.HardwireError, match="unknown recipe 'mnist-8'; did you mean mnist-8k"):
        hw.train(recipe="mnist-8")


def test_show_settings_prints_a_recipe_that_trains_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["--width", "60", "--depth", "1", "--iterations", "6", "--method", "hard-st+cage", "--seed", "3"]
    shown = run("train", "digits", *given, "--show-settings")
    written(tmp_path, shown, "shown.toml")
    assert not list(tmp_path.glob("*.safetensors"))
    run("train", "digits", *given, "-o", "first.safetensors")
    run("train", "--recipe", "shown.toml", "-o", "second.safetensors")
    first, second = hw.load("first.safetensors"), hw.load("second.safetensors")
    assert same_state(first, second) and second.seed == 3
