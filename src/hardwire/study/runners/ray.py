"""The Ray runner: the same runs as tasks of a cluster, each with its share of cores.

Checkpoints lie in the work folder if the node has it (one machine, or a shared disk), and otherwise in a temporary
folder that only this run can read. So a run whose node dies continues from its checkpoint where disks are shared and
starts over elsewhere. Surprising: Ray's own retries are off. The coordinator counts losses, whatever the runner.
"""

import dataclasses
import tempfile
import time
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError
from hardwire.study.runners import Event, WorkerLost
from hardwire.study.store import worker_name
from hardwire.study.version import code_version
from hardwire.study.worker import Ending, Failed, Task, attempt, describe_error


class RayRunner:
    """Runs on a Ray cluster.

    Args:
        workers: Runs at once; by default as many as the cluster has cores for.
        threads: Cores of each run.
        address: "auto" for the cluster that this machine belongs to; None starts one here.
    """

    def __init__(self, workers: int | None = None, threads: int = 1, address: str | None = None):
        try:
            import ray
        except ImportError:
            raise HardwireError(
                "the ray runner needs Ray: pip install 'hardwire[ray]', or use --runner local"
            ) from None
        self._ray: Any = ray
        self._workers, self._threads = workers, threads
        self._connected_here = not ray.is_initialized()
        if self._connected_here:
            self._connect(address)
        # max_calls=0: processes are reused, so that torch is imported once for each slot
        self._task = self._ray.remote(num_cpus=threads, max_retries=0, max_calls=0)(_attempt)
        self._running: dict[Any, str] = {}  # reference -> key

    @property
    def slots(self) -> int:
        """How many runs there are cores for, on the nodes that are alive now."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 0)) // self._threads)

    def submit(self, task: Task) -> None:
        task.work.mkdir(parents=True, exist_ok=True)
        task = dataclasses.replace(task, work=task.work.resolve())
        self._running[self._task.remote(task, code_version(task.kind))] = task.key

    def events(self, timeout: float) -> list[Event]:
        if not self._running:
            time.sleep(timeout)
            return []
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout)
        return [self._collect(reference) for reference in ready]

    def close(self) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running.clear()
        if self._connected_here:
            self._ray.shutdown()

    def _connect(self, address: str | None) -> None:
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="error")
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise HardwireError(
                f"no Ray cluster at {address!r} ({str(error).splitlines()[0]}); start one with `ray start --head`, or "
                "leave --address out"
            ) from None

    def _collect(self, reference: Any) -> Event:
        key = self._running.pop(reference)
        try:
            event: Ending = self._ray.get(reference)
            return event
        except self._ray.exceptions.RayTaskError as error:  # what `_attempt` does not catch: the code is not there
            return Failed(key, describe_error(error.cause or error), "ray")
        except self._ray.exceptions.RayError as error:  # the process, its node or the link to it is gone
            return WorkerLost(key, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")


def _attempt(task: Task, code: str) -> Ending:
    """Does one run on some node. code: the version of the code that the store will name."""
    here = code_version(task.kind)
    if here != code:
        return Failed(task.key, f"the node has hardwire {here}, the study {code}; install the same", worker_name())
    if task.work.is_dir():
        return attempt(task)
    with tempfile.TemporaryDirectory(prefix="hardwire-") as own:  # a name that nobody can guess, for this user alone
        return attempt(dataclasses.replace(task, work=Path(own), models=None))
