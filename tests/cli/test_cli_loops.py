"""`hardwire train` on sequences: from an .npz to a loop, its gap, its predictions and a circuit with registers."""

import numpy as np
import pytest
from shell import call, run

import hardwire as hw
from hardwire.errors import HardwireError

TRAIN = ("train", "parity.npz", "--state", "8", "--curriculum", "2,4", "--iterations", "150", "--batch-size", "64",
         "--lr", "0.1", "-o", "loop.safetensors")  # fmt: skip


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).integers(0, 2, (400, 6, 1))
    y = x[:, :, 0].cumsum(1) % 2
    np.savez("parity.npz", x_train=x[:300], y_train=y[:300], x_test=x[300:], y_test=y[300:])


def test_a_loop_is_trained_measured_and_becomes_a_circuit_with_state(file):
    output = run(*TRAIN)
    assert "6 steps after 2, 4 of 1 bits" in output and "circuit build loop.safetensors" in output
    assert "sequences of 4 steps" in output
    gap = call("gap", "loop.safetensors", "--json")
    assert '"total": 0.0' in gap.stdout and "48 gates" in gap.stderr
    run("circuit", "build", "loop.safetensors", "loop.circuit", "--state")
    net, circuit, data = hw.load("loop.safetensors"), hw.Circuit.load("loop.circuit"), hw.data.load("parity.npz")
    answers = circuit.run(data.test.x.unpack().numpy().reshape(100, 6, 1))
    assert (answers[:, -1] == net.predict(data.test.x).numpy()).all()
    assert "100 sequences" in run("circuit", "run", "loop.circuit", "--data", "parity.npz")


def test_the_same_command_again_finds_the_run_finished_and_other_settings_refuse_its_file(file):
    run(*TRAIN)
    assert "is finished" in run(*TRAIN)
    other = call(*TRAIN, "--outputs", "sum")
    assert isinstance(other.exception, HardwireError) and "its loop is" in str(other.exception)


def test_settings_of_a_loop_are_shown_as_a_recipe_that_trains(file, tmp_path):
    shown = run(*TRAIN, "--show-settings")
    assert "loop = { state = 8, curriculum = [2, 4] }" in shown
    (tmp_path / "mine.toml").write_text(shown)
    assert "6 steps after 2, 4" in run("train", "--recipe", "mine.toml", "--iterations", "5", "-o", "mine.safetensors")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--steps", "3"), "--steps is for loops; add --state"),
        (("--state", "8", "--curriculum", "2;4"), "--curriculum '2;4' is not a list of whole numbers such as 2,4,8"),
        (("--state", "8", "--steps", "4"), "cannot be cut into 4 equal steps"),
        (("--state", "8", "--outputs", "first"), "unknown outputs 'first'; choose one of: last, sum"),
    ],
)
def test_wrong_options_of_a_loop_are_one_line(file, options, says):
    result = call("train", "parity.npz", *options)
    assert isinstance(result.exception, HardwireError)
    assert says in str(result.exception) and "\n" not in str(result.exception)
