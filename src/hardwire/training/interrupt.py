"""Stopping a run cleanly on Ctrl-C and SIGTERM: the request is noted, and acted on between two steps, when the state is
consistent."""

import signal
import threading
from multiprocessing import parent_process
from types import FrameType, TracebackType
from typing import Any


class InterruptGuard:
    """Inside the guard, the first Ctrl-C or SIGTERM sets `requested` and the second one interrupts at once.

    Signals are only handled in the main thread; in other threads, and where a signal is already ignored, nothing
    changes. In a process of a pool SIGTERM is left alone, because the parent uses it to end its workers.

    Args:
        active: False turns the guard off.
    """

    def __init__(self, active: bool = True):
        self.active, self.requested = active, False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "InterruptGuard":
        if self.active and threading.current_thread() is threading.main_thread():
            handled = [signal.SIGINT] if parent_process() else [signal.SIGINT, signal.SIGTERM]
            for number in handled:
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._on_signal) or signal.SIG_DFL
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
