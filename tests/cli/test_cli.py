"""The command line: help, exit codes, one-line errors, and train and gap from end to end."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from shell import fail, run
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.errors import HardwireError
from hardwire.gates import GATES
from hardwire.models import trained_on

COMMANDS = ("demo", "train", "gap", "gates", "data", "info")
TINY = ["--width", "100", "--batch-size", "32", "--iterations", "40", "--evaluate-every", "20"]


@pytest.fixture(autouse=True)
def wide_terminal_in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


def hardwire(*arguments, **options):
    """`hardwire ...` as a real process."""
    command = [sys.executable, "-c", "from hardwire.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def test_the_help_names_every_command():
    output = run("--help")
    assert all(command in output for command in COMMANDS)
    assert "hardwire demo" in output


def all_commands(group=None, path=()):
    """The words of every command, those of groups included."""
    group = group or typer.main.get_command(cli.app)
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from all_commands(command, (*path, name))


@pytest.mark.parametrize("path", list(all_commands()), ids=" ".join)
def test_every_command_has_help_and_its_flags_stand_alone(path):
    output = run(*path, "--help")
    assert "Usage: " in output and "bool" not in output


def test_the_version_is_the_package_version():
    assert run("--version").splitlines()[0] == f"hardwire {hw.__version__}"


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["demo", "--help"], ["gates"]])
def test_help_and_gates_do_not_load_torch(arguments):
    program = (
        "import sys\nfrom hardwire.cli import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit as exit:\n    assert not exit.code\n"
        "heavy = {'torch', 'matplotlib', 'sklearn'} & set(sys.modules)\nassert not heavy, heavy"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_gates_lists_all_sixteen_with_their_truth_tables():
    lines = run("gates").splitlines()
    for gate in GATES:
        row = next(line for line in lines if f" {gate.index} │ {gate.name} " in line)
        assert gate.boolean in row and gate.formula in row
        assert row.endswith("│ " + " ".join(f" {gate.soft(a, b)}" for a in (0, 1) for b in (0, 1)) + " │")


def test_info_says_versions_and_engine():
    import torch

    output = run("info")
    assert hw.__version__ in output and torch.__version__.partition("+")[0] in output
    assert "reference" in output and "data folder" in output


def test_train_writes_a_model_that_gap_measures_without_being_told_the_data(tmp_path):
    output = run("train", "digits", *TINY, "--history", "numbers/history.json")
    model = tmp_path / "digits-hard-st-tau1-100x2-40it-batch32-seed0.safetensors"
    history = hw.History.from_json(Path("numbers/history.json").read_text())
    assert f"hardwire gap {model.name}" in output
    assert [record.iteration for record in history] == [20, 40]
    assert f"{100 * history.final.deploy:.1f}" in output
    assert {path.name for path in tmp_path.iterdir()} == {model.name, "numbers"}  # no checkpoint is left behind

    net = hw.load(model)
    assert (net.method, net.widths, trained_on(model)) == ("hard-st", [100, 100], "digits")
    output = run("gap", model.name)
    measured = hw.measure_gap(net, hw.data.load("digits").test)
    assert measured.deploy == history.final.deploy
    assert f"{100 * measured.deploy:.1f}" in output and "selection gap" in output and "above the bound" in output


def test_train_takes_method_tau_widths_and_seed():
    run("train", "digits", *TINY[2:], "--widths", "60,40", "--method", "soft-mix", "--tau", "0.5", "--seed", "3")
    net = hw.load("digits-soft-mix-tau0.5-60-40-40it-batch32-seed3.safetensors")
    assert (net.method, net.tau, net.widths, net.seed) == ("soft-mix", 0.5, [60, 40], 3)


def test_train_takes_the_straight_through_estimator():
    run("train", "digits", *TINY, "-o", "paper", "--method", "gumbel-st")
    run("train", "digits", *TINY, "-o", "torch", "--method", "gumbel-st", "--straight-through", "weights")
    selectors = {name: hw.load(name).selector for name in ("paper", "torch")}
    assert {name: (one.surrogate, one.input_gradient) for name, one in selectors.items()} == {
        "paper": ("clean", "mixture"),
        "torch": ("noisy", "chosen"),
    }


def test_cage_is_asked_for_by_name_or_flag_and_off_by_default_as_in_python():
    run("train", "digits", *TINY, "-o", "named", "--method", "gumbel-st+cage")
    run("train", "digits", *TINY, "-o", "flagged", "--method", "gumbel-st", "--cage")
    run("train", "digits", *TINY, "-o", "constant", "--tau", "2")
    run("train", "digits", *TINY, "-o", "plain")
    kinds = {name: type(hw.load(name).selector.temperature).__name__ for name in ("named", "flagged", "constant")}
    assert kinds == {"named": "CAGE", "flagged": "CAGE", "constant": "Constant"}
    plain, python = hw.load("plain"), hw.LogicNetwork(320, 10, 100, 2, seed=0)
    assert type(plain.selector.temperature) is type(python.selector.temperature)
    assert (plain.method, plain.tau) == (python.method, python.tau) == ("hard-st", 1.0)
    assert hw.load("named").state_dict().keys() == hw.load("flagged").state_dict().keys()


def test_train_takes_wiring_start_epochs_and_accumulation():
    options = [
        "--wiring",
        "learned",
        "--candidates",
        "3",
        "--start",
        "residual",
        "--epochs",
        "0.1",
        "--accumulate",
        "2",
    ]
    run("train", "digits", *TINY[:4], *options, "-o", "m", "--history", "h.json")
    net = hw.load("m")
    assert net.layers[0].wire_logits.shape == (2, 100, 3) and net.layers[0].start == "residual"
    assert hw.History.from_json(Path("h.json").read_text()).final.iteration == 3  # 134.7 rows, 64 a step


def test_with_validation_rows_training_stops_early_and_the_table_is_of_the_test_set():
    options = ["--validation", "--stop-early", "1", "--keep-best", "--lr", "1e-9", "--history", "h.json", "-o", "m"]
    output = run("train", "digits", *TINY, "--iterations", "200", *options)
    history = hw.History.from_json(Path("h.json").read_text())
    assert history.split == "validation" and history.column("iteration") == [20, 40]
    assert "1,123 training and 450 test rows, 224 to choose on" in output
    assert f"{100 * hw.measure_gap(hw.load('m'), hw.data.load('digits').test).deploy:.1f}" in output


def test_repeating_a_finished_command_says_so_and_trains_nothing(monkeypatch):
    run("train", "digits", *TINY)
    (model,) = Path().glob("*.safetensors")
    before = model.read_bytes()
    monkeypatch.setattr("hardwire.training.job.train_network", None)
    output = run("train", "digits", *TINY)
    assert f"{model} is finished" in output and f"hardwire gap {model}" in output
    assert model.read_bytes() == before and len(list(Path().iterdir())) == 1


def test_a_model_of_another_run_is_not_overwritten_unless_asked_to(capsys):
    run("train", "digits", *TINY, "-o", "m")
    before = Path("m").read_bytes()
    other = ["train", "digits", *TINY, "--lr", "0.5", "-o", "m"]
    assert "m already exists and belongs to another run: its lr is 0.01, here it is 0.5" in fail(capsys, *other)
    hw.save(hw.LogicNetwork(320, 10, 20, 1, seed=0), "python")
    assert "does not record how it was made" in fail(capsys, "train", "digits", *TINY, "-o", "python")
    assert Path("m").read_bytes() == before
    run(*other, "--no-resume")
    assert Path("m").read_bytes() != before


def test_other_data_under_the_same_name_is_another_run(capsys):
    import numpy as np

    x = np.random.default_rng(0).integers(0, 2, (60, 8))
    command = ["train", "own.npz", "--iterations", "5", "-o", "m"]
    np.savez("own.npz", x_train=x[:40], y_train=x[:40, 0], x_test=x[40:], y_test=x[40:, 0])
    run(*command)
    np.savez("own.npz", x_train=x[:40], y_train=x[:40, 1], x_test=x[40:], y_test=x[40:, 1])
    assert "belongs to another run: its rows is" in fail(capsys, *command)


def test_train_takes_a_dataset_of_three_classes_from_a_file(tmp_path):
    import numpy as np

    x = np.random.default_rng(0).integers(0, 2, (60, 8))
    y = x[:, 0] + x[:, 1]
    np.savez(tmp_path / "own.npz", x_train=x[:40], y_train=y[:40], x_test=x[40:], y_test=y[40:])
    run("train", "own.npz", "--iterations", "5", "--out", "own.safetensors")
    assert hw.load("own.safetensors").widths == [2001, 2001]  # 2000 does not split into three
    assert "own" in run("gap", "own.safetensors")


def test_a_kept_checkpoint_prolongs_a_run():
    run("train", "digits", *TINY, "--checkpoint", "kept", "--out", "short.safetensors")
    longer = ["--iterations", "60", "--checkpoint", "kept", "--out", "long.safetensors", "--history", "long.json"]
    run("train", "digits", *TINY, *longer)
    assert [record["iteration"] for record in json.loads(Path("long.json").read_text())["records"]] == [20, 40, 60]


LONG = ["train", "digits", *TINY, "--iterations", "2000", "--evaluate-every", "100", "--threads", "1", "--out"]


def stop_midway(number, before_start=None):
    """Starts a long training as a process, stops it after its first evaluation, and gives what it said.

    Not as soon as the checkpoint exists: that is written before the first step, and would be of iteration 0.
    """
    command = [sys.executable, "-c", "from hardwire.cli import main; main()", *LONG, "stopped.safetensors"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before_start)
    try:
        assert process.stderr.readline().startswith(b"100/2000 ")
        process.send_signal(number)
        said = process.communicate(timeout=600)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130
    return said.splitlines()[-1]


def test_an_interrupted_run_says_where_its_checkpoint_is_and_the_same_command_continues():
    said = stop_midway(signal.SIGINT)
    assert said == "interrupted: the checkpoint is stopped.safetensors.checkpoint; the same command continues"
    assert re.search(r"resuming at iteration \d[\d,]* of 2,000\n", run(*LONG, "stopped.safetensors"))
    run(*LONG, "whole.safetensors")
    stopped, whole = (hw.load(f"{name}.safetensors").state_dict() for name in ("stopped", "whole"))
    assert all(stopped[name].equal(whole[name]) for name in whole)
    assert not Path("stopped.safetensors.checkpoint").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_a_ctrl_c_that_was_ignored_at_the_start_stop_it_too(number):
    said = stop_midway(number, lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert said == "interrupted: the checkpoint is stopped.safetensors.checkpoint; the same command continues"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "nothing"], "unknown dataset 'nothing'"),
        (["train"], "name a dataset to train on, or a recipe"),
        (["train", "--recipe", "mnist8k"], "did you mean mnist-8k?"),
        (["train", "missing.npz"], "missing.npz"),
        (["train", "digits", "--method", "harder"], "hard-st"),
        (["train", "digits", "--engine", "steam"], "unknown engine 'steam'"),
        (["train", "digits", "--widths", "100,x"], "4000,2000"),
        (["train", "digits", "--widths", "100", "--depth", "1"], "not both"),
        (["train", "digits", "--tau", "0"], "tau 0.0 is not a positive number"),
        (["train", "digits", "--tau", "1", "--cage"], "not both"),
        (["train", "digits", "--tau", "1", "--method", "hard-st+cage"], "not both"),
        (["train", "digit"], "did you mean digits?"),
        (["train", "digits", "--wiring", "rando"], "did you mean random?"),
        (["train", "digits", "--engine", "nativ"], "did you mean native?"),
        (["train", "digits", "--method", "hardst+cage"], "did you mean hard-st+cage?"),
        (["train", "digits", "--iterations", "5", "--epochs", "1"], "either iterations or epochs"),
        (["train", "digits", "--stop-early", "3"], "--validation"),
        (["train", "digits", "--keep-best"], "--validation"),
        (["train", "digits", "--method", "soft-mix", "--cage"], "CAGE"),
        (["train", "digits", "--lr", "nan"], "lr nan"),
        (["train", "digits", "--width", "10000000000000"], "GB of memory"),
        (["train", "digits", "--out", "file/model.safetensors"], "file is not a folder"),
        (["train", "digits", "--out", "."], "it is a folder"),
        (["train", "digits", "--out", "a", "--history", "a"], "named twice"),
        (["train", "digits", "--out", "a", "--checkpoint", "./a"], "named twice"),
        (["demo", "--out", "file"], "file"),
        (["gap", "missing.safetensors"], "there is no file missing.safetensors"),
        (["gap", "file"], "file is not a hardwire-network file"),
        (["data", "fetch", "nothing"], "unknown dataset 'nothing'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, says, capsys):
    Path("file").write_text("not a model")
    assert says in fail(capsys, *arguments)
    assert [path.name for path in Path().iterdir()] == ["file"]


def test_gap_asks_for_the_data_if_the_model_does_not_say(capsys):
    hw.save(hw.LogicNetwork(320, 10, 20, 1, seed=0), "from-python.safetensors")
    assert "hardwire gap from-python.safetensors --data DATASET" in fail(capsys, "gap", "from-python.safetensors")
    assert "digits" in run("gap", "from-python.safetensors", "--data", "digits")


def test_gap_refuses_data_that_the_model_cannot_read(capsys):
    hw.save(hw.LogicNetwork(7, 3, 30, 1, seed=0), "small.safetensors", dataset="digits")
    assert "7 inputs" in fail(capsys, "gap", "small.safetensors")


def test_a_checkpoint_of_other_settings_is_one_line(capsys):
    run("train", "digits", *TINY, "--checkpoint", "kept")
    other = ["train", "digits", *TINY, "--seed", "1", "--checkpoint", "kept"]
    assert "--no-resume" in fail(capsys, *other)
    run(*other, "--no-resume")


def test_a_full_disk_is_one_line(monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "folder/model")

    monkeypatch.setattr(cli, "app", lambda *_, **__: full())
    assert fail(capsys, "train", "digits") == f"error: folder/model: {os.strerror(errno.ENOSPC)}\n"


@pytest.mark.parametrize("arguments", [["--debug", "train", "nothing"], ["train", "nothing", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(arguments):
    with pytest.raises(HardwireError, match="unknown dataset"):
        cli.main(arguments)


@pytest.mark.parametrize("arguments", [["train", "mnits"], ["train", "nowhere.npz"], ["data", "fetch", "mnits"]])
def test_a_mistyped_dataset_is_found_out_before_torch_is_loaded(arguments):
    program = f"""
import sys
from hardwire.cli import main
try:
    main({arguments})
except SystemExit as exit:
    assert exit.code == 2
assert not {{"torch", "sklearn"}} & set(sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_away_from_a_terminal_every_evaluation_is_a_plain_line_with_speed_and_time_left():
    result = hardwire("train", "digits", *TINY)
    first, second = result.stderr.splitlines()
    assert re.match(r"20/40  [\d.]+ it/s  0:0\d left  deployed [\d.]+%  gap ", first)
    assert re.match(r"40/40  [\d.]+ it/s  deployed ", second)
    assert "\x1b" not in result.stdout + result.stderr


def test_as_a_process_a_mistake_has_no_traceback_and_debug_has():
    quiet, loud = hardwire("gap", "missing"), hardwire("gap", "missing", "--debug")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (2, "", "error: there is no file missing\n")
    assert loud.returncode != 0 and "Traceback" in loud.stderr


def test_usage_errors_exit_with_2():
    for arguments in (
        ["no-such-command"],
        ["gates", "--no-such-option"],
        ["gap"],
        ["train", "digits", "--depth", "0"],
    ):
        result = CliRunner().invoke(cli.app, arguments)
        assert result.exit_code == 2 and "Traceback" not in result.output
