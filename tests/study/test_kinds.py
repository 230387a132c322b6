"""A kind of run of one's own: described, planned, run, resumed and reported by a study that has never heard of it."""

import pytest
import small_studies

import hardwire as hw
from hardwire import study
from hardwire.study.checks import positive, whole
from hardwire.study.coordinator import run_study
from hardwire.study.description import parse
from hardwire.study.kinds import find_kind, label
from hardwire.study.plan import make_plan
from hardwire.study.version import code_version


class Falling(study.Kind):
    """A ball that falls from a height; nothing to do with networks."""

    name = "falling"
    axes = (study.Axis("seed", "seeds", whole(0)), study.Axis("height", "heights", positive))

    def run(self, job: study.StudyJob) -> study.Outcome:
        """One record a second; it continues from its checkpoint, a number in a text file."""
        start = int(job.checkpoint.read_text()) if job.checkpoint.exists() else 0
        if start:
            job.report_progress(start, 3, {})
        records = []
        for second in range(start + 1, 4):
            records.append({"iteration": second, "speed": 9.81 * second, "name": "ball"})
            job.checkpoint.write_text(str(second))
            job.report_progress(second, 3, records[-1])
        return study.Outcome(records, {"energy": 9.81 * job.config.number("height")}, 0.1)

    def estimate(self, config: study.Config, threads: int) -> study.Cost:
        return study.Cost(config.number("height"), 1e6, 0.001, "balls")

    def facts(self, configs, known):
        return {} if "g" in known else {"g": 9.81}


DESCRIPTION = 'name = "balls"\nkind = "falling"\nseeds = [0, 1]\nheights = [1.0, 2.5]\n'


@pytest.fixture(autouse=True)
def falling():
    return study.register(Falling())


def test_a_kind_of_ones_own_runs_and_reports_without_a_word_of_its_own(tmp_path):
    path = tmp_path / "balls.sqlite"
    progress = small_studies.run_here(parse(DESCRIPTION), path)
    assert (progress.done, progress.total) == (4, 4)
    with study.Store(path) as store:
        results = store.finished("falling")
        assert store.facts()["g"] == 9.81 and store.finished("network") == []
    assert {result.measurements["energy"] for result in results} == {9.81, 9.81 * 2.5}
    assert all(result.final["speed"] == pytest.approx(29.43) for result in results)
    page = study.report(path, tmp_path / "report").read_text()
    assert "Results: falling" in page and "29.43" in page
    assert "2.5,2,3 ± 0,29.43 ± 0" in (tmp_path / "report/tables/results-falling.csv").read_text()


def test_the_plan_of_a_kind_is_what_it_estimates():
    plan = make_plan(parse(DESCRIPTION), workers=2, threads=1)
    assert plan.seconds == pytest.approx((1 + 1 + 2.5 + 2.5) / 2 + 3.0) and plan.memory == 2e6
    alone = make_plan(parse(DESCRIPTION), workers=100, threads=1)
    assert alone.seconds == pytest.approx(2.5 + 3.0)  # no less than the longest run takes


def test_what_is_done_is_not_planned_again(tmp_path):
    description = parse(DESCRIPTION)
    assert len(make_plan(description, 1, 1, done=description.configs[:3]).costs) == 1


class Listener(study.Watcher):
    def __init__(self):
        self.heard = []

    def progressed(self, study, config, progress):
        self.heard.append((progress.iteration, bool(progress.record)))


def test_a_run_that_is_continued_says_from_where(tmp_path):
    description = parse(DESCRIPTION.replace("[0, 1]", "[0]").replace("[1.0, 2.5]", "[1.0]"))
    key = description.configs[0].key(code_version(description.kind))
    listener = Listener()
    with study.Store(tmp_path / "balls.sqlite", create=True) as store:
        store.work.mkdir()
        (store.work / f"{key}.checkpoint").write_text("2")
        run_study(description, store, small_studies.InProcess(), watcher=listener)
    assert listener.heard == [(2, False), (3, True)]


def test_a_store_with_runs_of_a_kind_that_is_not_installed_still_opens(tmp_path):
    with study.Store(tmp_path / "other.sqlite", create=True) as store:
        config = study.Config.of("knitting", {"seed": 1, "needles": "thick"})
        store.begin("key", config, "test")
        store.fail("key", "no wool")
        ((failed, state),) = store.failures()
    assert failed == config and state.error == "no wool" and label(failed) == "needles thick seed 1"
    with pytest.raises(hw.HardwireError, match="unknown kind of run 'knitting'"):
        find_kind("knitting")


def test_the_name_of_a_run_holds_its_kind_its_values_and_its_code():
    config = study.Config.of("falling", {"seed": 0, "height": 1.0})
    keys = {config.key("1"), config.key("2"), study.Config.of("rising", dict(config.values)).key("1")}
    keys.add(study.Config.of("falling", {"seed": 0, "height": 1}).key("1"))
    assert len(keys) == 4
    assert config == study.Config.of("falling", {"height": 1.0, "seed": 0})
