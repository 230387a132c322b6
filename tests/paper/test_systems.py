"""The systems as a study end to end, on a few iterations, and their verdicts on made-up results."""

import re

import pytest
import small_studies
import torch

import hardwire as hw
from hardwire import study
from hardwire.study.description import parse
from hardwire.study.kinds import StudyJob, find_kind
from hardwire.study.plan import make_plan
from hardwire.systems import deploy
from hardwire.training import TrainingRun
from hardwire_paper.systems.catalog import ROWS, RUNS, SYSTEMS, search_network
from hardwire_paper.systems.train import load, run
from hardwire_paper.systems.two_levels import TwoLevels, retrain
from hardwire_paper.systems.verdicts import judge

DESCRIPTION = 'name = "s"\nkind = "systems"\nseeds = {seeds}\niterations = {iterations}\nruns = {runs}\n'


def described(runs, seeds=(0,), iterations=2):
    text = DESCRIPTION.format(seeds=list(seeds), iterations=iterations, runs=list(runs))
    return parse(text.replace("'", '"'))


def result(name, seed, method, deployed, soft=None):
    point = {"iteration": 5, "method": method, "deploy": deployed}
    measured = {"gap.method": method, "gap.deploy": deployed, "deployed": deployed, "confidence": 0.5, "dead": 1}
    measured |= {"choices": 8} | ({} if soft is None else {"deployed_soft": soft})
    return study.Result("key", study.Config.of("systems", {"run": name, "seed": seed}), "test", [point], measured)


def holds(results):
    return {verdict.row.title: verdict.holds for verdict in judge(results)}


def test_a_run_is_the_same_every_time_and_leaves_the_generator_alone(tmp_path):
    state = torch.get_rng_state()
    (config,) = described(["gdas"], [1], 3)
    first, second = (run(StudyJob(config, tmp_path / name)) for name in ("one", "two"))
    assert torch.equal(torch.get_rng_state(), state)
    assert first.measurements == second.measurements
    assert [{**record, "seconds": 0} for record in first.records] == [{**r, "seconds": 0} for r in second.records]
    assert first.measurements["deployed"] == first.measurements["gap.deploy"]
    assert [record["iteration"] for record in first.records] == [1, 2, 3]


class _Stop(Exception):
    pass


@pytest.mark.parametrize("name", ["gdas", "search-hard-st-cage", "darts-two-level"])
def test_a_run_that_is_cut_off_ends_like_one_that_was_not(tmp_path, name):
    (config,) = described([name], [0], 20)
    whole = run(StudyJob(config, tmp_path / "whole"))

    def stop(iteration, iterations, record):
        if iteration == 10:
            raise _Stop

    with pytest.raises(_Stop):
        run(StudyJob(config, tmp_path / "part", report_progress=stop))
    told = []
    resumed = run(StudyJob(config, tmp_path / "part", report_progress=lambda iteration, *rest: told.append(iteration)))
    assert told[0] == 10 and resumed.measurements == whole.measurements


def test_in_two_levels_weights_and_logits_learn_from_rows_of_their_own(tmp_path):
    system, rows = SYSTEMS["search"], load("search")[0]
    levels = TwoLevels(system, rows, 0)
    assert len(levels.weight_rows[0]) + len(levels.logit_rows[0]) == len(rows[0])
    model = search_network(method="soft-mix", seed=0)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    moved = []

    class Watch(hw.Callback):
        def on_step(self, step):
            moved.append({n for n, p in model.named_parameters() if not torch.equal(p, before[n])})

    hw.fit(model, (levels.weight_rows, rows), 1, 8, callbacks=[_Starts(levels), Watch()], progress=False)
    assert moved[0] and not any(name.endswith("logits") for name in moved[0])  # the weights' step
    levels.on_step(TrainingRun(model, torch.optim.Adam(model.parameters()), 1))
    changed = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])} - moved[0]
    assert changed == {name for name in before if name.endswith("logits")}


class _Starts(hw.Callback):
    """Only what `TwoLevels` does before the first step."""

    def __init__(self, levels):
        self.on_start = levels.on_start


