"""Shows the progress of `fit`, as a callback: a live line on a terminal, one plain line per evaluation elsewhere.

The live line is redrawn a few times a second however fast the steps are; a step costs it one look at the clock. The
most important numbers come first, because a narrow terminal cuts off the end of the line.
"""

import sys
import time
from collections.abc import Iterator

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardwire.console import make_console
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.history import Record

_REFRESH = 0.25  # seconds between two redraws
_ACCURACIES = {"deploy": "deployed", "method": "method", "argmax": "argmax"}
_SHOWN_LAST = ("total", "loss", "tau", "confidence", "method", "argmax")
_NOT_OWN = ("iteration", "seconds", "selection", "computation", *_SHOWN_LAST)  # the others are the user's measures


class ProgressLine(Callback):
    """Shows the progress of a run on stderr.

    Args:
        console: Where to print instead.
        later: Runs like this one that follow it; the time left includes them.
        after: Seconds of what comes after those; likewise.
    """

    def __init__(self, console: Console | None = None, later: int = 0, after: float = 0.0):
        self._console = console or make_console(stderr=True)
        self._later, self._after = later, after
        self._live: Live | None = None

    def on_start(self, run: TrainingRun) -> None:
        self._started, self._first_iteration, self._next_redraw = time.monotonic(), run.iteration, 0.0
        if run.iteration:
            self._console.print(f"resuming at iteration {run.iteration:,} of {run.iterations:,}", soft_wrap=True)
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False)
            self._live.start()

    def on_step(self, run: TrainingRun) -> None:
        now = time.monotonic()
        if self._live and now >= self._next_redraw:
            self._next_redraw = now + _REFRESH
            self._live.update(self._line(run), refresh=True)

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
        else:
            self._console.print(self._line(run), soft_wrap=True)

    def on_end(self, run: TrainingRun) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
            self._live.stop()

    def _line(self, run: TrainingRun) -> Text:
        rate = (run.iteration - self._first_iteration) / max(time.monotonic() - self._started, 1e-9)
        parts = [f"{run.iteration}/{run.iterations}", f"{rate:.1f} it/s"]
        if rate and (run.iteration < run.iterations or self._later or self._after):
            steps = run.iterations - run.iteration + self._later * run.iterations
            parts.append(f"{clock(steps / rate + self._after)} left")
        parts += _measured(run) if len(run.history) else [f"loss {run.loss:.4f}"]
        return Text("  ".join(parts), no_wrap=bool(self._live), overflow="ellipsis")


def _measured(run: TrainingRun) -> Iterator[str]:
    """The numbers of the latest evaluation, the one that decides first; the loss is that of the latest step."""
    record, best_by = vars(run.history.final), run.history.best_by
    names = [best_by.removeprefix("-"), *(name for name in record if name not in _NOT_OWN), *_SHOWN_LAST]
    accuracy = best_by == "deploy"
    for name in dict.fromkeys(names):
        value = run.loss if name == "loss" else record.get(name)
        if not isinstance(value, int | float):
            continue
        if name == "total":
            yield f"gap {100 * value:+.2f}" if accuracy else f"gap {value:+.4g}"
        else:
            yield f"{_ACCURACIES.get(name, name)} " + (
                f"{value:.2%}" if accuracy and name in _ACCURACIES else f"{value:.4g}"
            )


def is_shown(progress: bool | None) -> bool:
    """Whether progress is shown: by default only on a terminal."""
    return sys.stderr.isatty() if progress is None else progress


def clock(seconds: float) -> str:
    """Seconds as 1:23:45, or 2:05."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
