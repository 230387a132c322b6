"""Tests of carrying a study out: going on, failing, losing workers, full disks, and grids that are too large."""

import multiprocessing

import pytest
import small_studies
from typer.testing import CliRunner

import hardwire as hw
from hardwire import study
from hardwire.cli.study import app
from hardwire.files import arrays
from hardwire.study.coordinator import ATTEMPTS, run_study
from hardwire.study.runners import WorkerLost, open_runner
from hardwire.study.worker import DiskFull, Task, attempt


def test_a_finished_study_has_nothing_left_to_do(tmp_path):
    description = small_studies.small(iterations=[4])
    for _ in range(2):
        progress = small_studies.run_here(description, tmp_path / "study.sqlite")
        assert (progress.done, progress.failed, progress.waiting) == (6, 0, 0)
    with study.Store(tmp_path / "study.sqlite") as store:
        assert {state.attempts for state in store.states().values()} == {1}


def test_a_finished_study_leaves_the_checkpoints_of_another_one_in_the_same_store(tmp_path):
    checkpoint = tmp_path / "study.sqlite.work" / "other.checkpoint"
    checkpoint.parent.mkdir()
    checkpoint.write_text("half way")
    small_studies.run_here(small_studies.small(iterations=[4]), tmp_path / "study.sqlite")
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]
    checkpoint.unlink()
    small_studies.run_here(small_studies.small(iterations=[4]), tmp_path / "study.sqlite")
    assert not checkpoint.parent.exists()


def test_a_larger_grid_adds_to_what_is_there(tmp_path):
    small_studies.run_here(small_studies.small(iterations=[4]), tmp_path / "study.sqlite")
    small_studies.run_here(small_studies.small(iterations=[4], seeds=[0, 1]), tmp_path / "study.sqlite")
    with study.Store(tmp_path / "study.sqlite") as store:
        assert len(store.finished()) == 12


def test_a_failed_run_is_recorded_with_its_error_and_tried_again_on_request(tmp_path):
    description = small_studies.small(methods=["soft-mix"], taus=[1.0], learning_rates=[0.01, 1e38], iterations=[30])
    path = tmp_path / "study.sqlite"
    progress = small_studies.run_here(description, path)
    assert (progress.done, progress.failed) == (1, 1)
    small_studies.run_here(description, path)
    with study.Store(path) as store:
        ((config, state),) = store.failures()
        assert config["learning_rate"] == 1e38 and state.attempts == 1 and "diverged" in state.error
    small_studies.run_here(description, path, retry_failed=True)
    with study.Store(path) as store:
        ((_, state),) = store.failures()
        assert state.attempts == 2
    answer = CliRunner().invoke(app, ["status", str(path)])
    assert "done: 1" in answer.output and "diverged" in answer.output


class _WorkerKiller(study.Watcher):
    """Kills a worker process as soon as it is at work, once."""

    def __init__(self):
        self.killed, self.others = False, set(multiprocessing.active_children())  # another library's pool, perhaps

    def changed(self, progress):
        at_work = any(progress for _, progress in progress.running.values())
        if at_work and not self.killed:
            next(iter(set(multiprocessing.active_children()) - self.others)).kill()
            self.killed = True


def test_a_worker_that_is_killed_costs_its_run_a_retry_and_not_the_study(tmp_path):
    data = small_studies.digits_npz(tmp_path / "digits.npz")
    description = small_studies.small(data, methods=["hard-st"], iterations=[300])
    killer = _WorkerKiller()
    progress = study.run(description, tmp_path / "study.sqlite", workers=1, watcher=killer)
    assert killer.killed and (progress.done, progress.failed, progress.retried) == (2, 0, 1)
    assert set(multiprocessing.active_children()) <= killer.others


class _Scripted(small_studies.InProcess):
    """An engine whose every run meets the same fate."""

    def __init__(self, event):
        super().__init__()
        self.event = event

    def submit(self, task):
        self.waiting.append(self.event(task.key))


def test_a_run_that_loses_its_worker_every_time_counts_as_failed(tmp_path):
    description = small_studies.small(methods=["hard-st"], taus=[1.0])
    with study.Store(tmp_path / "study.sqlite", create=True) as store:
        progress = run_study(description, store, _Scripted(lambda key: WorkerLost(key, "out of memory")))
        ((_, state),) = store.failures()
    assert (progress.failed, progress.retried, state.attempts) == (1, ATTEMPTS - 1, ATTEMPTS)
    assert "lost its worker 3 times, the last time: out of memory" in state.error


def test_no_room_for_checkpoints_stops_the_study_and_the_run_is_not_blamed(tmp_path):
    description = small_studies.small(iterations=[4])
    with study.Store(tmp_path / "study.sqlite", create=True) as store:
        with pytest.raises(hw.HardwireError, match="no room; make room and start the study again"):
            run_study(description, store, _Scripted(lambda key: DiskFull(key, "no room")))
        assert [state.status for state in store.states().values()] == ["interrupted"]
    assert small_studies.run_here(description, tmp_path / "study.sqlite").done == 6


def test_a_worker_tells_a_full_disk_from_a_failure(tmp_path, monkeypatch):
    def full(path, payload):
        raise hw.HardwireError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(arrays, "write_whole", full)
    description = small_studies.small()
    event = attempt(Task("key", description.kind, description.configs[0], tmp_path / "work"))
    assert isinstance(event, DiskFull) and "no room on the disk" in event.error


def test_unknown_runners_are_named():
    with pytest.raises(hw.HardwireError, match="unknown runner 'slurm'; choose one of: local, ray"):
        open_runner("slurm")


@pytest.mark.parametrize(
    ("seeds", "iterations"), [(500, 5_000_000), (1, 90_000_000_000)], ids=["many runs", "long runs"]
)
def test_a_plan_of_days_asks_first_whatever_the_number_of_runs(tmp_path, seeds, iterations):
    file = tmp_path / "huge.toml"
    file.write_text(small_studies.small(seeds=list(range(seeds)), iterations=[iterations]).text)
    answer = CliRunner().invoke(app, ["run", str(file)])
    assert isinstance(answer.exception, hw.HardwireError)
    assert "days; add --yes to run it anyway" in str(answer.exception)
    assert not list(tmp_path.glob("*.sqlite*"))


def test_init_writes_a_preset_and_never_over_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    assert CliRunner().invoke(app, ["init", str(file), "--preset", "paper"]).exit_code == 0
    assert len(study.describe(file)) == 810
    again = CliRunner().invoke(app, ["init", str(file)])
    assert "already exists" in str(again.exception)
    wrong = CliRunner().invoke(app, ["init", str(tmp_path / "x.toml"), "--preset", "tiny"])
    assert "unknown preset 'tiny'" in str(wrong.exception)


def test_the_plan_counts_runs_and_estimates_time_and_memory(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(small_studies.SMALL)
    answer = CliRunner().invoke(app, ["plan", str(file), "--workers", "2"])
    assert answer.exit_code == 0
    assert "6 runs; about" in answer.output and "with 2 at once" in answer.output and "GB of" in answer.output
