"""Studies: grids of runs, described in TOML, resumable, stored in SQLite, analysed and reported.

`describe` reads a description, `run` carries it out on this machine or a cluster, `report` makes tables, figures and
statistics from the store alone. The store is the only thing they share.
"""

from pathlib import Path

from hardwire.study.conductor import Standing, Watcher, conduct
from hardwire.study.description import PRESETS, Description, RunConfig, preset_text
from hardwire.study.description import load as describe
from hardwire.study.engines import open_engine
from hardwire.study.store import Store

__all__ = ["PRESETS", "Description", "RunConfig", "Standing", "Store", "Watcher", "describe", "preset_text", "report"]
__all__ += ["run"]


def run(
    description: Description,
    store,
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    watcher: Watcher | None = None,
) -> Standing:
    """Runs what is left of a study and writes it to the SQLite file `store`. Call it under `if __name__ == "__main__"`.

    engine: local or ray. workers: runs at once, a core each if not given. address: of a Ray cluster, such as auto.
    """
    with Store(store, create=True) as opened, opened.exclusive():
        started = open_engine(engine, opened.work, workers, address)
        try:
            return conduct(description, opened, started, retry_failed, watcher)
        finally:
            started.close()
            opened.interrupt()


def report(store, folder, domains=None) -> Path:
    """Writes tables, figures, statistics and theory of a store into `folder`; gives the path of the HTML page.

    domains: a folder of `hardwire domains run`, whose table and figure become a section.
    """
    from hardwire.study.reporting import write_report

    with Store(store) as opened:
        return write_report(opened, Path(folder).expanduser(), domains)
