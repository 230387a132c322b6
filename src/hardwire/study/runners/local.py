"""The local runner: processes of this machine, by `concurrent.futures`, each doing one run after the other.

Surprising: a pool of one process for each slot instead of one pool for all, because a pool in which a process dies is
broken as a whole, and the death of one run must not cost the others. A worker exits at once when its pipe closes or the
process that started it is gone; nothing is saved at that moment, since the latest checkpoint is enough.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection

from hardwire.study.runners import Event, WorkerLost
from hardwire.study.worker import Ending, Task, attempt

_CONTEXT = multiprocessing.get_context("spawn")  # a forked torch can hang
_GLANCE = 0.1  # seconds between two looks at the pipes


class _Slot:
    """A process, the pipe on which it sends its progress, and the run it is doing."""

    def __init__(self) -> None:
        self.pipe, self.far = _CONTEXT.Pipe()
        self.pool = ProcessPoolExecutor(1, _CONTEXT, initializer=_begin, initargs=(self.far,))
        self.future: Future[Ending] | None = None
        self.key = ""

    def submit(self, task: Task) -> None:
        self.key, self.future = task.key, self.pool.submit(_attempt, task)

    def events(self) -> Iterator[Event]:
        done = self.future is not None and self.future.done()  # before the pipe is read: no message comes after
        with contextlib.suppress(EOFError, OSError):  # it died; the future says so too
            while self.pipe.poll():
                yield self.pipe.recv()
        if done and self.future is not None:
            try:
                yield self.future.result()
                self.future = None
            except BrokenProcessPool:
                yield WorkerLost(self.key, "its process was killed, perhaps for want of memory")

    def close(self) -> None:
        self.pipe.close()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.far.close()


class LocalRunner:
    """Runs in processes of this machine. workers: how many."""

    def __init__(self, workers: int):
        self.slots = workers
        self._slots: list[_Slot] = []

    def submit(self, task: Task) -> None:
        slot = next((slot for slot in self._slots if slot.future is None), None)
        if slot is None:
            slot = _Slot()
            self._slots.append(slot)
        slot.submit(task)

    def events(self, timeout: float) -> list[Event]:
        wait([slot.future for slot in self._slots if slot.future], min(timeout, _GLANCE), "FIRST_COMPLETED")
        events = []
        for slot in list(self._slots):
            new = list(slot.events())
            events += new
            if any(isinstance(event, WorkerLost) for event in new):
                slot.close()
                self._slots.remove(slot)
        return events

    def close(self) -> None:
        for slot in self._slots:
            slot.close()
        self._slots.clear()


_pipe: connection.Connection  # of this worker process, set by `_begin`


def _begin(pipe: connection.Connection) -> None:
    """The first thing in a worker process."""
    global _pipe
    _pipe = pipe
    for number in (signal.SIGINT, signal.SIGTERM):  # they reach the whole group; the coordinator decides
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_when_alone, daemon=True).start()


def _leave_when_alone() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([_pipe, parent.sentinel])
    os._exit(1)


def _attempt(task: Task) -> Ending:
    return attempt(task, _pipe.send)
