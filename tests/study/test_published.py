"""Tests of published results: pieces of studies, other versions of the code, failures, nothing at all."""

import json
import os
import shutil
import subprocess

import pytest
from small_studies import InProcess
from typer.testing import CliRunner

import hardwire as hw
from hardwire import study
from hardwire.cli.study import app
from hardwire.study import Cost, Outcome, Store, kinds, version
from hardwire.study.checks import positive, whole
from hardwire.study.coordinator import run_study
from hardwire.study.published import publish
from hardwire.study.reporting.content import build
from hardwire.study.reporting.studies import studies
from hardwire.study.version import code_version

OLD = "0.1.9+0000aaaa"


class Falling(study.Kind):
    """A ball that falls from a height; quick to run."""

    name = "falling"
    axes = (study.Axis("seed", "seeds", whole(0)), study.Axis("height", "heights", positive))
    broken = False

    def run(self, job):
        if self.broken:
            raise hw.HardwireError("the ball is gone")
        speed = 9.81 * job.config.number("height")
        records = [{"iteration": second, "speed": speed * second} for second in (1, 2)]
        return Outcome(records, {"energy": speed + job.config.whole("seed")}, seconds=60.0)

    def estimate(self, config, threads):
        return Cost(seconds=30.0, memory=1e6, step=0.1, shape="balls")

    def facts(self, configs, known):
        return {} if "weather 1.0" in known else {"weather 1.0": "dry", "weather 7.0": "wet"}


KIND = study.register(Falling())


@pytest.fixture(autouse=True)
def own_kind(monkeypatch):
    """Other tests and pages have kinds of the same name."""
    monkeypatch.setitem(kinds._REGISTRY.kinds, KIND.name, KIND)


@pytest.fixture
def folder(tmp_path):
    """Two studies, as their authors describe them."""
    made = tmp_path / "results"
    made.mkdir()
    (made / "1-low.toml").write_text('name = "low"\nkind = "falling"\nseeds = [0, 1]\nheights = [1.0, 2.0]\n')
    (made / "2-high.toml").write_text('name = "high"\nkind = "falling"\nseeds = [0]\nheights = [7.0]\n')
    return made


def work(path, file, only=lambda config: True, code=None, fail=()):
    """A working store in which these runs of a study are done, by this code or by that of today."""
    description = study.describe(file)
    code = code or code_version(KIND)
    with Store(path, create=True) as store:
        store.add_description(description, code)
        for config in filter(only, description):
            key = config.key(code)
            store.begin(key, config, code)
            if config["height"] in fail:
                store.fail(key, "the ball is gone", "host:1")
            else:
                store.finish(key, KIND.run(study.StudyJob(config, path)), "host:1")
    return path


def published(store_path, folder, **options):
    with Store(store_path) as store:
        return {piece.path.name: piece for piece in publish(store, folder, **options)}


def test_a_study_that_is_half_done_is_published_as_far_as_it_is(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0)
    pieces = published(path, folder)
    assert list(pieces) == ["1-low.sqlite"] and not (folder / "2-high.sqlite").exists()
    assert (pieces["1-low.sqlite"].done, pieces["1-low.sqlite"].total) == (2, 4)
    with Store(path) as before, Store(folder) as after:
        assert after.finished() == before.finished()
        assert [(s.short, s.progress, s.finished) for s in studies(after)] == [
            ("1-low", "2 of 4", False),
            ("2-high", "0 of 1", False),
        ]


