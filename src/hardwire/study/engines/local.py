"""The local engine: a process for each core, each doing one run after the other.

A worker listens on a pipe and on a lifeline, a second pipe that nobody writes to: when the conductor dies, however it
dies, the lifeline closes and the worker leaves at once. Surprising: nothing is saved at that moment. The checkpoint of
the latest evaluation is enough, and a handler that runs while dying is one more thing to go wrong.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from hardwire.study.description import RunConfig
from hardwire.study.engines import Event, Failed, Finished, Lost, NoRoom
from hardwire.study.store import whoami
from hardwire.study.worker import DiskFull, describe_error, execute


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Worker:
    process: multiprocessing.Process
    pipe: Connection
    lifeline: Connection
    key: str | None = None


class LocalEngine:
    """Runs in processes of this machine. workers: one for each core if not given."""

    def __init__(self, work: Path, workers: int | None = None):
        self.work, self._count = work, workers or cores()
        self._context = multiprocessing.get_context("spawn")  # a forked torch can hang
        self._workers: list[_Worker] = []

    @property
    def slots(self) -> int:
        return self._count

    def submit(self, key: str, config: RunConfig) -> None:
        worker = next((worker for worker in self._workers if worker.key is None), None) or self._start()
        worker.key = key
        with contextlib.suppress(OSError):  # it died while idle; `events` sees that and reports the run as lost
            worker.pipe.send((key, config))

    def events(self, timeout: float) -> list[Event]:
        busy = [worker for worker in self._workers if worker.key is not None]
        ready = wait([worker.pipe for worker in busy], timeout)
        return [event for worker in busy if worker.pipe in ready for event in self._receive(worker)]

    def close(self) -> None:
        for worker in self._workers:
            worker.lifeline.close()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def _start(self) -> _Worker:
        pipe, far_pipe = self._context.Pipe()
        far_lifeline, lifeline = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_serve, args=(far_pipe, far_lifeline, self.work), daemon=True)
        process.start()
        far_pipe.close()
        far_lifeline.close()
        self._workers.append(_Worker(process, pipe, lifeline))
        return self._workers[-1]

    def _receive(self, worker: _Worker):
        try:
            while worker.pipe.poll():
                event = worker.pipe.recv()
                if isinstance(event, Finished | Failed | NoRoom):
                    worker.key = None
                yield event
        except (EOFError, OSError):
            reason = self._bury(worker)
            if worker.key is not None:
                yield Lost(worker.key, reason)

    def _bury(self, worker: _Worker) -> str:
        """Forgets a worker that is gone; gives what became of it."""
        worker.process.join()
        worker.pipe.close()
        worker.lifeline.close()
        self._workers.remove(worker)
        code = worker.process.exitcode
        return f"its process was killed by signal {-code}" if code < 0 else f"its process ended with code {code}"


def _serve(pipe: Connection, lifeline: Connection, work: Path) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the conductor decides
    threading.Thread(target=_leave_when_alone, args=(lifeline,), daemon=True).start()
    while True:
        try:
            key, config = pipe.recv()
        except EOFError:
            return
        pipe.send(_attempt(key, config, work, pipe.send))


def _attempt(key: str, config: RunConfig, work: Path, tell) -> Event:
    try:
        return Finished(key, execute(key, config, work, tell), whoami())
    except DiskFull as error:
        return NoRoom(key, str(error))
    except Exception as error:  # whatever a run raises is its result
        return Failed(key, describe_error(error), whoami())


def _leave_when_alone(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    except (EOFError, OSError):
        os._exit(1)
