"""Studies: grids of runs of any kind, described in TOML, resumable, stored in SQLite, reported.

`describe` reads a description, `run` carries it out on this machine or a cluster, `report` makes tables and figures
from the store alone. The store is the only thing they share; what a run is and what is said of it, its `Kind` knows.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from hardwire.study.conductor import Standing, Watcher, conduct
from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.description import load as describe
from hardwire.study.kinds import Axis, Cost, Job, Kind, Outcome, register
from hardwire.study.runners import open_runner
from hardwire.study.store import Result, Store

__all__ = ["Axis", "Config", "Cost", "Description", "Job", "Kind", "Outcome", "Result", "Standing", "Store", "Watcher"]
__all__ += ["describe", "register", "report", "run"]


def run(
    description: Description,
    store: str | PathLike[str],
    *,
    runner: str = "local",
    workers: int | None = None,
    threads: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    weights: Mapping[Config, float] | None = None,
    watcher: Watcher | None = None,
) -> Standing:
    """Runs what is left of a study and writes it to the SQLite file `store`. Call it under `if __name__ == "__main__"`.

    runner: local or ray. workers: runs at once, threads: of each; the description's if not given, and as many workers
    as the cores allow if it names none. address: of a Ray cluster, such as auto. weights: expected seconds of runs, for
    the time that is left.
    """
    threads = threads or description.threads
    with Store(store, create=True) as opened, opened.exclusive():
        started = open_runner(runner, workers or description.workers, threads, address)
        try:
            return conduct(
                description,
                opened,
                started,
                threads=threads,
                retry_failed=retry_failed,
                weights=weights,
                watcher=watcher,
            )
        finally:
            started.close()
            opened.interrupt()


def report(store: str | PathLike[str], folder: str | PathLike[str]) -> Path:
    """Writes tables and figures of a store into `folder`; gives the path of the HTML page."""
    from hardwire.study.reporting import build, write_report

    with Store(store) as opened:
        return write_report(build(opened), Path(folder).expanduser())
