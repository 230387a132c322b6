"""What a report says of the paper's kinds of runs: tables and figures in sections, the paper's figures beside ours.

Which claims hold comes first. Surprising: runs at several scales in one store do not mix; each scale gets its own
sections, because a table of runs of different widths would compare widths.
"""

from collections.abc import Iterable

from hardwire.paper import convergence, own_tables, statistics, tables
from hardwire.paper.claims import RULES, Evidence, claim_table, judge_all, summary
from hardwire.paper.figures import figures_of_depth, figures_of_depths
from hardwire.paper.groups import FAILURE_RULE, PEAK_RULE, Group, NetworkRun, group_runs
from hardwire.paper.headline import headline
from hardwire.paper.judging import PRACTICAL, PRINTED_RULE, SCALE_RULE
from hardwire.paper.names import dataset_name
from hardwire.paper.starting import starting
from hardwire.paper.systems.report import systems_section
from hardwire.paper.systems.verdicts import judge
from hardwire.paper.theory import tables as arithmetic
from hardwire.paper.window import window
from hardwire.selection import SIX
from hardwire.study.reporting.content import Section
from hardwire.study.reporting.studies import Study, studies
from hardwire.study.reporting.table import Table
from hardwire.study.store import Store


def paper_sections(store: Store) -> list[Section]:
    """Everything the paper has a counterpart for, from whatever runs of its kinds the store holds."""
    runs = [NetworkRun.of(result) for result in store.finished("network")]
    verdicts = judge(store.finished("systems"))
    groups, pixels = group_runs(runs), _pixels(store)
    sections = [_claims(Evidence(runs, verdicts, pixels), groups, studies(store))]
    if runs:
        layers = [group.at(depth) for group in groups for depth in group.depths]
        sections += filter(None, [headline(layers), _section(window(layers)), _section(starting(layers))])
        sections += [*map(_depth_section, layers), *map(_depths_section, groups), _across(layers)]
        sections += [_configuration(groups), _arithmetic(pixels)]
    if verdicts:
        sections.append(systems_section(verdicts))
    return [*sections, _rules()]


def _claims(evidence: Evidence, groups: list[Group], behind: list[Study]) -> Section:
    """The first thing a reader sees: what was run, at which scale, and which claims hold."""
    judged = judge_all(evidence)
    ran = [f"{dataset_name(name)}: {_grids(found)}" for name, found in _by_dataset(groups).items()]
    if evidence.systems:
        ran.append(f"Choices beyond gates: {len(evidence.systems)} rows, {len(evidence.systems[0].gaps)} seeds")
    title = f"Which of the paper's {len(judged)} claims hold"
    found = claim_table(judged, evidence, behind)
    return Section("claims", title, [found], text=ran, chips=summary(judged, behind), first=True)


def _by_dataset(groups: list[Group]) -> dict[str, list[Group]]:
    return {group.dataset: [one for one in groups if one.dataset == group.dataset] for group in groups}


def _grids(groups: list[Group]) -> str:
    """What was run on a dataset, in a line: 24 runs; 4 x 64,000, 10,000 iterations, n=1; ..."""
    runs = sum(len(cell.runs) for group in groups for cell in group.cells.values())
    scales = [
        f"{_listed(group.depths)} x {group.scale.width:,}, {group.length}"
        + (" (the paper's scale)" if group.comparable else "")
        for group in groups
    ]
    methods = [method for method in SIX if any(method in group.methods for group in groups)]
    taus = sorted({tau for group in groups for tau in group.taus})
    none = "" if any(group.comparable for group in groups) else "; none at the paper's scale"
    return f"{runs} runs of {len(methods)} methods at τ {_listed(taus)}: {'; '.join(scales)}{none}"


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _section(found: Table | None) -> Section | None:
    """Of a table alone."""
    return Section(found.slug, found.title, [found]) if found else None


def _depth_section(group: Group) -> Section:
    """Everything about a group of one depth."""
    found = [
        own_tables.deployed_accuracy(group),
        own_tables.training_accuracy(group),
        tables.selection_gap(group),
        tables.factorial(group),
        own_tables.other_forwards(group),
        own_tables.computation_gap(group),
        *(convergence.convergence(group, definition) for definition in convergence.DEFINITIONS),
        statistics.significance(group),
    ]
    kept = [table for table in found if table is not None]
    return Section(group.name, group.words, kept, figures_of_depth(group), scale=_scale(group))


def _depths_section(group: Group) -> Section:
    """What compares depths."""
    title = f"{dataset_name(group.dataset)}, all depths x {group.scale.width:,}, {group.length}"
    found = [tables.trajectories(group)]
    return Section(f"depths-{group.name}", title, found, figures_of_depths(group), scale=_scale(group))


def _scale(group: Group) -> str:
    return f"These runs: {group.size}. The paper's: {group.paper_scale}."


def _across(groups: list[Group]) -> Section:
    found = [tables.robustness(groups), tables.cross_dataset(groups), statistics.significance_by_dataset(groups)]
    return Section("across", "Across datasets", found)


def _configuration(groups: list[Group]) -> Section:
    return Section("configuration", "Training configuration", [tables.settings(groups)])


def _pixels(store: Store) -> dict[str, dict[float, int]]:
    return {
        name.removeprefix("pixels "): {value: int(count) for value, count in found}
        for name, found in store.facts().items()
        if name.startswith("pixels ")
    }


def _arithmetic(pixels: dict[str, dict[float, int]]) -> Section:
    found = [
        arithmetic.representative_gates(pixels),
        arithmetic.all_gates(pixels),
        arithmetic.pixel_distribution(pixels),
        arithmetic.hessian(),
        arithmetic.gate_formulas(),
    ]
    kept = [table for table in found if table is not None]
    return Section("arithmetic", "Arithmetic of gates, pixels and single nodes", kept)


def _rules() -> Section:
    definitions = [f"Convergence by {name}: {rule}." for name, rule in convergence.DEFINITIONS.items()]
    practical = (
        f"Statistical significance: p < 0.05 in a paired t-test over seeds. Practical significance: a mean "
        f"difference of more than {PRACTICAL:g} points."
    )
    rules = [*RULES, FAILURE_RULE, PEAK_RULE, SCALE_RULE, PRINTED_RULE, practical, *definitions]
    return Section("rules", "Rules", text=rules)
