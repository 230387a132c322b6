"""How a running `fit` shows itself, as a callback: a live line on a terminal, one plain line an evaluation elsewhere.

The live line redraws a few times a second however fast the steps are; a step costs it one look at the clock. What
matters most stands first, because a narrow terminal cuts the line at its end.
"""

import time
from collections.abc import Iterator

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardwire.training.callbacks import Callback, Run
from hardwire.training.history import Record

_REFRESH = 0.25  # seconds between two redraws
_ACCURACIES = {"deploy": "deployed", "method": "method", "argmax": "argmax"}
_LAST = ("total", "loss", "tau", "confidence", "method", "argmax")  # after what says which evaluation is best
_UNSAID = ("iteration", "seconds", "selection", "computation", *_LAST)


class ProgressLine(Callback):
    """Shows a run on stderr."""

    def __init__(self, console: Console | None = None):
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None

    def on_start(self, run: Run) -> None:
        self._begin, self._first, self._next = time.monotonic(), run.iteration, 0.0
        if run.iteration:
            self._console.print(f"going on from iteration {run.iteration:,} of {run.iterations:,}", soft_wrap=True)
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False)
            self._live.start()

    def on_step(self, run: Run) -> None:
        now = time.monotonic()
        if self._live and now >= self._next:
            self._next = now + _REFRESH
            self._live.update(self._line(run), refresh=True)

    def on_evaluation(self, run: Run, record: Record) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
        else:
            self._console.print(self._line(run), soft_wrap=True)

    def on_end(self, run: Run) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
            self._live.stop()

    def _line(self, run: Run) -> Text:
        rate = (run.iteration - self._first) / max(time.monotonic() - self._begin, 1e-9)
        parts = [f"{run.iteration}/{run.iterations}", f"{rate:.1f} it/s"]
        if rate and run.iteration < run.iterations:
            parts.append(f"{clock((run.iterations - run.iteration) / rate)} left")
        parts += _measured(run) if len(run.history) else [f"loss {run.loss:.4f}"]
        return Text("  ".join(parts), no_wrap=bool(self._live), overflow="ellipsis")


def _measured(run: Run) -> Iterator[str]:
    """What the latest evaluation found, what decides first; the loss is that of the latest step."""
    record, decides = vars(run.history.final), run.history.best_by
    names = [decides.removeprefix("-"), *(name for name in record if name not in _UNSAID), *_LAST]
    accuracy = decides == "deploy"
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


def clock(seconds: float) -> str:
    """Seconds as 1:23:45, or 2:05."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
