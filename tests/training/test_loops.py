"""Loops as settings: which part of a row a shorter sequence is, the cell that is built, resumed runs, recipes."""

from pathlib import Path

import numpy as np
import pytest
import torch

import hardwire as hw
from hardwire.errors import HardwireError
from hardwire.training import Settings
from hardwire.training.loops import Loop, rates_for, shortened
from hardwire.training.recipe_settings import recipe_of, settings_of

ROWS, STEPS, VALUES = 120, 6, 2


def arrays(labels_of_steps=True, rows=ROWS, dtype=np.uint8):
    x = np.random.default_rng(0).integers(0, 2, (rows, STEPS, VALUES)).astype(dtype)
    parity = x[:, :, 0].astype(int).cumsum(1) % 2
    return x, parity if labels_of_steps else parity[:, -1]


def dataset(labels_of_steps=True, **options):
    x, y = arrays(labels_of_steps, **options)
    return hw.data.from_arrays((x[:80], y[:80]), (x[80:], y[80:]))


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The name of an .npz of sequences with a label after each step."""
    monkeypatch.chdir(tmp_path)
    x, y = arrays()
    np.savez("parity.npz", x_train=x[:80], y_train=y[:80], x_test=x[80:], y_test=y[80:])
    return "parity.npz"


def settings(file, **given):
    loop = {"state": 4, "curriculum": [2, 4]} | given.pop("loop", {})
    return Settings.for_dataset(file, loop=loop, iterations=8, batch_size=16, evaluate_every=4, **given)


def test_a_label_after_each_step_makes_the_last_one_that_of_the_row():
    data = dataset()
    _, y = arrays()
    assert data.train.y.tolist() == y[:80, -1].tolist()
    assert data.train.step_labels.tolist() == y[:80].tolist()
    first, last = data.train.hold_out(0.25)
    assert first.step_labels.tolist() == y[:60].tolist() and last.step_labels.tolist() == y[60:80].tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_shorter_sequence_is_the_beginning_of_a_row_with_labels_of_steps_and_else_its_end(dtype):
    x, y = arrays(dtype=dtype)

    def bits(split):
        return split.x.unpack().numpy() if isinstance(split.x, hw.Bits) else split.x.numpy()

    short = shortened(dataset(dtype=dtype), STEPS, 2)
    assert (bits(short.train) == x[:80, :2].reshape(80, -1)).all()
    assert short.train.y.tolist() == y[:80, 1].tolist()
    ends = shortened(dataset(False, dtype=dtype).with_validation(), STEPS, 2)
    assert (bits(ends.test) == x[80:, -2:].reshape(40, -1)).all()
    assert ends.test.y.tolist() == y[80:, -1].tolist()
    assert ends.held_out is not None and ends.held_out.x.shape[1] == 2 * VALUES


def test_the_cell_makes_the_state_and_equally_many_votes_for_each_class(file):
    net = settings(file, width=21, depth=2).network(hw.data.load(file))
    (loop,) = net.layers
    assert [layer.neurons for layer in loop.cell] == [21, 4 + 18]
    assert (loop.steps, loop.bits, loop.state, loop.output_bits) == (6, 2, 4, 18)
    tables = settings(file, width=20, depth=2, arity=4, wiring="random", start="normal").network(hw.data.load(file))
    assert isinstance(tables.layers[0].cell[0], hw.LutLayer)


def test_learning_rates_fall_with_the_lengths():
    assert rates_for(0.1, [8]) == [0.1]
    assert rates_for(0.1, [2, 4, 8]) == pytest.approx([0.1, 0.07, 0.04])


def test_a_run_that_was_interrupted_at_a_length_ends_with_the_same_bits(file):
    class Interrupt(hw.Callback):
        def on_step(self, run):
            if run.net.inputs == 4 * VALUES and run.iteration == 5:
                raise KeyboardInterrupt

    whole = settings(file).prepare("whole.safetensors")
    history = whole.run(progress=False)
    assert history.split == "validation" and not list(whole.out.parent.glob("*.checkpoint*"))
    job = settings(file).prepare("stopped.safetensors")
    with pytest.raises(KeyboardInterrupt):
        job.run(callbacks=[Interrupt()], progress=False)
    assert [path.name[-7:] for path in job.checkpoints if path.exists()] == ["steps-2", "steps-4"]
    again = settings(file).prepare("stopped.safetensors")
    again.run(callbacks=[hw.Callback()], progress=False)
    for one, other in zip(whole.net.parameters(), again.net.parameters(), strict=True):
        assert torch.equal(one, other)
    assert again.finished()


def test_a_recipe_keeps_its_loop_and_may_list_the_layers_of_its_cell(file, tmp_path):
    data = hw.data.load(file)
    text = recipe_of(settings(file), data.classes).text()
    (tmp_path / "loop.toml").write_text(text)
    read = settings_of(hw.recipes.load("loop.toml"))
    assert read.loop == {"state": 4, "curriculum": [2, 4]} and read.keep_best
    layers = [{"kind": "logic", "inputs": 4 + VALUES, "neurons": 30}, {"kind": "logic", "inputs": 30, "neurons": 4 + 8}]
    net = Settings(file, layers=layers, loop={"state": 4}).network(data)
    assert net.layers[0].state == 4 and net.widths == [8]


def test_a_loop_without_a_curriculum_trains_the_whole_length_at_once(file):
    trained = hw.train(file, loop={"state": 4, "outputs": "sum", "initial": "learned"}, iterations=3, progress=False)
    assert trained.history.final.iteration == 3 and trained.net.layers[0].outputs == "sum"


@pytest.mark.parametrize(
    ("loop", "others", "says"),
    [
        ({"state": 0}, {}, "state 0 is not a whole number of at least 1"),
        ({"steps": 5}, {}, "cannot be cut into 5 equal steps"),
        ({"steps": 3}, {}, "labels after 6 steps of a row, not after 3"),
        ({"curriculum": [4, 2]}, {}, "does not ascend"),
        ({"curriculum": [8]}, {}, "a length of 8 is more than the 6 steps"),
        ({"curriculum": 3}, {}, "it is a list of lengths"),
        ({"outputs": "all"}, {}, "unknown outputs 'all'"),
        ({"initial": "input"}, {}, "unknown initial 'input'"),
        ({"stat": 3}, {}, "loop cannot be built"),
        ({"state": 30}, {"width": 30}, "has none left to vote"),
        ({}, {"widths": (8, 4)}, "no vote is left"),
        ({}, {"epochs": 2}, "leave out epochs"),
        ({}, {"choose": {"pool": 2}}, "a loop has none but its cell"),
        ({"curriculum": []}, {"layers": [{"kind": "logic", "inputs": 9, "neurons": 12}]}, "has 2 more, not 5"),
    ],
)
def test_a_wrong_loop_is_one_line(file, loop, others, says):
    with pytest.raises(HardwireError, match=says) as error:
        given = {"iterations": 8} if "epochs" not in others else {}
        loop = {"state": 4, "curriculum": [2]} | loop
        Settings.for_dataset(file, loop=loop, **given, **others).network(hw.data.load(file))
    assert "\n" not in str(error.value)


def test_labels_of_other_steps_than_the_rows_have_are_one_line():
    x, y = arrays()
    with pytest.raises(HardwireError, match="or one after each of the 6 steps of a row"):
        hw.data.from_arrays((x, y[:, :5]), (x, y[:, :5]))


def test_a_table_has_no_steps(file):
    Path("rows.csv").write_text("a,b\n" + "1.5,0\n2.5,1\n" * 20)
    with pytest.raises(HardwireError, match="its rows have no steps"):
        Loop(4).steps_in(hw.data.load("rows.csv#b"))
