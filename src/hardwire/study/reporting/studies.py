"""The studies behind a report: how much of each is done, what it was expected to take and took, and by which code.

Surprising: a study is read again from its description, by the code that makes the report, while its runs may be other
code's. So a run is recognised by its configuration and not by its key.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.description import parse
from hardwire.study.plan import duration
from hardwire.study.reporting.table import Cells, Table, table
from hardwire.study.store import Result, Store

_COLUMNS = ["Study", "Runs", "Planned, all", "Planned, these runs", "Took", "Processor time", "Code"]
_NOTES = [
    "Times are those of the runs, added up: two runs side by side count twice. Planned: from a few timed steps of each "
    "shape of run, before the first one, for a machine that does nothing else. Took: by the clock, with other work on "
    "the machine. Processor time: on all threads, of runs that were not interrupted. Empty: not known for every run.",
]


@dataclass(frozen=True)
class Study:
    """A description and what the store has of it.

    Attributes:
        name: Of the study.
        file: Where its description is, if that is known.
        total: Its number of runs; None if its description cannot be read here.
        runs: Its finished runs.
        failed: Its number of failed runs.
        plan: Expected seconds, by the identity of a run.
    """

    name: str
    file: str | None
    total: int | None
    runs: list[Result]
    failed: int
    plan: dict[str, float] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether all its runs are done."""
        return self.total is None or len(self.runs) >= self.total

    @property
    def progress(self) -> str:
        """24 of 24, or 22 of 24, 1 failed."""
        done = str(len(self.runs)) if self.total is None else f"{len(self.runs)} of {self.total}"
        return f"{done}, {self.failed} failed" if self.failed else done

    @property
    def short(self) -> str:
        """The name of its file without folder and ending, or its own."""
        return self.name if self.file is None else self.file.rpartition("/")[2].removesuffix(".toml")


def studies(store: Store) -> list[Study]:
    """Returns every study that was described to the store."""
    runs, facts = store.finished(), store.facts()
    failed = {config.identity for config, _ in store.failures()} - {run.config.identity for run in runs}
    described = []
    for name, text in store.descriptions():
        try:
            wanted = {config.identity for config in parse(text)}
        except HardwireError:  # of a kind that is not installed here, or of another version
            wanted = None
        own = runs if wanted is None else [run for run in runs if run.config.identity in wanted]
        total = None if wanted is None else len(wanted)
        lost = len(failed if wanted is None else failed & wanted)
        file = facts.get(f"file {name}")
        described.append(Study(name, file if isinstance(file, str) else None, total, own, lost, _plan(facts, name)))
    return described


def _plan(facts: dict[str, object], study: str) -> dict[str, float]:
    """What runs were expected to take; whatever is no number of seconds is left out."""
    plan = facts.get(f"plan {study}")
    entries = plan.items() if isinstance(plan, dict) else ()
    return {key: float(value) for key, value in entries if isinstance(value, int | float) and math.isfinite(value)}


def studies_table(described: list[Study], commits: dict[str, str]) -> Table:
    """Returns a row for each study."""
    rows: list[Cells] = [
        [
            study.short,
            study.progress,
            _sum(study.plan.values()) if len(study.plan) == study.total else "",
            _sum(study.plan.get(run.config.identity) for run in study.runs),
            _sum(run.seconds for run in study.runs),
            _sum(run.cpu_seconds for run in study.runs),
            codes(study.runs, commits),
        ]
        for study in described
    ]
    return table("studies", "Studies", _COLUMNS, rows, notes=_NOTES)


def codes(runs: Iterable[Result], commits: dict[str, str]) -> str:
    """Returns which code made these runs, with the commit where it is known."""
    versions = sorted({run.code for run in runs})
    return ", ".join(f"{code} (commit {commits[code][:10]})" if code in commits else code for code in versions)


def commits_of(store: Store) -> dict[str, str]:
    """Returns the commit of each version of the code, where the store knows it."""
    facts = store.facts().items()
    known = {name.removeprefix("code "): value for name, value in facts if name.startswith("code ")}
    return {code: value for code, value in known.items() if isinstance(value, str)}


def _sum(seconds: Iterable[float | None]) -> str:
    """The time in all; nothing if a part is not known, or there is none."""
    values = list(seconds)
    known = [value for value in values if value is not None]
    return duration(sum(known)) if known and len(known) == len(values) else ""
