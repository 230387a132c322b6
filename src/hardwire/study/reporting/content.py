"""What a report says, as tables and figures in sections; HTML, Markdown and the terminal are ways of writing it down.

Everything comes from the store. The kinds of run that are in it say what is to be said of them; what was run, what
failed and how a section's place is found is the same for all.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hardwire.errors import HardwireError
from hardwire.study.kinds import find_kind, label
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.studies import codes, commits_of, studies, studies_table
from hardwire.study.reporting.table import Entry, Table, table
from hardwire.study.store import Result, Store


@dataclass(frozen=True)
class Section:
    """scale: of the runs behind it, said once. chips: short results, each with its tone.

    first: it comes before everything else, and a terminal shows it too.
    """

    slug: str
    title: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    scale: str = ""
    chips: list[tuple[str, str]] = field(default_factory=list)
    first: bool = False


@dataclass(frozen=True)
class Report:
    title: str
    facts: list[str]
    sections: list[Section]

    @property
    def tables(self) -> list[Table]:
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]


def build(store: Store) -> Report:
    """The whole report of a store, which needs at least one finished run."""
    runs = store.finished()
    if not runs:
        raise HardwireError(f"{store.path} has no finished run yet; `hardwire study run FILE` goes on with it")
    names = dict.fromkeys(name for name, _ in store.descriptions())
    sections = _sections(store, runs)
    if found := studies(store):
        sections.append(Section("studies", "Studies", [studies_table(found, commits_of(store))]))
    if failures := store.failures():
        rows: list[list[Entry | str | int]] = [
            [label(config), state.attempts, state.error or ""] for config, state in failures
        ]
        sections.append(Section("failed", "Failed runs", [table("failed-runs", "Failed runs", _FAILED, rows)]))
    ordered = sorted(sections, key=lambda section: not section.first)
    return Report(f"Study: {', '.join(names)}", _facts(store, runs), ordered)


_FAILED = ["Run", "Attempts", "Error"]


def _sections(store: Store, runs: list[Result]) -> list[Section]:
    """Kinds that share the function that speaks for them are asked once."""
    speakers: dict[Any, Any] = {}
    for name in dict.fromkeys(run.config.kind for run in runs):
        kind = find_kind(name)
        speakers.setdefault(type(kind).sections, kind)
    return [section for kind in speakers.values() for section in kind.sections(store)]


def _facts(store: Store, runs: list[Result]) -> list[str]:
    counts = Counter(state.status for state in store.states().values())
    hours = sum(run.seconds for run in runs) / 3600
    others = ", ".join(f"{counts[name]} {name}" for name in ("failed", "interrupted", "running") if counts[name])
    return [
        f"{len(runs)} finished runs ({hours:.2f} hours of training){'; ' + others if others else ''}. "
        f"Code: {codes(runs, commits_of(store))}."
    ]
