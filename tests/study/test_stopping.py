"""Signals that end a study: a scheduler's SIGTERM, and SIGINT also where nohup had it ignored."""

import itertools
import signal

import small_studies

from hardwire import study
from hardwire.study.overview import Overview
from hardwire.study.time_left import TimeLeft


def test_sigterm_and_an_ignored_sigint_stop_a_study_and_the_same_command_goes_on_from_where_it_was(tmp_path):
    data = small_studies.digits_npz(tmp_path / "digits.npz")
    description = small_studies.small(data, methods=["hard-st"], taus=[1.0], iterations=[200_000], evaluate_every=20)
    (tmp_path / "test.toml").write_text(description.text)
    _, first = _run_until("it/s", tmp_path, signal.SIGTERM)
    said, second = _run_until("continues from iteration", tmp_path, signal.SIGINT)
    for code, rest in (first, second):
        assert code == 130 and "the same command continues" in rest
    assert int(said.split("from iteration ")[1].split(" ")[0].replace(",", "")) >= 20
    with study.Store(tmp_path / "test.sqlite") as store:
        (state,) = store.states().values()
    assert state.status == "interrupted" and state.attempts == 2


def _run_until(words: str, folder, number: signal.Signals) -> tuple[str, tuple[int, str]]:
    """Starts the study with SIGINT ignored, as under nohup, and signals when it says so; the line, its end."""
    ignored = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    process = small_studies.start(["run", "test.toml", "--workers", "1"], folder, **ignored)
    lines = [process.stdout.readline()]
    while words not in lines[-1]:
        assert process.poll() is None, lines
        lines.append(process.stdout.readline())
    process.send_signal(number)
    rest, _ = process.communicate(timeout=600)
    return lines[-1], (process.returncode, rest)


class Paper:
    """A console that keeps what is printed, as a log file does."""

    is_terminal = False

    def __init__(self):
        self.lines = []

    def print(self, line, **options):
        self.lines.append(line)


def test_each_evaluation_is_a_line_with_speed_and_time_left_where_nobody_watches(tmp_path):
    paper = Paper()
    with Overview(paper) as overview:
        overview.time_left = TimeLeft(clock=itertools.count(0, 100).__next__)  # whatever the speed of this machine
        description = small_studies.small(methods=["hard-st"], taus=[1.0])
        small_studies.run_here(description, tmp_path / "study.sqlite", watcher=overview)
    assert len(paper.lines) == 13 and "iteration 5 of 60, deployed" in paper.lines[0]
    assert all("it/s; about" in line and line.endswith(" left") for line in paper.lines[:-1])
    assert paper.lines[-1].startswith("1 of 1 done, 0 running, 0 failed; digits hard-st tau 1")
