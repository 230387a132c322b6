"""Limits on what a reader may take: time, memory, and no exception but HardwireError.

The time is the processor's, so that a busy machine changes nothing. A reader that waits instead ends the process
after a long while by the clock. Programs that a reader starts count when they have ended.
"""

import contextlib
import faulthandler
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError

SECONDS = 10
MEMORY = 1 << 30  # bytes
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class OverTheLimit(AssertionError):
    """A reader took too long or too much memory."""


def outcome(call: Callable[[], Any]) -> tuple[Any, HardwireError | None]:
    """What a call returns, or its HardwireError; anything else fails the test: another exception, time, memory."""
    with limited():
        try:
            return call(), None
        except HardwireError as error:
            check_message(error)
            return None, error


def check_message(error: HardwireError) -> None:
    """One line of moderate length, that was not raised because memory ran out."""
    text = str(error)
    assert "\n" not in text and len(text) < 1500, text[:3000]
    text.encode()  # what cannot be encoded cannot be printed
    cause: BaseException | None = error
    while cause is not None:
        assert not isinstance(cause, MemoryError) and "allocate" not in str(cause), f"memory ran out: {text}"
        cause = cause.__cause__ or cause.__context__


@contextlib.contextmanager
def limited(seconds: int = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Raises OverTheLimit where the block takes more; a block that cannot be interrupted ends the process."""
    faulthandler.register(signal.SIGALRM, chain=True)  # shows where it hangs, and goes on to what SIGALRM does: the end
    signal.setitimer(signal.ITIMER_REAL, 60 * seconds)
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    start = _memory("VmRSS")
    if start is not None:
        with contextlib.suppress(OSError):
            _RESET.write_text("5")  # the highest use so far becomes the present one
        resource.setrlimit(resource.RLIMIT_DATA, ((_memory("VmData") or 0) + 4 * memory, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.unregister(signal.SIGALRM)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    _check_children(children, resource.getrusage(resource.RUSAGE_CHILDREN), seconds, memory)
    most = _memory("VmHWM")
    if start is not None and most is not None and most - start > memory:
        raise OverTheLimit(f"took {(most - start) / 2**20:.0f} MB")


def _check_children(before: Any, after: Any, seconds: int, memory: int) -> None:
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if took > seconds:
        raise OverTheLimit(f"a program that it started took {took:.1f} s")
    if after.ru_maxrss > max(before.ru_maxrss, memory >> 10):  # the largest of all so far
        raise OverTheLimit(f"a program that it started took {after.ru_maxrss >> 10} MB")


def _memory(name: str) -> int | None:
    """A line of /proc/self/status in bytes; None where there is no such file."""
    if not _STATUS.exists():
        return None
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def _too_long(*_: Any) -> None:
    raise OverTheLimit(f"took more than {SECONDS} s of processor time")
