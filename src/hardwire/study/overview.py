"""The live overview of a running study: done, running, failed, time left, latest results.

On a terminal it is redrawn in place; elsewhere (a log file) each finished run is one line. Surprising: time left is
judged by the work done since this start, not by the number of runs, since a deep run costs many shallow ones.
"""

import time

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hardwire.study.conductor import Standing, Watcher, effort


class Overview(Watcher):
    """Use it as a context manager around the study."""

    def __init__(self, console: Console | None = None):
        self.console = console or Console(stderr=True)
        self.begin = time.monotonic()
        self.told = 0
        self.live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None

    def __enter__(self) -> "Overview":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *exception) -> None:
        if self.live:
            self.live.stop()

    def changed(self, standing: Standing) -> None:
        if self.live:
            self.live.update(self._picture(standing), refresh=True)
        elif standing.done + standing.failed != self.told and standing.latest:
            self.told = standing.done + standing.failed
            config, result = standing.latest[-1]
            self.console.print(f"{_counts(standing)}; {config}: {_result(result)}", highlight=False, soft_wrap=True)

    def _picture(self, standing: Standing) -> Group:
        bar = ProgressBar(total=standing.total or 1, completed=standing.done + standing.failed, width=40)
        head = Text(f"{_counts(standing)}; {_time_left(standing, time.monotonic() - self.begin)}")
        return Group(head, Padding(bar, (0, 0, 1, 0)), _running_table(standing), _latest_table(standing))


def _counts(standing: Standing) -> str:
    text = f"{standing.done} of {standing.total} done, {len(standing.running)} running, {standing.failed} failed"
    return text + (f", {standing.retried} restarted" if standing.retried else "")


def _time_left(standing: Standing, elapsed: float) -> str:
    """By the speed since this start; counts what the runs under way have done already."""
    partly = sum(
        effort(config) * progress.iteration / config.iterations
        for config, progress in standing.running.values()
        if progress is not None
    )
    finished = standing.work_done + partly
    if not finished:
        return "time left not known yet"
    return f"about {duration((standing.work_left - partly) * elapsed / finished)} left"


def duration(seconds: float) -> str:
    """Such as 45 s, 12 min, 3 h 20 min, 12 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours < 48 else f"{hours / 24:.0f} days"


def _running_table(standing: Standing) -> Table:
    table = Table("running", "iteration", "deployed", box=None, pad_edge=False)
    for config, progress in list(standing.running.values())[:8]:
        reached = f"{progress.iteration:,} of {config.iterations:,}" if progress else "under way"
        table.add_row(str(config), reached, f"{progress.deploy:.2%}" if progress else "")
    return table


def _latest_table(standing: Standing) -> Table:
    table = Table("latest", "result", box=None, pad_edge=False)
    for config, result in standing.latest:
        table.add_row(str(config), _result(result))
    return table


def _result(result) -> str:
    if isinstance(result, str):
        return f"FAILED: {result}"
    return f"deployed {result.deploy:.2%}, selection gap {100 * result.selection:+.2f}"
