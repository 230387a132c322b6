"""The board and the recipes behind it: a small row is tried and run from end to end, on the bundled digits."""

import json
from itertools import combinations

import pytest
from typer.testing import CliRunner

import hardwire as hw
from hardwire import recipes
from hardwire.cli import app
from hardwire.network import layer_seed
from hardwire.records import board, figure, literature, run_recipe, running, try_recipe
from hardwire.records.board import BoardRow, front
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import parameter_groups

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
CONVOLUTION = """
title = "a test"
data = "digits@2"
iterations = 4
batch_size = 32
rates = { all = 0.02, "layers.0" = 0.001 }

[network]
method = "hard-st+cage"

[[layers]]
kind = "conv2d"
shape = [2, 8, 8]
levels = 2
kernels = 4
tree_depth = 2

[[layers]]
kind = "or-pool2d"
size = 2

[[layers]]
kind = "logic"
inputs = 36
neurons = 40
groups = 10
"""


def written(tmp_path, text, name="small.toml"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_recipe_is_tried_on_validation_rows_and_run_with_one_look_at_the_test_set(tmp_path, monkeypatch):
    recipe = recipes.load(written(tmp_path, SMALL))
    history = try_recipe(recipe, progress=False)
    assert history.split == "validation" and history.final.deploy > 0.3
    reads = []
    measure = running.measure_gap
    monkeypatch.setattr(running, "measure_gap", lambda net, rows: reads.append(len(rows)) or measure(net, rows))
    result = run_recipe(recipe, tmp_path / "out", progress=False)
    assert reads == [450]
    assert result == json.loads((tmp_path / "out" / "small.json").read_text())
    assert {row.name for row in board("mnist", by="luts_whole")} == {
        "mnist-1k-tables-long",
        "mnist-8k",
        "mnist-lut-2k",
        "mnist-lut-4k",
    }
    assert [row.counts[:14] for row in hw.records.ours() if row.name == "mnist-lut-2k"] == ["look-up tables"]
    assert result["gates"] == 100 and 0 < result["luts"] < result["luts_whole"] and result["accuracy"] > 30
    parts = result["luts_by_part"]
    assert list(parts) == ["encoder", "gates", "class sums", "argmax"]
    assert parts["gates"] == result["luts"] and sum(parts.values()) == result["luts_whole"]
    circuit = hw.Circuit.load(tmp_path / "out" / "small.circuit")
    data = hw.data.load("digits@2")
    right = (circuit.predict(data.test.x) == data.test.y.numpy()).mean()
    assert 100 * right == pytest.approx(result["accuracy"])


def test_a_row_is_made_without_counting_look_up_tables(tmp_path):
    path, run = written(tmp_path, SMALL), CliRunner().invoke
    shown = run(app, ["records", "run", path, "--iterations", "4", "--no-luts", "-o", str(tmp_path)])
    assert shown.exit_code == 0 and shown.output.splitlines()[-1].endswith(" simplified")
    made = json.loads((tmp_path / "small.json").read_text())
    assert made["luts"] is made["luts_whole"] is made["luts_by_part"] is None and made["simplified"] > 0


def test_layers_of_any_kind_make_a_recipe(tmp_path):
    recipe = recipes.load(written(tmp_path, CONVOLUTION), seed=3)
    net = settings_of(recipe).network(hw.data.load("digits@2"))
    assert [layer.kind for layer in net.layers] == ["conv2d", "or-pool2d", "logic"]
    assert net.layers[2].seed == layer_seed(3, 2)
    groups = {group["lr"]: len(group["params"]) for group in parameter_groups(net, 0.02, {"layers.0": 0.001})}
    assert groups == {0.001: 2, 0.02: 1}
    assert try_recipe(recipe, progress=False).final.iteration == 4


def test_gates_are_counted_without_copies():
    layers = [
        hw.EdgeChannels((5, 8, 8), levels=5, steps=[2]),
        hw.LogicConv2d((9, 8, 8), 3, tree_depth=1, padding=1, channels_per_kernel=1, seed=0),
        hw.LogicLayer(192, 40, seed=0),
    ]
    assert running.count_gates(hw.LogicNetwork(classes=10, layers=layers)) == (16 + 8 + 4 + 3) * 64 + 40


def test_the_front_holds_what_no_row_beats_on_both_axes():
    rows = [
        BoardRow("mnist", str(n), accuracy, gates, "")
        for n, (gates, accuracy) in enumerate([(1, 90), (2, 89), (2, 95), (9, 95)])
    ]
    assert [row.name for row in front(rows)] == ["0", "2"]


def test_the_board_is_sorted_and_every_row_of_the_literature_has_a_source():
    rows = board("cifar10")
    assert [row.gates for row in rows] == sorted(row.gates for row in rows)
    assert all("arXiv" in row.source for row in literature())
    assert len(figure().axes) == 3


def test_no_label_of_the_figure_covers_another_or_leaves_its_panel():
    picture = figure()
    picture.draw_without_rendering()
    for axes in picture.axes:
        boxes = [label.get_window_extent() for label in axes.texts]
        assert len(boxes) > 1 and not any(a.overlaps(b) for a, b in combinations(boxes, 2))
        assert all(axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1 for box in boxes)


def test_every_recipe_of_the_package_builds_its_row(tmp_path):
    for name in recipes.names():
        recipe = recipes.load(name)
        assert recipe.title and recipe.iterations > 0 and "all" in recipe.rates


def test_the_command_prints_the_board_and_says_what_is_wrong(tmp_path):
    run = CliRunner().invoke
    shown = run(app, ["records", "--data", "mnist"])
    assert shown.exit_code == 0 and "LILogicNet" in shown.output and "98.45" in shown.output
    assert run(app, ["records", "figure", "-o", str(tmp_path / "board.svg")]).exit_code == 0
    drawn = (tmp_path / "board.svg").read_text()
    assert drawn.startswith("<?xml") and "LILogicNet</text>" in drawn
    with pytest.raises(
        hw.HardwireError, match=r"cannot be written to 'board.jpeg'; use a name that ends in .svg, .png"
    ):
        run(app, ["records", "figure", "-o", "board.jpeg"], catch_exceptions=False)
    with pytest.raises(hw.HardwireError, match="did you mean mnist"):
        run(app, ["records", "--data", "mnst"], catch_exceptions=False)
    with pytest.raises(hw.HardwireError, match="unknown recipe 'mnist-8'"):
        run(app, ["records", "try", "mnist-8"], catch_exceptions=False)
