"""A scheduler's way to say stop (SIGTERM) and Ctrl-C end a study in the same way, also where SIGINT was ignored."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Inside, either signal raises KeyboardInterrupt; the second one while that is being answered is not heard."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    before = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    raise KeyboardInterrupt
