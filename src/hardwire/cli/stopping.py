"""Ctrl-C and SIGTERM, a scheduler's way to say stop, as one thing: KeyboardInterrupt, which commands answer.

Surprising: a program started in the background by a script has Ctrl-C ignored from its start. Here it is heard again.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Inside, both signals raise KeyboardInterrupt. They reach the main thread only; elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
