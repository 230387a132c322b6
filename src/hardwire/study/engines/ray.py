"""The Ray engine: the same runs as tasks of a cluster, one core each.

Checkpoints lie in the work folder if the node has it (one machine, or a shared disk), else in a folder of the node's
own; so a run whose node dies goes on from its checkpoint where disks are shared and starts over where they are not.
Surprising: Ray's own retries are off. The conductor counts losses, whatever the engine.
"""

import tempfile
import time
from pathlib import Path

from hardwire.errors import HardwireError
from hardwire.study.description import RunConfig
from hardwire.study.engines import Event, Failed, Finished, Lost, NoRoom
from hardwire.study.store import whoami
from hardwire.study.version import code_version
from hardwire.study.worker import DiskFull, describe_error, discard, execute


class RayEngine:
    """Runs on a Ray cluster. address: auto for the one this machine belongs to; None starts one here.

    workers: runs at once; as many as the cluster has cores if not given.
    """

    def __init__(self, work: Path, workers: int | None = None, address: str | None = None):
        try:
            import ray
        except ImportError:
            raise HardwireError(
                "the ray engine needs Ray: pip install 'hardwire[ray]', or use --engine local"
            ) from None
        self._ray, self._work, self._workers = ray, work, workers
        self._connected_here = not ray.is_initialized()
        if self._connected_here:
            self._connect(address)
        # max_calls=0: processes are reused, so that torch is imported once for each core
        self._task = ray.remote(num_cpus=1, max_retries=0, max_calls=0)(_attempt)
        self._running: dict = {}  # reference -> key

    @property
    def slots(self) -> int:
        """The cores of the nodes that are alive now."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 0)))

    def submit(self, key: str, config: RunConfig) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        self._running[self._task.remote(key, config, str(self._work.resolve()), code_version())] = key

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

    def _collect(self, reference) -> Event:
        key = self._running.pop(reference)
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:  # what `_attempt` does not catch: the code is not there
            return Failed(key, describe_error(error.cause or error), "ray")
        except self._ray.exceptions.RayError as error:  # the process, its node or the link to it is gone
            return Lost(key, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")


def _attempt(key: str, config: RunConfig, work: str, code: str) -> Event:
    """One run, on whatever node. code: the version that the store will name as its maker."""
    if code_version() != code:
        return Failed(key, f"the node has hardwire {code_version()}, the study {code}; install the same", whoami())
    folder, own = Path(work), False
    if not folder.is_dir():
        folder, own = Path(tempfile.gettempdir()) / f"hardwire-{folder.name}", True
    try:
        outcome = execute(key, config, folder)
    except DiskFull as error:
        return NoRoom(key, str(error))
    except Exception as error:  # whatever a run raises is its result
        return Failed(key, describe_error(error), whoami())
    if own:
        discard(folder, key)
    return Finished(key, outcome, whoami())
