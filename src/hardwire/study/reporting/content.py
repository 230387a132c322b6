"""What a report says, as tables and figures in sections; HTML, Markdown and the terminal are ways of writing it down.

Everything comes from the store. Each kind of run in it says what there is to say about its runs; studies and failures
are the same for all kinds. Surprising: every run is checked by its kind before anything is computed, because a store
may come from a stranger.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hardwire.errors import HardwireError
from hardwire.study.checks import shortened
from hardwire.study.kinds import find_kind, label
from hardwire.study.reporting.figure import Figure
from hardwire.study.reporting.studies import codes, commits_of, studies, studies_table
from hardwire.study.reporting.table import Cells, Table, table
from hardwire.study.store import Result, Store


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes:
        slug: Its anchor.
        title: Its title.
        tables: Its tables.
        figures: Its figures.
        text: Sentences, shown as a list before them.
        scale: The scale of the runs behind it.
        chips: Short results, each with its tone.
        first: Whether it comes before everything else, and on a terminal too.
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
    """A whole report: a title, a few facts, and sections."""

    title: str
    facts: list[str]
    sections: list[Section]

    @property
    def tables(self) -> list[Table]:
        """The tables of all sections."""
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        """The figures of all sections."""
        return [figure for section in self.sections for figure in section.figures]


def build(store: Store) -> Report:
    """Makes the report of a store, which needs at least one finished run.

    Raises:
        HardwireError: There is none, or a run has values that no run of its kind can have.
    """
    runs = store.finished()
    if not runs:
        raise HardwireError(f"{store.path} has no finished run yet; `hardwire study run FILE` continues it")
    _check(store, runs)
    names = dict.fromkeys(name for name, _ in store.descriptions())
    sections = _sections(store, runs)
    if described := studies(store):
        sections.append(Section("studies", "Studies", [studies_table(described, commits_of(store))]))
    if failures := store.failures():
        rows: list[Cells] = [[label(config), state.attempts, state.error or ""] for config, state in failures]
        sections.append(Section("failed", "Failed runs", [table("failed-runs", "Failed runs", _FAILED, rows)]))
    ordered = sorted(sections, key=lambda section: not section.first)
    return Report(f"Study: {', '.join(names)}", _facts(store, runs), ordered)


_FAILED = ["Run", "Attempts", "Error"]


def _check(store: Store, runs: list[Result]) -> None:
    for run in runs:
        try:
            find_kind(run.config.kind).check_result(run)
        except HardwireError as error:
            run_title = f"{shortened(run.key)} ({shortened(label(run.config), 200)})"
            raise HardwireError(f"{store.path}: the run {run_title} cannot be reported: {error}") from None


def _sections(store: Store, runs: list[Result]) -> list[Section]:
    """Kinds that share their `sections` are asked once."""
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
