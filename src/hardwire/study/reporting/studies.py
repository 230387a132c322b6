"""The studies behind a report: how much of each is done, what it was expected to take and took, and by which code.

Surprising: a study is read anew from its description, by the code that reports, while its runs may be other code's; so
a run is found by what it says of itself and not by its key.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.description import parse
from hardwire.study.plan import duration
from hardwire.study.reporting.table import Entry, Table, table
from hardwire.study.store import Result, Store

_COLUMNS = ["Study", "Runs", "Planned, all", "Planned, these runs", "Took", "Processor time", "Code"]
_NOTES = [
    "Times are those of the runs, added up: runs side by side count each. Planned: by a few timed steps of each shape "
    "of run, before the first one, for a machine that has nothing else to do. Took: the clock of training and "
    "evaluating, other work on the machine included. Processor time: of all threads, where a run was done in one "
    "go and says it. Empty: not known of every run.",
]


@dataclass(frozen=True)
class Study:
    """A description and what the store has of it. file: where it is, if that is known; total: None if it is not.

    plan: expected seconds by the identity of a run.
    """

    name: str
    file: str | None
    total: int | None
    runs: list[Result]
    failed: int
    plan: dict[str, float] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
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
    """Every study that was described to the store."""
    runs, facts = store.finished(), store.facts()
    failed = {config.identity for config, _ in store.failures()} - {run.config.identity for run in runs}
    found = []
    for name, text in store.descriptions():
        try:
            wanted = {config.identity for config in parse(text)}
        except HardwireError:  # of a kind that is not installed here, or of another version
            wanted = None
        own = runs if wanted is None else [run for run in runs if run.config.identity in wanted]
        total = None if wanted is None else len(wanted)
        lost = len(failed if wanted is None else failed & wanted)
        found.append(Study(name, facts.get(f"file {name}"), total, own, lost, facts.get(f"plan {name}", {})))
    return found


def studies_table(found: list[Study], commits: dict[str, str]) -> Table:
    rows: list[list[Entry | str | int]] = [
        [
            study.short,
            study.progress,
            _sum(study.plan.values()) if len(study.plan) == study.total else "",
            _sum(study.plan.get(run.config.identity) for run in study.runs),
            _sum(run.seconds for run in study.runs),
            _sum(run.cpu_seconds for run in study.runs),
            codes(study.runs, commits),
        ]
        for study in found
    ]
    return table("studies", "Studies", _COLUMNS, rows, notes=_NOTES)


def codes(runs: Iterable[Result], commits: dict[str, str]) -> str:
    """Which code did these runs, with the commit where it is known."""
    found = sorted({run.code for run in runs})
    return ", ".join(f"{code} (commit {commits[code][:10]})" if code in commits else code for code in found)


def commits_of(store: Store) -> dict[str, str]:
    facts = store.facts().items()
    return {name.removeprefix("code "): value for name, value in facts if name.startswith("code ")}


def _sum(seconds: Iterable[float | None]) -> str:
    """The time in all; nothing where a part is not known, or there is none."""
    values = list(seconds)
    known = [value for value in values if value is not None]
    return duration(sum(known)) if known and len(known) == len(values) else ""
