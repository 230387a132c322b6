"""The live line of a running `fit`, as a callback: iteration, loss, accuracies, gap, tau, speed, time left.

It redraws a few times a second however fast the steps are; a step costs it one look at the clock. Where the output is
not a terminal it prints one line for each evaluation instead.
"""

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hardwire.training.callbacks import Callback

_REFRESH = 0.25  # seconds between two redraws


class ProgressLine(Callback):
    """Shows a run on stderr."""

    def __init__(self, console: Console | None = None):
        self._console = console or Console(stderr=True)
        self._live = None

    def on_start(self, run) -> None:
        self._begin, self._first, self._next = time.monotonic(), run.iteration, 0.0
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False)
            self._live.start()

    def on_step(self, run) -> None:
        now = time.monotonic()
        if self._live and now >= self._next:
            self._next = now + _REFRESH
            self._live.update(self._line(run), refresh=True)

    def on_evaluation(self, run, record) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
        else:
            self._console.print(self._line(run), soft_wrap=True)

    def on_end(self, run) -> None:
        if self._live:
            self._live.update(self._line(run), refresh=True)
            self._live.stop()

    def _line(self, run) -> Text:
        rate = (run.iteration - self._first) / max(time.monotonic() - self._begin, 1e-9)
        parts = [f"{run.iteration}/{run.iterations}", f"loss {run.loss:.4f}"]
        if len(run.history):
            record = run.history.final
            parts += [
                f"method {record.method:.2%}",
                f"argmax {record.argmax:.2%}",
                f"deployed {record.deploy:.2%}",
                f"gap {100 * record.total:+.2f}",
                f"tau {record.tau:.3g}",
                f"confidence {record.confidence:.3f}",
            ]
        parts.append(f"{rate:.1f} it/s")
        if rate and run.iteration < run.iterations:
            parts.append(f"{_clock((run.iterations - run.iteration) / rate)} left")
        return Text("  ".join(parts), no_wrap=bool(self._live), overflow="ellipsis")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
