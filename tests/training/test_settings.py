"""A training run as plain data: its defaults, its file's name, and that a run is not done twice."""

from dataclasses import replace

import numpy as np
import pytest
from small_runs import same_state

import hardwire as hw
from hardwire.models import settings_of
from hardwire.training import Settings, memory_needed
from hardwire.training.recipe_settings import recipe_of
from hardwire.training.train import choose_settings

TINY = Settings("digits", width=50, depth=1, iterations=6, evaluate_every=3, batch_size=16)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_a_recipe_trains_as_fit_does_and_saves_the_model(tmp_path):
    job = TINY.prepare()
    history = job.run()
    net = hw.LogicNetwork(320, 10, 50, 1, seed=0, wiring="structured", shape=(1, 8, 8), levels=5)
    assert hw.fit(net, hw.data.load("digits"), 6, 16, evaluate_every=3) == history
    assert same_state(job.net, net) and same_state(hw.load(job.out), net)
    assert [path.name for path in tmp_path.iterdir()] == [TINY.file_name(10)]
    assert settings_of(job.out)["lr"] == 0.01 and settings_of(job.out)["method"] == "hard-st"


CHANGES = [
    {"dataset": "mnist"}, {"width": 60}, {"depth": 2}, {"width": None, "depth": None, "widths": (60, 50)},
    {"method": "soft-mix"}, {"method": "hard-st+cage"}, {"cage": True}, {"tau": 0.5}, {"wiring": "learned"},
    {"wiring": "learned", "candidates": 4}, {"start": "residual"}, {"iterations": 7},
    {"iterations": None, "epochs": 0.5}, {"batch_size": 17}, {"accumulate": 2}, {"lr": 0.02}, {"validation": True},
    {"arity": 4}, {"validation": True, "stop_early": 3}, {"validation": True, "keep_best": True}, {"seed": 1},
]  # fmt: skip


def test_wires_follow_the_shape_of_images_where_it_is_known(tmp_path):
    def first_layer(dataset, **given):
        return Settings(dataset, width=50, depth=1, **given).network(hw.data.load(dataset)).layers[0]

    layer = first_layer("digits")
    assert layer.wiring_name == "structured"
    row, column = layer.wiring // 5 // 8, layer.wiring // 5 % 8
    assert (row[0] - row[1]).abs().max() <= 3 and (column[0] - column[1]).abs().max() <= 3
    assert first_layer("digits", wiring="random").wiring_name == "random"
    x, y = np.random.default_rng(0).random((20, 12)).astype(np.float32), np.arange(20) % 2
    np.savez("flat.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    assert first_layer("flat.npz").wiring_name == "random"


def test_the_file_name_tells_runs_apart_by_every_setting_that_changes_the_result():
    names = [replace(TINY, **change).file_name(10) for change in ({}, *CHANGES)]
    assert names[0] == "digits-hard-st-tau1-50x1-6it-batch16-seed0.safetensors"
    assert names[6] == names[7] == "digits-hard-st+cage-50x1-6it-batch16-seed0.safetensors"
    assert len(set(names)) == len(names) - 1  # CAGE has two ways to be asked for
    assert replace(TINY, engine="reference", evaluate_every=2).file_name(10) == names[0]
    chooses = replace(TINY, validation=True, keep_best=True)
    assert chooses.file_name(10) != replace(chooses, evaluate_every=2).file_name(10)


def test_a_finished_run_is_known_by_its_recipe_and_its_data():
    job = TINY.prepare()
    assert not job.finished()
    job.run()
    assert job.finished() and replace(TINY, engine="reference", evaluate_every=2).prepare().finished()
    for change in CHANGES[6:]:
        other = replace(TINY, **change)
        with pytest.raises(hw.HardwireError, match="already exists and belongs to another run: its "):
            other.prepare(out=job.out).finished()


def test_the_defaults_are_those_of_the_command_line():
    settings = Settings("digits")
    assert (settings.iterations, settings.evaluate_every, settings.batch_size, settings.method) == (
        2000,
        200,
        128,
        "hard-st",
    )
    assert settings.sizes(10) == [2000, 2000] and settings.sizes(3) == [2001, 2001]
    assert Settings("digits", epochs=2).iterations is None and Settings("digits", epochs=2).evaluate_every is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau": 1.0, "cage": True}, "either CAGE or tau"),
        ({"tau": 1.0, "method": "gumbel-st+cage"}, "either CAGE or tau"),
        ({"method": "soft-mix", "cage": True}, "soft-mix has none"),
        ({"method": "hard"}, "did you mean hard-st"),
        ({"width": 5, "widths": (5,)}, "not both"),
        ({"stop_early": 2}, "select on validation rows"),
        ({"keep_best": True}, "select on validation rows"),
        ({"arity": 7}, "arity 7 is not from 2 to 6"),
        ({"arity": 4, "layers": ({"kind": "lut"},)}, "in a list of layers, each names its own"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_at_once(settings, message):
    with pytest.raises(hw.HardwireError, match=message):
        Settings("digits", **settings)


def test_arity_makes_layers_of_tables_and_goes_through_recipes_and_estimators(tmp_path):
    settings = replace(TINY, arity=4, wiring="learned", candidates=4)
    (tmp_path / "tables.toml").write_text(recipe_of(settings, 10).text())
    again = choose_settings(None, "tables.toml")
    for net in (settings.prepare().net, again.prepare().net):
        assert [(layer.kind, layer.arity, layer.neurons) for layer in net.layers] == [("lut", 4, 50)]
    x, y = hw.data.load("digits").raw("test"), hw.data.load("digits").test.y.numpy()
    model = hw.LogicClassifier(width=20, depth=1, arity=2, iterations=3, random_state=0).fit(x, y)
    assert [layer.kind for layer in model.network_.layers] == ["lut"]


def test_memory_grows_with_gates_candidates_and_batch():
    assert memory_needed([1000], inputs=100, batch_size=64) == 1000 * 256 + 64 * 1100 // 8
    assert memory_needed([1000, 1000], 100, 64) > memory_needed([1000], 100, 64)
    assert memory_needed([1000], 100, 64, candidates=8) == 1000 * 512 + 64 * 1100 // 8
    assert memory_needed([1000], 100, 64, candidates=8, arity=4) == 1000 * 16 * (16 + 32) + 64 * 1100 // 8
    with pytest.raises(hw.HardwireError, match=r"20,000,000,000,000 neurons .* GB of memory"):
        Settings("digits", width=10**13).prepare()
