"""Ctrl-C without damage: the wish to stop is noted and acted on between two steps, when the state is whole."""

import signal
import threading


class InterruptGuard:
    """Inside, the first Ctrl-C sets `requested` and the second one interrupts at once.

    Signals reach the main thread only; elsewhere, and where Ctrl-C is ignored already, nothing changes.
    """

    def __init__(self):
        self.requested = False
        self._before = None

    def __enter__(self) -> "InterruptGuard":
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note) or signal.SIG_DFL
        return self

    def __exit__(self, *exception) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number, frame) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
