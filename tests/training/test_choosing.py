"""Kernels and neurons chosen by how often a small network reads them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.data.rows import NumberSplit
from hardwire.engine.functions import Entries
from hardwire.engine.stack import Level
from hardwire.training.choosing import input_use, trial_checkpoint
from hardwire.training.recipe_settings import recipe_of, settings_of
from hardwire.training.run_settings import forecast_seconds

QUICK = {"pool": 2, "head": 60, "iterations": 6, "candidates": 4, "redraw": 2}
RECIPE = """
title = "two chosen layers"
data = "digits"
iterations = 6
batch_size = 50
rates = { all = 0.03 }

[choose]
pool = 2
head = 60
iterations = 6

[[layers]]
kind = "conv2d"
shape = [5, 8, 8]
kernels = 4
tree_depth = 1
padding = 1
levels = 5

[[layers]]
kind = "or-pool2d"

[[layers]]
kind = "logic"
inputs = 64
neurons = 30

[[layers]]
kind = "logic"
inputs = 30
neurons = 50
groups = 10
"""


@pytest.fixture(scope="module")
def digits():
    return hw.data.load("digits")


def layers(seed=1):
    return [
        hw.LogicConv2d((5, 8, 8), kernels=4, tree_depth=1, padding=1, levels=5, seed=seed),
        hw.OrPool2d(2),
        hw.LogicLayer(64, 30, seed=seed + 1),
        hw.LogicLayer(30, 50, groups=10, seed=seed + 2),
    ]


def state(chosen):
    return [value for layer in chosen.layers for value in layer.state_dict().values()]


def as_written(recipe_text, tmp_path, **changes):
    path = tmp_path / "mine.toml"
    path.write_text(recipe_text)
    return hw.recipes.load(str(path), **changes)


@settings(max_examples=12, deadline=None)
@given(
    arity=st.sampled_from([None, 2, 4]), groups=st.sampled_from([1, 2]), candidates=st.sampled_from([None, 3]),
    numbers=st.permutations(range(6)), count=st.integers(1, 6), seed=st.integers(0, 99),
)  # fmt: skip
def test_kept_kernels_compute_what_they_did(arity, groups, candidates, numbers, count, seed):
    depth = 2 if arity is None else 1
    layer = hw.LogicConv2d(
        (4, 5, 5), 6, tree_depth=depth, padding=1, groups=groups, arity=arity, candidates=candidates, seed=seed
    )
    kept, x = layer.keep(numbers[:count]), torch.rand(9, 100, generator=torch.manual_seed(seed)).round()
    whole = layer.eval()(x).reshape(9, 6, -1)
    assert torch.equal(kept.eval()(x), whole[:, numbers[:count]].reshape(9, -1))
    assert kept.output_shape == (count, 5, 5)


@settings(max_examples=12, deadline=None)
@given(
    make=st.sampled_from([hw.LogicLayer, hw.LutLayer]), numbers=st.permutations(range(8)), count=st.integers(1, 8),
    learned=st.booleans(), method=st.sampled_from([None, "soft-mix", "hard-st+cage"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_kept_neurons_compute_what_they_did(make, numbers, count, learned, method, seed):
    wiring = {"wiring": "learned", "candidates": 3} if learned else {}
    arity = {"arity": 4} if make is hw.LutLayer else {}
    layer = make(12, 8, method=method, seed=seed, input_subset=range(2, 12), **wiring, **arity)
    kept, x = layer.keep(numbers[:count]), torch.rand(9, 12, generator=torch.manual_seed(seed)).round()
    assert torch.equal(kept.eval()(x), layer.eval()(x)[:, numbers[:count]])
    assert kept.selector.method == layer.selector.method and kept.own_choice == layer.own_choice


def test_a_kept_layer_shares_nothing_and_is_frozen_where_the_whole_is():
    layer = hw.LogicLayer(12, 8, seed=0)
    kept = layer.keep([3])
    with torch.no_grad():
        kept.logits += 1
    assert not torch.equal(kept.logits[0], layer.logits[3]) and kept.logits.requires_grad
    assert not layer.requires_grad_(False).keep([3]).logits.requires_grad


@pytest.mark.parametrize("numbers", [[], [8], [-1], [1, 1], [0.5], [[1]]])
def test_numbers_to_keep_must_exist_once(numbers):
    for layer, things in ((hw.LogicLayer(12, 8, seed=0), "neurons"), (hw.LogicConv2d((2, 5, 5), 8, seed=0), "kernels")):
        with pytest.raises(hw.HardwireError, match=f"keep (holds some|names one) of the {things}"):
            layer.keep(numbers)


def test_use_counts_wires_that_a_neuron_depends_on():
    rng = np.random.default_rng(0)
    wires, entries = rng.integers(0, 9, (3, 40)), rng.integers(0, 2, (40, 8))
    entries[:20] = entries[:20, [0, 1, 2, 3, 0, 1, 2, 3]]  # these do not depend on their third input
    level = Level(9, 40, torch.from_numpy(wires.astype(np.int32)), Entries(torch.from_numpy(entries - 0.5).float()))
    expected = np.zeros(9, int)
    for neuron in range(40):
        for side in range(3):
            depends = any(entries[neuron, a] != entries[neuron, a ^ (1 << side)] for a in range(8))
            expected[wires[side, neuron]] += depends
    assert input_use(level).tolist() == expected.tolist()


def test_what_is_used_most_stays_as_it_was_drawn_and_frozen(digits):
    given = layers()
    chosen = hw.choose_by_use(given, digits, **QUICK, progress=False)
    assert [choice.layer for choice in chosen.choices] == [0, 2]
    for choice, drawn in zip(chosen.choices, (8, 60), strict=True):
        kept, lost = choice.use[choice.kept], choice.use.clone()
        lost[choice.kept] = 0
        assert len(choice.use) == drawn and len(kept) == drawn // 2 and kept.min() >= lost.max()
        whole = given[choice.layer].wider(2).keep(choice.kept).state_dict()
        own = chosen.layers[choice.layer].state_dict()
        assert all(torch.equal(whole[name], own[name]) for name in own)
    learns = [any(p.requires_grad for p in layer.parameters()) for layer in chosen.layers]
    assert learns == [False, False, False, True] and chosen.layers[3] is given[3]
    net = hw.LogicNetwork(classes=10, layers=chosen.layers, seed=0)
    hw.fit(net, digits, 3, 50, progress=False)


def test_a_choice_is_deterministic_and_resumed(digits, tmp_path, monkeypatch):
    first = hw.choose_by_use(layers(), digits, **QUICK, checkpoint=tmp_path / "a", progress=False)
    assert trial_checkpoint(tmp_path / "a", 2).exists()
    monkeypatch.setattr(hw.training.trainer.Trainer, "step", lambda self: pytest.fail("it was trained again"))
    again = hw.choose_by_use(layers(), digits, **QUICK, checkpoint=tmp_path / "a", progress=False)
    monkeypatch.undo()
    plain = hw.choose_by_use(layers(), digits, **QUICK, progress=False)
    for other in (again, plain):
        assert all(torch.equal(a, b) for a, b in zip(state(first), state(other), strict=True))
    other_seed = hw.choose_by_use(layers(), digits, **QUICK, seed=1, progress=False)
    assert not torch.equal(first.choices[0].use, other_seed.choices[0].use)


def test_layers_of_tables_and_a_network_of_a_number_are_chosen_too():
    x = torch.rand(90, 8, generator=torch.manual_seed(0)).round()
    rows = NumberSplit(hw.Bits.pack(x), x.sum(1).double())
    data = hw.data.Dataset("sums", rows, rows, classes=1, number=(0.0, 8.0))
    tables = [hw.LutLayer(data.inputs, 12, arity=4, seed=0), hw.LogicLayer(12, 20, seed=1)]
    assert len(hw.choose_by_use(tables, data, **QUICK, progress=False).choices[0].kept) == 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": 1}, "pool"),
        ({"head": 0}, "head"),
        ({"only": [1]}, "layer 1 is not one that learns before the last; those are 0, 2"),
        ({"only": [3]}, "layer 3 is not one"),
        ({"only": []}, "only is"),
        ({"only": "0"}, "only is"),
    ],
)
def test_wrong_arguments_are_one_line(digits, changes, message):
    with pytest.raises(hw.HardwireError, match=message):
        hw.choose_by_use(layers(), digits, **QUICK | changes, progress=False)


def test_what_cannot_be_chosen_is_one_line(digits):
    last = hw.LogicLayer(320, 50, groups=10, seed=0)
    with pytest.raises(hw.HardwireError, match="no layer to choose before the last"):
        hw.choose_by_use([last], digits, **QUICK)
    with pytest.raises(hw.HardwireError, match="chosen on a dataset, not on a tuple"):
        hw.choose_by_use(layers(), (1, 2), **QUICK)
    local = hw.LocalLayer((5, 8, 8), 4, seed=0)
    for change in (lambda: local.wider(2), lambda: local.keep([0])):
        with pytest.raises(hw.HardwireError, match="a layer of kind local"):
            change()


def test_a_recipe_chooses_before_it_trains(tmp_path, monkeypatch):
    monkeypatch.setattr("hardwire.records.running.count_luts", lambda circuit: {})  # takes seconds
    recipe = as_written(RECIPE, tmp_path)
    made = hw.records.run_recipe(recipe, tmp_path / "out")
    assert made["gates"] == 4 * 64 + 3 * 64 + 80 and made["recipe"]["choose"] == recipe.choose
    assert not list((tmp_path / "out").glob("*choose*"))  # checkpoints of trials
    trained = hw.train(recipe=str(tmp_path / "mine.toml"), validation=True)
    assert trained.history.final.deploy == hw.records.try_recipe(recipe).final.deploy
    frozen = [not any(p.requires_grad for p in layer.parameters()) for layer in trained.net.layers]
    assert frozen == [True, True, True, False]


class Clock:
    """A clock by which a step of training takes a second, and nothing else takes time."""

    def __init__(self, monkeypatch):
        self.now, step = 0.0, hw.training.trainer.Trainer.step
        monkeypatch.setattr("time.monotonic", lambda: self.now)

        def slow(trainer):
            self.now += 1
            step(trainer)

        monkeypatch.setattr(hw.training.trainer.Trainer, "step", slow)


def test_the_time_left_holds_all_trials_and_the_training_behind_them(tmp_path, monkeypatch, capsys):
    recipe, clock = as_written(RECIPE, tmp_path, iterations=40), Clock(monkeypatch)
    plain = hw.records.try_recipe(recipe, progress=False)
    took, clock.now = clock.now, 0.0
    shown = hw.records.try_recipe(recipe, progress=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if " it/s" in line]
    assert took == 6 + 6 + 40 and plain.final.deploy == shown.final.deploy
    left = [int(line.split(" left")[0].split(":")[-1]) for line in lines if "left" in line]
    assert left == [*range(51, 39, -1), *range(38, 0, -2)]  # 20 evaluations of the training


def test_a_forecast_leaves_the_network_as_it_was(tmp_path):
    settings = settings_of(
        as_written(RECIPE, tmp_path, iterations=40, redraw={"every": 2}, network={"wiring": "random"})
    )
    data = settings.load()
    net = settings.network(data)
    with pytest.raises(hw.HardwireError, match="no learned wires"):
        forecast_seconds(settings, net, data, {})
    settings = settings_of(as_written(RECIPE, tmp_path, iterations=40))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    assert forecast_seconds(settings, net, data, {"evaluate_every": 10}) > 0
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_stopped_recipe_goes_on_to_the_same_bits(tmp_path):
    class Stop(hw.Callback):
        def on_step(self, run):
            if run.iteration == 3:
                raise KeyboardInterrupt

    settings = settings_of(as_written(RECIPE, tmp_path), evaluate_every=2)
    jobs = [settings.prepare(tmp_path / f"{name}.safetensors") for name in ("plain", "stopped", "resumed")]
    jobs[2].out, jobs[2].checkpoint = jobs[1].out, jobs[1].checkpoint
    jobs[0].run()
    with pytest.raises(KeyboardInterrupt):
        jobs[1].run(callbacks=[Stop()])
    assert jobs[1].checkpoint.exists() and trial_checkpoint(jobs[1].checkpoint, 2).exists()
    jobs[2].run()
    ours, theirs = jobs[2].net.state_dict(), jobs[0].net.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".safetensors", ".safetensors", ".toml"]


def test_a_recipe_with_a_choice_is_written_and_read_back(tmp_path):
    recipe = as_written(RECIPE, tmp_path)
    assert "[choose]\npool = 2" in recipe.text()
    assert as_written(recipe.text(), tmp_path) == recipe
    assert recipe_of(settings_of(recipe), 10).choose == recipe.choose
    assert settings_of(recipe, width=20).choose is None  # its layers are gone
    assert hw.training.Settings("digits", choose={"pool": 2}).choose == {"pool": 2}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"pol": 3}, "choose cannot be built: .*'pol'"),
        ({"pool": 1}, "pool"),
        ({"only": 2}, "only is 2; it must be a list"),
        ({"only": [True]}, "layer"),
        ({"head": "many"}, "head"),
    ],
)
def test_a_wrong_entry_of_a_recipe_is_one_line(tmp_path, entry, message):
    with pytest.raises(hw.HardwireError, match=message):
        settings_of(as_written(RECIPE, tmp_path, choose=entry))
    with pytest.raises(hw.HardwireError, match="choose is 3; it must be a table"):
        as_written(RECIPE, tmp_path, choose=3)