def test_a_network_is_retrained_from_scratch_and_not_from_the_searchs_weights(tmp_path):
    model = search_network(method="soft-mix", seed=0)
    deployed = deploy(model)
    old = [p.detach().clone() for p in deployed.parameters()]
    new = retrain(deployed, SYSTEMS["search"], load("search")[0], 1, 5, tmp_path / "again")
    assert not any(torch.equal(a, b) for a, b in zip(old, new.parameters(), strict=True) if a.ndim > 1)
    assert not any(isinstance(module, hw.Choice) for module in new.modules())


def test_expert_choice_is_judged_in_batches_and_row_by_row():
    def made(seed, alone):
        run_result = result("expert-choice", seed, 0.95, 0.95)
        run_result.measurements["deployed_alone"] = alone
        return run_result

    assert holds([made(seed, 0.94) for seed in range(3)]) == {
        "Expert Choice, deployed in batches of 1,000": True,
        "Expert Choice, deployed row by row": False,
    }


def test_systems_and_networks_share_a_store_and_a_report(tmp_path):
    path = tmp_path / "study.sqlite"
    progress = small_studies.run_here(described(["darts", "search-hard-st"], [0, 1]), path)
    assert progress.done == 4
    with study.Store(path, create=True) as store:
        small_studies.put(store, small_studies.made_result(dataset="digits", width=100))
    page = study.report(path, tmp_path / "report", png=True).read_text()
    names = re.findall(r'\bid="([^"]+)"', page)
    assert {"systems", "systems-gaps-data", "settings"} <= set(names) and len(names) == len(set(names))
    text = (tmp_path / "report/tables/systems.csv").read_text()
    assert "DARTS-style cell (soft-mix)" in text and "Hard-ST cell" in text
    assert (tmp_path / "report/figures/systems-gaps.png").read_bytes().startswith(b"\x89PNG")


def test_every_row_has_a_run_and_every_run_builds_its_model():
    assert {row.run for row in ROWS} == set(RUNS)
    for name, experiment in RUNS.items():
        settings = {key: value for key, value in experiment.settings.items() if key != "tau"}
        model = SYSTEMS[experiment.system].build(seed=0, **settings)
        side = 8 if experiment.system == "search" else 28
        out = model(torch.rand(2, 1, side, side))
        assert out.shape == ((2, 1, 28, 28) if experiment.system == "codebook" else (2, 10)), name


def test_the_plan_times_each_system():
    plan = make_plan(described(["gdas"], [0, 1], iterations=100), 1, 1)
    assert len(plan.costs) == 2 and plan.seconds > 0


def test_no_gap_means_exactly_none_in_every_seed():
    same = [result("switch", seed, 0.9, 0.9) for seed in range(3)]
    assert holds(same) == {"Switch top-1, load balance 0.01": True}
    assert not any(holds([*same[:2], result("switch", 2, 0.9, 0.8999)]).values())


def test_a_gap_must_be_notable_and_positive_in_every_seed():
    title = "DARTS-style cell (soft-mix)"
    assert holds([result("darts", seed, 0.95, 0.9) for seed in range(3)])[title]
    assert not holds([result("darts", seed, 0.95, 0.945) for seed in range(3)])[title]
    assert not holds([result("darts", 0, 0.95, 0.5), result("darts", 1, 0.95, 0.96)])[title]


def test_a_small_gap_is_less_than_half_of_the_soft_one_by_size():
    soft = [result("gumbel-soft", 0, 0.010, 0.012)]  # 20 percent of the loss
    title = "Gumbel-softmax codebook, straight-through"
    assert holds([*soft, result("gumbel-st", 0, 0.010, 0.0105)])[title]
    assert not holds([*soft, result("gumbel-st", 0, 0.010, 0.0085)])[title]
    with pytest.raises(hw.HardwireError, match="judged against gumbel-soft"):
        judge([result("gumbel-st", 0, 0.010, 0.0105)])


def test_one_run_is_judged_deployed_soft_and_deployed_hard():
    verdicts = holds([result("soft-gating", seed, 0.95, 0.9, soft=0.95) for seed in range(3)])
    assert verdicts == {"soft gating, deployed soft": True, "soft gating, deployed top-1": True}


def test_an_unknown_run_is_named_with_the_nearest():
    with pytest.raises(hw.HardwireError, match="unknown run 'dart'; did you mean darts"):
        described(["dart"])
    assert find_kind("systems").label(described(["darts"]).configs[0]) == "darts seed 0"
