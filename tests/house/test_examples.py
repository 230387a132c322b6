"""The scripts of examples/ run as they stand, in an empty folder, and what they print is true of what they do."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """play(name) -> what the script prints, and its names."""
    monkeypatch.chdir(tmp_path)

    def run(name):
        (path,) = [path for path in EXAMPLES if path.stem == name]
        names = runpy.run_path(str(path))
        return capsys.readouterr().out, names

    return run


def test_there_are_four_short_ones():
    assert len(EXAMPLES) == 4
    assert all(len(path.read_text().splitlines()) < 50 for path in EXAMPLES)


def test_hard_st_has_no_gap_and_soft_mix_has_one(play):
    said, names = play("measure_the_gap")
    assert names["gap"].selection == 0 and names["history"].column("selection") == [0.0] * 5
    assert float(re.search(r"soft-mix: .* at its peak \+([\d.]+)", said)[1]) > 5


def test_own_arrays_stop_early_and_keep_the_best_state(play):
    import hardwire as hw

    said, names = play("your_own_arrays")
    net, data, history = names["net"], names["data"], names["history"]
    assert history.best.iteration < history.final.iteration < 1_000
    held_out = data.with_validation(0.2)
    assert hw.measure_gap(net, held_out.validation).deploy == history.best.deploy
    assert history.best.deploy > 0.9 and f"{history.best.deploy:.1%} of the validation rows" in said


def test_an_own_loop_counts_four_batches_as_one_step(play):
    said, names = play("your_own_loop")
    steps = 15 * (len(names["loader"]) // 4)
    assert names["net"].selector.steps == steps and f"{steps} steps of 4 batches" in said
    assert names["net"].tau < 3.0  # CAGE has moved


def test_a_network_becomes_a_c_file(play, tmp_path):
    said, names = play("from_network_to_c")
    assert "equal" in said and len(names["small"].netlist.gate) < 600
    assert "digits_predict" in (tmp_path / "digits.h").read_text() and (tmp_path / "digits.c").exists()
