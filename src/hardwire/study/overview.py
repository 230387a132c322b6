"""The overview of a running study: done, running, failed, speed, time left, latest results.

On a terminal it is redrawn in place; elsewhere, as in a log file, each evaluation and each finished run is one line.
"""

from collections import deque

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hardwire.console import make_console
from hardwire.study.config import Config
from hardwire.study.coordinator import StudyProgress, Watcher
from hardwire.study.kinds import Evaluation
from hardwire.study.time_left import TimeLeft
from hardwire.study.worker import RunProgress


class Overview(Watcher):
    """Shows a study while it runs; use it as a context manager around the study."""

    def __init__(self, console: Console | None = None):
        self.console = console or make_console(stderr=True)
        self.time_left = TimeLeft()
        self.speeds: dict[str, float] = {}  # iterations a second of each run
        self.latest_evaluation: dict[str, tuple[int, float]] = {}  # iteration and seconds of training, of each run
        self.latest: deque[tuple[str, str]] = deque(maxlen=5)
        self.live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None

    def __enter__(self) -> "Overview":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.live:
            self.live.stop()

    def changed(self, study: StudyProgress) -> None:
        self.time_left.changed(study)
        if self.live:
            self.live.update(self._picture(study), refresh=True)

    def progressed(self, study: StudyProgress, config: Config, progress: RunProgress) -> None:
        label = study.kind.label(config)
        if not progress.record:
            self._say(f"{label}: continues from iteration {progress.iteration:,} of {progress.iterations:,}")
            return
        self._note_speed(progress)
        speed = f", {self.speeds[progress.key]:,.1f} it/s" if progress.key in self.speeds else ""
        self._say(
            f"{label}: iteration {progress.iteration:,} of {progress.iterations:,}, "
            f"{study.kind.summary(progress.record)}{speed}; {self.time_left.text(study)}"
        )

    def ended(self, study: StudyProgress, config: Config, result: Evaluation | str) -> None:
        self.time_left.ended(config)
        text = f"FAILED: {result}" if isinstance(result, str) else study.kind.summary(result)
        self.latest.append((study.kind.label(config), text))
        self._say(f"{_counts(study)}; {self.latest[-1][0]}: {text}; {self.time_left.text(study)}")

    def _say(self, line: str) -> None:
        if not self.live:
            self.console.print(line, highlight=False, soft_wrap=True, markup=False)

    def _note_speed(self, progress: RunProgress) -> None:
        """By the run's own clock, if it has one, since messages may wait until they are read."""
        if "seconds" in progress.record:
            iteration, seconds = self.latest_evaluation.get(progress.key, (0, 0.0))
            now = progress.record["seconds"]
            if progress.iteration > iteration and now > seconds:
                self.speeds[progress.key] = (progress.iteration - iteration) / (now - seconds)
            self.latest_evaluation[progress.key] = (progress.iteration, now)

    def _picture(self, study: StudyProgress) -> Group:
        bar = ProgressBar(total=study.total or 1, completed=study.done + study.failed, width=40)
        head = Text(f"{_counts(study)}; {self.time_left.text(study)}")
        running = Table("running", "iteration", "it/s", "", box=None, pad_edge=False)
        for key, (config, progress) in list(study.running.items())[:8]:
            reached = f"{progress.iteration:,} of {progress.iterations:,}" if progress else "starting"
            speed = f"{self.speeds[key]:,.1f}" if key in self.speeds else ""
            text = study.kind.summary(progress.record) if progress and progress.record else ""
            running.add_row(study.kind.label(config), reached, speed, text)
        latest = Table("latest", "", box=None, pad_edge=False)
        for row in self.latest:
            latest.add_row(*map(Text, row))
        return Group(head, Padding(bar, (0, 0, 1, 0)), running, latest)


def _counts(study: StudyProgress) -> str:
    text = f"{study.done} of {study.total} done, {len(study.running)} running, {study.failed} failed"
    return text + (f", {study.retried} restarted" if study.retried else "")
