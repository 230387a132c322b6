"""A lock file that the operating system releases when its holder dies, however it dies.

The file may stay behind; only the lock on it means something. Surprising: a lock file is deleted only when its run is
over for good, since a second process could otherwise hold a lock on a file that is no longer there.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path

from hardwire.errors import HardwireError


@contextlib.contextmanager
def locked(path: Path, busy: str, wait: float = 0.0):
    """Holds the lock for the time being; if another process has it for `wait` seconds, HardwireError(busy)."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise HardwireError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        _acquire(handle, busy, time.monotonic() + wait)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, busy: str, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                raise HardwireError(busy) from None
            time.sleep(0.1)
