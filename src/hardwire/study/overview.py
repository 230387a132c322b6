"""The overview of a running study: done, running, failed, speed, time left, latest results.

On a terminal it is redrawn in place; elsewhere (a log file) each evaluation and each finished run is one line.
Surprising: time left is judged by the work done since this start, not by the number of runs, since a deep run costs
many shallow ones.
"""

import time
from collections import deque

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hardwire.study.conductor import Standing, Watcher
from hardwire.study.config import Config
from hardwire.study.kinds import Record
from hardwire.study.plan import duration
from hardwire.study.worker import Progress


class Overview(Watcher):
    """Use it as a context manager around the study."""

    def __init__(self, console: Console | None = None):
        self.console = console or Console(stderr=True)
        self.begin = time.monotonic()
        self.speeds: dict[str, float] = {}  # iterations a second of each run under way
        self.seen: dict[str, tuple[int, float]] = {}  # its latest iteration, after so many seconds of training
        self.latest: deque[tuple[str, str]] = deque(maxlen=5)
        self.live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None

    def __enter__(self) -> "Overview":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.live:
            self.live.stop()

    def changed(self, standing: Standing) -> None:
        if self.live:
            self.live.update(self._picture(standing), refresh=True)

    def progressed(self, standing: Standing, config: Config, progress: Progress) -> None:
        label = standing.kind.label(config)
        if not progress.record:
            self._say(f"{label}: goes on from iteration {progress.iteration:,} of {progress.iterations:,}")
            return
        self._note_speed(progress)
        speed = f", {self.speeds[progress.key]:,.1f} it/s" if progress.key in self.speeds else ""
        self._say(
            f"{label}: iteration {progress.iteration:,} of {progress.iterations:,}, "
            f"{standing.kind.summary(progress.record)}{speed}; {self._time_left(standing)}"
        )

    def ended(self, standing: Standing, config: Config, result: Record | str) -> None:
        text = f"FAILED: {result}" if isinstance(result, str) else standing.kind.summary(result)
        self.latest.append((standing.kind.label(config), text))
        self._say(f"{_counts(standing)}; {self.latest[-1][0]}: {text}; {self._time_left(standing)}")

    def _say(self, line: str) -> None:
        if not self.live:
            self.console.print(line, highlight=False, soft_wrap=True, markup=False)

    def _note_speed(self, progress: Progress) -> None:
        """By the run's own clock, where it has one: messages may wait until they are read."""
        if "seconds" in progress.record:
            iteration, seconds = self.seen.get(progress.key, (0, 0.0))
            now = progress.record["seconds"]
            if progress.iteration > iteration and now > seconds:
                self.speeds[progress.key] = (progress.iteration - iteration) / (now - seconds)
            self.seen[progress.key] = (progress.iteration, now)

    def _time_left(self, standing: Standing) -> str:
        """By the speed since this start; counts what the runs under way have done already."""
        partly = sum(
            standing.weight(config) * progress.iteration / progress.iterations
            for config, progress in standing.running.values()
            if progress is not None
        )
        finished = standing.work_done + partly
        if not finished:
            return "time left not known yet"
        return f"about {duration((standing.work_left - partly) * (time.monotonic() - self.begin) / finished)} left"

    def _picture(self, standing: Standing) -> Group:
        bar = ProgressBar(total=standing.total or 1, completed=standing.done + standing.failed, width=40)
        head = Text(f"{_counts(standing)}; {self._time_left(standing)}")
        running = Table("running", "iteration", "it/s", "", box=None, pad_edge=False)
        for key, (config, progress) in list(standing.running.items())[:8]:
            reached = f"{progress.iteration:,} of {progress.iterations:,}" if progress else "starting"
            speed = f"{self.speeds[key]:,.1f}" if key in self.speeds else ""
            text = standing.kind.summary(progress.record) if progress and progress.record else ""
            running.add_row(standing.kind.label(config), reached, speed, text)
        latest = Table("latest", "", box=None, pad_edge=False)
        for row in self.latest:
            latest.add_row(*map(Text, row))
        return Group(head, Padding(bar, (0, 0, 1, 0)), running, latest)


def _counts(standing: Standing) -> str:
    text = f"{standing.done} of {standing.total} done, {len(standing.running)} running, {standing.failed} failed"
    return text + (f", {standing.retried} restarted" if standing.retried else "")
