"""A study that is killed again and again ends like one that never was."""

import random
import signal
import sqlite3
import time
from pathlib import Path

import small_studies

from hardwire import study
from hardwire.study.version import code_version
from hardwire_paper.runs import NetworkRun


def test_a_study_killed_at_random_moments_ends_with_the_planned_runs_and_the_same_results(tmp_path):
    data = small_studies.digits_npz(tmp_path / "digits.npz")
    description = small_studies.small(data, seeds=[0], iterations=[100])
    file, killed, undisturbed = (tmp_path / name for name in ("test.toml", "killed.sqlite", "undisturbed.sqlite"))
    file.write_text(description.text)
    moments, kills = random.Random(), 0
    for _ in range(2):
        process = small_studies.start(["run", str(file), "--out", str(killed), "--workers", "2"])
        before = _signs_of_life(killed)
        while process.poll() is None and _signs_of_life(killed) == before:
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.4))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
    assert kills
    finished, straight = (small_studies.run_here(description, path) for path in (killed, undisturbed))
    assert finished.done == straight.done == len(description) == 6

    with study.Store(killed) as one, study.Store(undisturbed) as other:
        assert sorted(one.states()) == sorted(config.key(code_version(description.kind)) for config in description)
        assert _results(one) == _results(other)
        assert sum(state.attempts for state in one.states().values()) > 6  # some runs were cut off and went on
    assert not one.work.exists()


def _signs_of_life(store: Path):
    """Changes whenever a run starts, writes a checkpoint or is finished."""
    work = store.with_name(f"{store.name}.work")
    checkpoints = sorted((path.name, path.stat().st_mtime_ns) for path in work.glob("*.checkpoint") if path.exists())
    if not store.exists():
        return checkpoints
    connection = sqlite3.connect(store)
    try:
        return checkpoints, connection.execute("SELECT key, status, attempts FROM runs").fetchall()
    except sqlite3.OperationalError:  # no tables yet
        return checkpoints
    finally:
        connection.close()


def _results(store: study.Store) -> list:
    return [(run.config, NetworkRun.of(run).history, run.measurements) for run in store.finished()]