def test_the_same_runs_make_the_same_bytes_and_a_later_piece_leaves_the_earlier_file_alone(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml")
    published(path, folder)
    first = (folder / "1-low.sqlite").read_bytes()
    (folder / "1-low.sqlite").unlink()
    published(path, folder)
    assert (folder / "1-low.sqlite").read_bytes() == first
    work(path, folder / "2-high.toml")
    pieces = published(path, folder)
    assert [pieces[name].written for name in ("1-low.sqlite", "2-high.sqlite")] == [False, True]
    assert (folder / "1-low.sqlite").read_bytes() == first


def test_what_is_published_stays_when_the_next_store_has_only_the_rest(tmp_path, folder):
    published(work(tmp_path / "monday.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0), folder)
    tuesday = work(tmp_path / "tuesday.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 1)
    assert published(tuesday, folder)["1-low.sqlite"].done == 4
    with Store(folder) as store:
        assert [len(run.records) for run in store.finished()] == [2, 2, 2, 2]


def test_runs_of_another_version_of_the_code_are_reported_and_named(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("hardwire.study.published.commit", lambda: "0123456789abcdef")
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", code=OLD)
    work(path, folder / "1-low.toml", lambda config: config["seed"] == 0)
    published(path, folder)
    with Store(folder) as store:
        assert sorted(run.code for run in store.finished()) == sorted([OLD] * 2 + [code_version(KIND)] * 2)
        report = build(store)
    now = f"{code_version(KIND)} (commit 0123456789)"
    assert report.facts[0].endswith(f"Code: {', '.join(sorted([OLD, now]))}.")
    assert sorted([OLD, now]) == sorted(_cell(report, "low", "Code").split(", "))


def test_a_run_is_known_although_its_kind_has_got_another_axis_since(tmp_path, folder, monkeypatch):
    published(work(tmp_path / "work.sqlite", folder / "1-low.toml"), folder)
    monkeypatch.setattr(Falling, "axes", (*Falling.axes, study.Axis("wind", "winds", positive, None)))
    with Store(folder) as store:
        assert studies(store)[0].progress == "4 of 4"
    assert not published(tmp_path / "work.sqlite", folder)["1-low.sqlite"].written


def test_a_piece_that_crashed_says_so_until_its_runs_are_done(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", fail=(2.0,))
    piece = published(path, folder)["1-low.sqlite"]
    assert (piece.done, piece.failed, piece.total) == (2, 2, 4)
    with Store(folder) as store:
        report = build(store)
    assert _cell(report, "low", "Runs") == "2 of 4, 2 failed"
    assert "the ball is gone" in {entry.text for table in report.tables for row in table.rows for entry in row}
    again = work(tmp_path / "again.sqlite", folder / "1-low.toml", lambda config: config["height"] == 2.0)
    piece = published(again, folder)["1-low.sqlite"]
    assert (piece.done, piece.failed) == (4, 0)


def test_what_is_running_and_where_is_not_published(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0)
    with Store(path, create=True) as store:
        store.begin("half", study.describe(folder / "1-low.toml").configs[-1], "now")
    published(path, folder)
    with Store(folder) as store:
        assert {state.status for state in store.states().values()} == {"done"}
        columns, rows = store.table("runs")
    assert {row[columns.index("worker")] for row in rows} == {None}


def test_a_piece_has_the_facts_about_its_own_values_only(tmp_path, folder):
    path = tmp_path / "work.sqlite"
    with Store(path, create=True) as store:
        run_study(study.describe(folder / "2-high.toml"), store, InProcess())
    published(path, folder)
    with Store(folder / "2-high.sqlite") as store:
        assert store.facts()["weather 7.0"] == "wet" and "weather 1.0" not in store.facts()


def test_an_empty_store_and_a_folder_without_studies_are_one_line_each_and_write_nothing(tmp_path, folder):
    with Store(tmp_path / "empty.sqlite", create=True):
        pass
    with pytest.raises(hw.HardwireError, match=r"has no finished run of 1-low.toml, 2-high.toml; `hardwire study run"):
        published(tmp_path / "empty.sqlite", folder)
    assert not list(folder.glob("*.sqlite"))
    with pytest.raises(hw.HardwireError, match="results has no finished run yet"), Store(folder) as store:
        build(store)
    (tmp_path / "other").mkdir()
    for reading in (
        lambda: Store(tmp_path / "other"),
        lambda: published(tmp_path / "empty.sqlite", tmp_path / "other"),
    ):
        with pytest.raises(hw.HardwireError, match="there is no study in"):
            reading()


def test_a_piece_is_written_whole_or_not_at_all(tmp_path, folder, monkeypatch):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0)
    published(path, folder)
    before = (folder / "1-low.sqlite").read_bytes()
    work(path, folder / "1-low.toml")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(hw.HardwireError, match="cannot write"):
        published(path, folder)
    assert (folder / "1-low.sqlite").read_bytes() == before and len(list(folder.iterdir())) == 3


def test_a_report_puts_what_runs_took_beside_what_was_planned(tmp_path, folder):
    path, description = tmp_path / "work.sqlite", study.describe(folder / "1-low.toml")
    with Store(path, create=True) as store:
        run_study(description, store, InProcess(), weights={config: 45.0 for config in description})
        run_study(
            description, store, InProcess(), weights={config: 900.0 for config in description}
        )  # the first counts
    published(path, folder)
    with Store(folder) as store:
        report = build(store)
    columns = ("Planned, all", "Planned, these runs", "Took", "Processor time")
    assert [_cell(report, "low", name) for name in columns] == ["3 min", "3 min", "4 min", "0 s"]
    assert [_cell(report, "high", name) for name in columns] == [""] * 4


def test_the_plans_of_two_days_are_one(tmp_path, folder):
    description = study.describe(folder / "1-low.toml")
    for day, seed in (("monday", 0), ("tuesday", 1)):
        with Store(tmp_path / day, create=True) as store:
            weights = {config: 40.0 + seed for config in description if config["seed"] == seed}
            run_study(description, store, InProcess(), weights=weights)
        published(tmp_path / day, folder)
    with Store(folder) as store:
        assert sorted(store.facts()["plan low"].values()) == [40.0, 40.0, 41.0, 41.0]


def test_a_study_without_a_plan_can_be_planned_when_it_is_published(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0)
    published(path, folder, plan=True)
    with Store(folder) as store:
        assert sorted(store.facts()["plan low"].values()) == [30.0] * 4
        report = build(store)
    assert [_cell(report, "low", name) for name in ("Planned, all", "Planned, these runs")] == ["2 min", "60 s"]


def test_from_the_command_line_a_folder_is_published_and_reported(tmp_path, folder):
    path = work(tmp_path / "work.sqlite", folder / "1-low.toml")
    result = CliRunner().invoke(app, ["publish", str(path), str(folder)])
    assert result.exit_code == 0 and "1-low.sqlite: 4 of 4 runs" in result.output.replace("\n", "")
    (tmp_path / "page.md").write_text("# Balls\n<!-- report: table studies -->\n<!-- report: end -->\nThat is all.\n")
    arguments = ["report", str(folder), "-o", str(tmp_path / "report"), "--into", str(tmp_path / "page.md")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    page = (tmp_path / "page.md").read_text()
    assert "| 1-low | 4 of 4 |" in page and page.endswith("That is all.\n")
    result = CliRunner().invoke(app, ["status", str(folder)])
    assert "done: 4" in result.output


def test_a_study_goes_on_in_a_copy_of_what_is_published(tmp_path, folder):
    published(work(tmp_path / "work.sqlite", folder / "1-low.toml", lambda config: config["seed"] == 0), folder)
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes((folder / "1-low.sqlite").read_bytes())
    with Store(copy, create=True) as store:
        before = store.states()
        run_study(study.describe(folder / "1-low.toml"), store, InProcess())
        assert len(store.finished()) == 4 and before.items() <= store.states().items()
    assert published(copy, folder)["1-low.sqlite"].done == 4


def test_a_study_remembers_the_commit_of_the_code_that_runs_it(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("hardwire.study.coordinator.commit", lambda: "aaaabbbbccccdddd")
    monkeypatch.setattr("hardwire.study.published.commit", lambda: "another, of a later day")
    with Store(tmp_path / "work.sqlite", create=True) as store:
        run_study(study.describe(folder / "2-high.toml"), store, InProcess())
    published(tmp_path / "work.sqlite", folder)
    with Store(folder) as store:
        assert _cell(build(store), "high", "Code") == f"{code_version(KIND)} (commit aaaabbbbcc)"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git: apt install git")
def test_the_commit_is_that_of_a_checkout_without_changes_and_else_unknown(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    module = tmp_path / "src" / "hardwire" / "study" / "version.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    (module.parents[1] / "__init__.py").write_text("")
    monkeypatch.setattr(version, "__file__", str(module))
    assert version.commit() is None  # no checkout
    git("init", "-q")
    assert version.commit() is None  # in one, and not of it
    git("add", "-A")
    git("commit", "-qm", "first")
    assert len(version.commit()) == 40
    module.write_text("changed = True")
    assert version.commit() is None


def _cell(report, study_name, column):
    table = next(table for table in report.tables if table.slug == "studies")
    row = next(row for row in table.rows if study_name in row[0].text)
    return row[table.columns.index(column)].text


def test_the_file_of_a_piece_is_a_store_like_any_other(tmp_path, folder):
    published(work(tmp_path / "work.sqlite", folder / "1-low.toml"), folder)
    with Store(folder / "1-low.sqlite") as store:
        assert len(store.finished()) == 4 and store.descriptions()[0][0] == "low"
        assert all(json.loads(row[2])["speed"] > 0 for row in store.table("records")[1])
