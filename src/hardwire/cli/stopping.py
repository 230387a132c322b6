"""Ctrl-C and SIGTERM, which schedulers send, both raise KeyboardInterrupt, which commands handle.

Surprising: a program that a script starts in the background ignores Ctrl-C from its start. Here it works again.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Makes both signals raise KeyboardInterrupt inside the block, in the main thread; other threads get no signals."""
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
