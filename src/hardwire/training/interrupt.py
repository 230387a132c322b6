"""Ctrl-C and SIGTERM without damage: the wish to stop is noted, and acted on between two steps, when the state is
whole."""

import signal
import threading
from multiprocessing import parent_process
from types import FrameType, TracebackType
from typing import Any


class InterruptGuard:
    """Inside, the first Ctrl-C or SIGTERM sets `requested` and the second one interrupts at once.

    Signals reach the main thread only; elsewhere, and where a signal is ignored already, nothing changes. Nor does
    SIGTERM in a process of a pool, which is its parent's to end. active: otherwise nothing changes at all.
    """

    def __init__(self, active: bool = True):
        self.active, self.requested = active, False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "InterruptGuard":
        if self.active and threading.current_thread() is threading.main_thread():
            heeded = [signal.SIGINT] if parent_process() else [signal.SIGINT, signal.SIGTERM]
            for number in heeded:
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note) or signal.SIG_DFL
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
