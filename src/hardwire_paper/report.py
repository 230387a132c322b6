"""What a report says about the paper's kinds of runs: tables and figures in sections, beside the paper's numbers.

What was run comes first, with its figures, then which claims hold. Surprising: runs at several scales in one store do
not mix; each scale gets its own sections, because a table of runs of different widths would compare widths.
"""

import math
from collections.abc import Iterable

from hardwire.errors import HardwireError
from hardwire.selection import METHOD_VARIANTS
from hardwire.study.checks import shortened
from hardwire.study.reporting.content import Section
from hardwire.study.reporting.studies import Study, studies
from hardwire.study.reporting.table import Table
from hardwire.study.store import Store
from hardwire_paper import convergence, extra_tables, statistics, tables
from hardwire_paper.claims import RULES, Evidence, cell_counts, claim_tables, judge_all, summary
from hardwire_paper.figures import figures_of_depth, figures_of_depths, opening_figures
from hardwire_paper.groups import RunGroup, group_runs
from hardwire_paper.headline import headline
from hardwire_paper.judging import PRACTICAL, PRINTED_RULE, SCALE_RULE
from hardwire_paper.learning_onset import learning_onset
from hardwire_paper.names import dataset_name
from hardwire_paper.paper_ranges import paper_ranges
from hardwire_paper.readings import readings, readings_figure
from hardwire_paper.runs import FAILURE_RULE, PEAK_RULE, NetworkRun
from hardwire_paper.systems.report import systems_section
from hardwire_paper.systems.verdicts import judge
from hardwire_paper.theory import tables as arithmetic

Pixels = dict[str, dict[float, int]]  # dataset -> raw value in [0, 1] -> how often it occurs
_MOST_VALUES = 1 << 16  # different pixel values of a dataset


def paper_sections(store: Store) -> list[Section]:
    """Returns all sections, from whatever runs of its kinds the store holds."""
    runs = [NetworkRun.of(result) for result in store.finished("network")]
    verdicts = judge(store.finished("systems"))
    groups, pixels = group_runs(runs), _pixels(store)
    evidence = Evidence(runs, verdicts, pixels)
    layers = [group.at(depth) for group in groups for depth in group.depths]
    largest = max(layers, key=_size, default=None)
    sections = [_opening(evidence, groups, largest), _claims(evidence, studies(store))]
    if runs:
        sections += filter(None, [headline(layers), _section(paper_ranges(layers)), _readings(layers)])
        sections += filter(None, [_section(cell_counts(evidence)), _section(learning_onset(layers))])
        sections += [_depth_section(group, group is largest) for group in layers]
        sections += [*map(_depths_section, groups), _across(layers)]
        sections += [_configuration(groups), _arithmetic(pixels)]
    if verdicts:
        sections.append(systems_section(verdicts))
    return [*sections, _rules()]


def _size(group: RunGroup) -> tuple[int, int, int]:
    return len(group.methods), group.scale.width * group.main_depth, len(group.cells)


def _opening(evidence: Evidence, groups: list[RunGroup], largest: RunGroup | None) -> Section:
    """What was run, and the accuracies and figures of the largest runs."""
    text = [f"{dataset_name(name)}: {_grids(own)}" for name, own in _by_dataset(groups).items()]
    if evidence.systems:
        text.append(f"Choices beyond gates: {len(evidence.systems)} rows, {len(evidence.systems[0].gaps)} seeds")
    if largest is None:
        return Section("what-was-run", "What was run", text=text, first=True)
    overview, figures = extra_tables.overview(largest), opening_figures(largest)
    return Section("what-was-run", "What was run", [overview], figures, text, first=True)


def _claims(evidence: Evidence, behind: list[Study]) -> Section:
    judged = judge_all(evidence)
    title = f"The paper's {len(judged)} claims"
    return Section("claims", title, claim_tables(judged, evidence.runs, behind), chips=summary(judged, behind))


def _by_dataset(groups: list[RunGroup]) -> dict[str, list[RunGroup]]:
    return {group.dataset: [one for one in groups if one.dataset == group.dataset] for group in groups}


