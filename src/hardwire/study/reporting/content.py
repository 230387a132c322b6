"""What a report says, as tables and figures in sections; HTML and Markdown are two ways of writing it down.

Everything comes from the store. Surprising: runs at several scales in one store do not mix; each scale gets its own
sections, because a table of runs of different widths would compare widths.
"""

from collections import Counter
from dataclasses import dataclass, field

from hardwire.errors import HardwireError
from hardwire.study.analysis import convergence, statistics, tables
from hardwire.study.analysis.groups import FAILURE_RULE, Group, group_runs
from hardwire.study.analysis.table import PRINTED_RULE, SCALE_RULE, Table, table
from hardwire.study.figures import Figure, figures_of_depth, figures_of_depths
from hardwire.study.store import Run, Store
from hardwire.study.theory import tables as arithmetic
from hardwire.study.theory.claims import claims


@dataclass(frozen=True)
class Section:
    slug: str
    title: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


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


def build(store: Store, extra: list[Section] | None = None) -> Report:
    """The whole report of a store, which needs at least one finished run; `extra` sections come before the rules."""
    runs = store.finished()
    if not runs:
        raise HardwireError(f"{store.path} has no finished run yet; `hardwire study run FILE` goes on with it")
    groups = group_runs(runs)
    names = dict.fromkeys(name for name, _ in store.descriptions())
    layers = [group.at(depth) for group in groups for depth in group.depths]
    results = [*map(_depth_section, layers), *map(_depths_section, groups), _across(layers)]
    sections = [_configuration(store, groups), *results, _theory(store, runs, groups)]
    return Report(f"Study: {', '.join(names)}", _facts(store, runs), [*sections, *(extra or []), _rules()])


def _facts(store: Store, runs: list[Run]) -> list[str]:
    counts = Counter(state.status for state in store.states().values())
    hours = sum(run.seconds for run in runs) / 3600
    others = ", ".join(f"{counts[name]} {name}" for name in ("failed", "interrupted", "running") if counts[name])
    return [
        f"{len(runs)} finished runs ({hours:.2f} hours of training){'; ' + others if others else ''}.",
        f"Code: {', '.join(sorted({run.code for run in runs}))}.",
        "The paper: Youngsung Kim, Align Forward, Adapt Backward: Closing the Discretization Gap in Logic Gate "
        "Networks.",
    ]


def _configuration(store: Store, groups: list[Group]) -> Section:
    found = [tables.settings(groups)]
    if failures := store.failures():
        rows = [[str(config), state.attempts, state.error or ""] for config, state in failures]
        found.append(table("failed-runs", "Failed runs", ["Run", "Attempts", "Error"], rows))
    return Section("configuration", "What was run", found)


def _depth_section(group: Group) -> Section:
    """Everything about a group of one depth."""
    found = [
        tables.selection_gap(group),
        tables.factorial(group),
        *(convergence.convergence(group, definition) for definition in convergence.DEFINITIONS),
        statistics.significance(group),
    ]
    title = f"{tables.dataset_name(group.dataset)}, {group.main_depth} layers: {group.scale}"
    return Section(group.name, title, found, figures_of_depth(group))


def _depths_section(group: Group) -> Section:
    """What compares depths."""
    title = f"{tables.dataset_name(group.dataset)}, all depths: {group.scale}"
    return Section(f"depths-{group.name}", title, [tables.trajectories(group)], figures_of_depths(group))


def _across(groups: list[Group]) -> Section:
    found = [tables.robustness(groups), tables.cross_dataset(groups), statistics.significance_by_dataset(groups)]
    return Section("across", "Across datasets", found)


def _theory(store: Store, runs: list[Run], groups: list[Group]) -> Section:
    pixels = store.pixels()
    size = "; ".join(f"{tables.dataset_name(group.dataset)}: {group.size}" for group in groups)
    found = [
        claims(runs, size),
        arithmetic.representative_gates(pixels),
        arithmetic.all_gates(pixels),
        arithmetic.pixel_distribution(pixels),
        arithmetic.gate_formulas(),
    ]
    return Section("theory", "Theory against measurement", [table for table in found if table is not None])


def _rules() -> Section:
    definitions = [f"Convergence by {name}: {rule}." for name, rule in convergence.DEFINITIONS.items()]
    practical = (
        f"Statistical significance: p < 0.05 in a paired t-test over seeds. Practical significance: a mean "
        f"difference of more than {statistics.PRACTICAL:g} points."
    )
    return Section("rules", "Rules", text=[FAILURE_RULE, SCALE_RULE, PRINTED_RULE, practical, *definitions])
