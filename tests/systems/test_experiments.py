"""The domains experiment end to end, on a few iterations, and its verdicts on made-up records."""

import json
import re

import pytest
import torch
from typer.testing import CliRunner

import hardwire as hw
from hardwire.cli.domains import app
from hardwire.systems.experiments import read_results, result_file, run_all, run_one
from hardwire.systems.report import judge, markdown_table
from hardwire.systems.systems import ROWS, RUNS, SYSTEMS

QUICK = ("darts", "search-hard-st-cage")


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def record(run, seed, method, deployed, soft=None):
    metric = SYSTEMS[RUNS[run].system].metric
    gap = {"metric": metric, "method": method, "argmax": deployed, "deploy": deployed, "samples": 10}
    usage = {"choices": 8, "dead": 1, "counts": []}
    identity = {"run": run, "system": RUNS[run].system, "settings": {}, "seed": seed, "iterations": 5}
    rest = {"curve": [gap], "deployed": deployed, "deployed_soft": soft, "usage": usage, "confidence": 0.5}
    return {**identity, "gap": gap, **rest}


def holds(records):
    return {verdict.row.title: verdict.holds for verdict in judge(records)}


def test_a_run_writes_one_file_each_and_skips_what_is_there(tmp_path):
    steps = []
    files = run_all(tmp_path, [0, 1], ["darts"], iterations=2, on_step=lambda *step: steps.append(step))
    assert sorted(files) == sorted(tmp_path.iterdir())
    assert steps == [("darts", 0, 1, 2), ("darts", 0, 2, 2), ("darts", 1, 1, 2), ("darts", 1, 2, 2)]
    before = {path: path.stat().st_mtime_ns for path in files}
    files[0].unlink()
    run_all(tmp_path, [0, 1], ["darts"], iterations=2)
    assert [path for path in files if path.stat().st_mtime_ns != before[path]] == [files[0]]


def test_a_run_is_the_same_every_time_and_leaves_the_generator_alone():
    state = torch.get_rng_state()
    first, second = (run_one("gdas", 1, 3) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert first["deployed"] == first["gap"]["deploy"]
    assert sum(first["usage"]["counts"]) == 6  # edges
    assert [point["iteration"] for point in first["curve"]] == [1, 2, 3]


def test_a_file_of_other_settings_is_refused_and_kept(tmp_path):
    run_all(tmp_path, [0], ["darts"], iterations=2)
    path = result_file(tmp_path, "darts", 0)
    before = path.read_bytes()
    with pytest.raises(hw.HardwireError, match="iterations 2, not 3; use another folder"):
        run_all(tmp_path, [0], ["darts"], iterations=3)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"run": "darts"'])
def test_a_file_that_is_no_result_is_named(tmp_path, content):
    path = result_file(tmp_path, "darts", 0)
    path.write_text(content)
    with pytest.raises(hw.HardwireError, match=re.escape(str(path))):
        read_results(tmp_path)


def test_every_row_has_a_run_and_every_run_builds_its_model():
    assert {row.run for row in ROWS} == set(RUNS)
    for name, run in RUNS.items():
        settings = {key: value for key, value in run.settings.items() if key != "tau"}
        model = SYSTEMS[run.system].build(seed=0, **settings)
        side = 8 if run.system == "search" else 28
        out = model(torch.rand(2, 1, side, side))
        assert out.shape == ((2, 1, 28, 28) if run.system == "codebook" else (2, 10)), name


def test_no_gap_means_exactly_none_in_every_seed():
    same = [record("switch", seed, 0.9, 0.9) for seed in range(3)]
    assert holds(same) == {"Switch top-1, load balance 0.01": True}
    assert not any(holds([*same[:2], record("switch", 2, 0.9, 0.8999)]).values())


def test_a_gap_must_be_notable_and_positive_in_every_seed():
    title = "DARTS-style cell (soft-mix)"
    assert holds([record("darts", seed, 0.95, 0.9) for seed in range(3)])[title]
    assert not holds([record("darts", seed, 0.95, 0.945) for seed in range(3)])[title]
    assert not holds([record("darts", 0, 0.95, 0.5), record("darts", 1, 0.95, 0.96)])[title]


def test_a_small_gap_is_less_than_half_of_the_soft_one_by_size():
    soft = [record("gumbel-soft", 0, 0.010, 0.012)]  # 20 percent of the loss
    title = "Gumbel-softmax codebook, straight-through"
    assert holds([*soft, record("gumbel-st", 0, 0.010, 0.0105)])[title]
    assert not holds([*soft, record("gumbel-st", 0, 0.010, 0.0085)])[title]
    with pytest.raises(hw.HardwireError, match="judged against gumbel-soft"):
        judge([record("gumbel-st", 0, 0.010, 0.0105)])


def test_one_run_is_judged_deployed_soft_and_deployed_hard():
    found = holds([record("soft-gating", seed, 0.95, 0.9, soft=0.95) for seed in range(3)])
    assert found == {"soft gating, deployed soft": True, "soft gating, deployed top-1": True}


def test_the_markdown_table_has_a_line_for_each_row():
    lines = markdown_table(judge([record("darts", seed, 0.95, 0.9) for seed in range(2)])).splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| architecture search | DARTS-style cell (soft-mix) | 95.00% | 90.00% | +5.00, +5.00 |")
    assert len({line.count("|") for line in lines}) == 1


def test_the_commands_run_and_report(tmp_path):
    out = tmp_path / "results"
    done = invoke("run", "--out", out, "--seeds", 1, "--only", QUICK[0], "--only", QUICK[1], "--iterations", 1)
    assert done.exit_code == 0, done.output
    assert "darts seed 0: 1 iterations" in done.output
    reported = invoke("report", out, "--markdown")
    assert reported.exit_code == 0, reported.output
    assert "| architecture search | Hard-ST + CAGE cell |" in reported.output
    assert "A row holds if" in reported.output
    assert (out / "domains.png").read_bytes()[:4] == b"\x89PNG"
    assert "</svg>" in (out / "domains.svg").read_text()
    assert "A row holds if" in (out / "domains.md").read_text()
    assert not list(out.glob("*.tmp"))
    assert "Hard-ST + CAGE cell" in invoke("report", out).output
    assert json.loads(result_file(out, "darts", 0).read_text())["seed"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--out", "x", "--only", "nothing"), "unknown run 'nothing'; choose one of: darts"),
        (("report", "nowhere"), "nowhere holds no results; make them with: hardwire domains run"),
    ],
)
def test_mistakes_are_named(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert isinstance(result.exception, hw.HardwireError)
    assert message in str(result.exception)
    assert not list(tmp_path.iterdir())