def _grids(groups: list[RunGroup]) -> str:
    """What was run on a dataset, in a line: 24 runs; 4 x 64,000, 10,000 iterations, n=1; ..."""
    runs = len({run.config.identity for group in groups for run in group.runs})
    scales = [
        f"{_listed(group.depths)} x {group.scale.width:,}, {group.length}"
        + (" (the paper's scale)" if group.comparable else "")
        for group in groups
    ]
    methods = [method for method in METHOD_VARIANTS if any(method in group.methods for group in groups)]
    taus = sorted({tau for group in groups for tau in group.taus})
    return f"{runs} runs of {len(methods)} methods at τ {_listed(taus)}: {'; '.join(scales)}"


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _section(table: Table | None) -> Section | None:
    """A section of one table."""
    return Section(table.slug, table.title, [table]) if table else None


def _readings(groups: list[RunGroup]) -> Section | None:
    """Which reading of the straight-through estimator fits the paper."""
    shown, figure = readings(groups), readings_figure(groups)
    return Section(shown.slug, shown.title, [shown], [figure] if figure else []) if shown else None


def _depth_section(group: RunGroup, opened: bool) -> Section:
    """Everything about a group of one depth. opened: the report opens with some of its figures."""
    every = [
        extra_tables.deployed_accuracy(group),
        extra_tables.training_accuracy(group),
        tables.selection_gap(group),
        tables.factorial(group),
        extra_tables.other_forwards(group),
        extra_tables.computation_gap(group),
        *(convergence.convergence(group, definition) for definition in convergence.DEFINITIONS),
        statistics.significance(group),
    ]
    kept = [table for table in every if table is not None]
    return Section(group.name, group.words, kept, figures_of_depth(group, opened), scale=_scale(group))


def _depths_section(group: RunGroup) -> Section:
    """What compares depths."""
    title = f"{dataset_name(group.dataset)}, all depths x {group.scale.width:,}, {group.length}"
    return Section(
        f"depths-{group.name}", title, [tables.trajectories(group)], figures_of_depths(group), scale=_scale(group)
    )


def _scale(group: RunGroup) -> str:
    return f"These runs: {group.size}. The paper's: {group.paper_scale}."


def _across(groups: list[RunGroup]) -> Section:
    every = [tables.robustness(groups), tables.cross_dataset(groups), statistics.significance_by_dataset(groups)]
    return Section("across", "Across datasets", every)


def _configuration(groups: list[RunGroup]) -> Section:
    return Section("configuration", "Training configuration", [tables.settings(groups)])


def _pixels(store: Store) -> Pixels:
    counts = {}
    for name, pairs in store.facts().items():
        if name.startswith("pixels "):
            if not _are_counts(pairs):
                raise HardwireError(f"{store.path}: the fact {shortened(name)!r} is no list of values and counts")
            counts[name.removeprefix("pixels ")] = {float(value): int(count) for value, count in pairs}
    return counts


def _are_counts(pairs: object) -> bool:
    return (
        isinstance(pairs, list)
        and 0 < len(pairs) <= _MOST_VALUES
        and all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_finite, pair)) for pair in pairs)
        and all(0 <= value <= 1 and 0 < count < 2**53 for value, count in pairs)
    )


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _arithmetic(pixels: Pixels) -> Section:
    every = [
        arithmetic.representative_gates(pixels),
        arithmetic.all_gates(pixels),
        arithmetic.pixel_distribution(pixels),
        arithmetic.hessian(),
        arithmetic.gate_formulas(),
    ]
    kept = [table for table in every if table is not None]
    return Section("arithmetic", "Arithmetic of gates, pixels and single nodes", kept)


def _rules() -> Section:
    definitions = [f"Convergence by {name}: {rule}." for name, rule in convergence.DEFINITIONS.items()]
    practical = (
        f"Statistical significance: p < 0.05 in a paired t-test over seeds. Practical significance: a mean "
        f"difference of more than {PRACTICAL:g} points."
    )
    rules = [*RULES, FAILURE_RULE, PEAK_RULE, SCALE_RULE, PRINTED_RULE, practical, *definitions]
    return Section("rules", "Rules", text=rules)
