"""Studies: grids of runs of any kind, described in TOML, resumable, stored in SQLite, and reported.

`describe` reads a description, `run` does its runs on this machine or on a cluster, `report` makes tables and figures
from the store alone. The store is the only thing they share. What a run is and what a report says about it is the
business of its `Kind`.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from hardwire.study.config import Config
from hardwire.study.coordinator import StudyProgress, Watcher, run_study
from hardwire.study.description import Description
from hardwire.study.description import load as describe
from hardwire.study.kinds import Axis, Cost, Kind, Outcome, StudyJob, register
from hardwire.study.runners import open_runner
from hardwire.study.store import Result, Store

__all__ = [
    "Axis",
    "Config",
    "Cost",
    "Description",
    "Kind",
    "Outcome",
    "Result",
    "Store",
    "StudyJob",
    "StudyProgress",
    "Watcher",
    "describe",
    "register",
    "report",
    "run",
]


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
) -> StudyProgress:
    """Does the runs of a study that are not done yet. In a script, call it under `if __name__ == "__main__"`.

    Args:
        description: The study, from `describe`.
        store: The SQLite file for its results; it is made if it does not exist.
        runner: "local" for processes on this machine, "ray" for a cluster.
        workers: Runs at once. By default the description's number, or as many as there are cores for.
        threads: Threads of each run. By default the description's number.
        address: Of a Ray cluster, such as "auto".
        retry_failed: Whether to try failed runs again.
        weights: Expected seconds of each run, to tell the time left.
        watcher: Is told about everything that happens.

    Returns:
        How many runs are done and how many failed.

    Raises:
        HardwireError: Another study is running on the store, or the disk is full.

    Example:
        >>> progress = run(describe("mine.toml"), "mine.sqlite", workers=2)
        >>> progress.done, progress.total
        (24, 24)
    """
    threads = threads or description.threads
    with Store(store, create=True) as opened, opened.exclusive():
        started = open_runner(runner, workers or description.workers, threads, address)
        try:
            return run_study(
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
            opened.mark_interrupted()


def report(store: str | PathLike[str], folder: str | PathLike[str], png: bool = False) -> Path:
    """Writes the tables and figures of a store.

    Args:
        store: A SQLite file, or a folder of published results.
        folder: Where to write; it is made if it does not exist.
        png: Whether to write each figure as a PNG as well.

    Returns:
        The path of the HTML page.

    Example:
        >>> report("mine.sqlite", "report")
        PosixPath('report/index.html')
    """
    from hardwire.study.reporting import build, write_report

    with Store(store) as opened:
        return write_report(build(opened), Path(folder).expanduser(), png)
