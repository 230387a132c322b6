"""Runs of the kind `network` as the published grid needs them: of a fixed time, resumed, with noise of both kinds."""

import collections
import time
from pathlib import Path

import pytest
import small_studies
import torch

import hardwire as hw
from hardwire.errors import HardwireError
from hardwire.study.description import load
from hardwire.study.kinds import StudyJob
from hardwire.study.store import Result
from hardwire.training import Record, TrainingRun
from hardwire_paper.networks import arguments
from hardwire_paper.networks.stored import check_result
from hardwire_paper.networks.train import TimeLimit, run
from hardwire_paper.progress import ProgressCallback
from hardwire_paper.runs import NetworkRun


def test_a_run_of_a_fixed_time_counts_the_time_of_all_its_attempts(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    net = hw.LogicNetwork(4, 2, 4, 1)
    resumed = TrainingRun(net, torch.optim.Adam(net.parameters()), 100, iteration=50, seconds=50.0)
    limit = TimeLimit(60.0)
    limit.on_start(resumed)
    assert not resumed.stop
    now += 9.0
    limit.on_step(resumed)
    assert not resumed.stop
    now += 1.0
    limit.on_step(resumed)
    assert resumed.stop
    finished = TrainingRun(net, resumed.optimizer, 100, iteration=50, seconds=60.0)
    limit.on_start(finished)
    assert finished.stop


@pytest.mark.parametrize(
    ("limit", "seconds", "expected"),
    [(None, 30.0, 1 << 40), (120.0, 30.0, 200), (120.0, 0.0, 1 << 40), (120.0, 121.0, 50)],
)
def test_a_run_of_a_fixed_time_says_how_many_iterations_it_will_have_at_its_speed(limit, seconds, expected):
    told = []
    job = StudyJob(None, None, report_progress=lambda *message: told.append(message))
    net = hw.LogicNetwork(4, 2, 4, 1)
    going = TrainingRun(net, torch.optim.Adam(net.parameters()), 1 << 40, iteration=50, seconds=seconds)
    ProgressCallback(job, limit).on_start(going)
    ProgressCallback(job, limit).on_evaluation(going, Record(50, 1.0, seconds))
    assert [message[:2] for message in told] == [(50, expected)] * 2
    assert told[0][2] == {} and told[1][2]["iteration"] == 50


class _Killed(Exception):
    pass


@pytest.mark.parametrize("options", ['start = "residual"', 'noise = "sample"'])
def test_a_noisy_run_that_is_cut_off_ends_like_one_that_was_not(tmp_path, options):
    text = small_studies.SMALL.replace('name = "test"', f'name = "test"\n{options}').replace("[60]", "[20]")
    text = text.replace('methods = ["soft-mix", "hard-st", "gumbel-st+cage"]', 'methods = ["gumbel-st+cage"]')
    config = small_studies.parse(text.replace("[0.5, 2.0]", "[1.0]").replace("[100]", "[20]")).configs[0]
    whole = run(StudyJob(config, tmp_path / "whole"))

    def kill(iteration, iterations, record):
        if iteration == 10:
            raise _Killed

    with pytest.raises(_Killed):
        run(StudyJob(config, tmp_path / "part", report_progress=kill))
    again = run(StudyJob(config, tmp_path / "part"))
    assert again.measurements == whole.measurements
    assert [{**r, "seconds": 0} for r in again.records] == [{**r, "seconds": 0} for r in whole.records]


def test_no_run_is_described_by_two_studies_of_the_results():
    described = collections.defaultdict(list)
    for file in sorted(Path("results").glob("*.toml")):
        for config in load(file):
            described[config.identity].append(file.name)
    assert not {tuple(files) for files in described.values() if len(files) > 1}


def test_the_reading_of_the_straight_through_estimator_is_part_of_what_a_run_is():
    text = small_studies.SMALL.replace('methods = ["soft-mix", "hard-st", "gumbel-st+cage"]', "").replace(
        "0.5, 2.0", "1.0"
    )
    text += "[straight_through.output]\n[straight_through.weights]\n[straight_through.noisy-output]\n"
    names, estimators = collections.defaultdict(set), collections.defaultdict(set)
    for config in small_studies.parse(text + "[methods.gumbel-st]\n[methods.hard-st]\n[methods.soft-mix]\n"):
        selector = hw.LogicNetwork(4, 2, 4, 1, **arguments(config)).selector
        names[config["method"]].add(config.identity)
        estimators[config["method"]].add((selector.surrogate, selector.input_gradient))
    assert {method: len(runs) for method, runs in names.items()} == {"gumbel-st": 3, "hard-st": 2, "soft-mix": 1}
    assert estimators["gumbel-st"] == {("clean", "mixture"), ("noisy", "chosen"), ("noisy", "mixture")}
    assert estimators["hard-st"] == {("clean", "mixture"), ("noisy", "chosen")}


def test_look_up_tables_are_runs_of_a_study_whose_results_a_report_accepts(tmp_path):
    text = small_studies.SMALL.replace('methods = ["soft-mix", "hard-st", "gumbel-st+cage"]', 'methods = ["gumbel-st"]')
    text = text.replace("[0.5, 2.0]", "[1.0]").replace("[60]", "[5]").replace("[100]", "[20]")
    configs = small_studies.parse(text + "[arity.2]\n[arity.4]\nwiring = 'learned'\ncandidates = 4\n").configs
    assert [config["arity"] for config in configs] == [2, 4]
    outcome = run(StudyJob(configs[1], tmp_path / "run"))
    result = Result("key", configs[1], "code", list(outcome.records), dict(outcome.measurements), 1.0, None)
    check_result(result)
    assert NetworkRun.of(result).scale.beyond_paper and "gate_usage" not in outcome.records[0]
    with pytest.raises(HardwireError, match="arity 7 is not from 2 to 6"):
        small_studies.parse("arity = [7]\n" + text)
