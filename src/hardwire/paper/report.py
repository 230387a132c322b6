"""What a report says of the paper's kinds of runs: tables and figures in sections, the paper's figures beside ours.

Surprising: runs at several scales in one store do not mix; each scale gets its own sections, because a table of runs of
different widths would compare widths.
"""

from hardwire.paper import convergence, statistics, tables
from hardwire.paper.figures import figures_of_depth, figures_of_depths
from hardwire.paper.groups import FAILURE_RULE, PEAK_RULE, Group, NetworkRun, group_runs
from hardwire.paper.judging import PRINTED_RULE, SCALE_RULE
from hardwire.paper.names import dataset_name
from hardwire.paper.theory import tables as arithmetic
from hardwire.paper.theory.claims import claims
from hardwire.study.reporting.content import Section
from hardwire.study.store import Store


def paper_sections(store: Store) -> list[Section]:
    """Everything the paper has a counterpart for, from whatever runs of its kinds the store holds."""
    from hardwire.paper.systems.report import systems_section

    runs = [NetworkRun.of(result) for result in store.finished("network")]
    sections: list[Section] = []
    if runs:
        groups = group_runs(runs)
        layers = [group.at(depth) for group in groups for depth in group.depths]
        sections += [_configuration(groups), *map(_depth_section, layers), *map(_depths_section, groups)]
        sections += [_across(layers), _theory(store, runs)]
    if results := store.finished("systems"):
        sections.append(systems_section(results))
    return [*sections, _rules()]


def _configuration(groups: list[Group]) -> Section:
    return Section("configuration", "What was run", [tables.settings(groups)])


def _depth_section(group: Group) -> Section:
    """Everything about a group of one depth."""
    found = [
        tables.deployed_accuracy(group),
        tables.selection_gap(group),
        tables.factorial(group),
        *(convergence.convergence(group, definition) for definition in convergence.DEFINITIONS),
        statistics.significance(group),
    ]
    title = f"{dataset_name(group.dataset)}, {group.main_depth} layers of {group.scale.width:,}"
    return Section(group.name, title, found, figures_of_depth(group), scale=_scale(group))


def _depths_section(group: Group) -> Section:
    """What compares depths."""
    title = f"{dataset_name(group.dataset)}, all depths, {group.scale.width:,} neurons a layer"
    found = [tables.trajectories(group)]
    return Section(f"depths-{group.name}", title, found, figures_of_depths(group), scale=_scale(group))


def _scale(group: Group) -> str:
    return f"These runs: {group.size}. The paper's: {group.paper_scale}."


def _across(groups: list[Group]) -> Section:
    found = [tables.robustness(groups), tables.cross_dataset(groups), statistics.significance_by_dataset(groups)]
    return Section("across", "Across datasets", found)


def _theory(store: Store, runs: list[NetworkRun]) -> Section:
    facts = store.facts()
    pixels = {
        name.removeprefix("pixels "): {value: int(count) for value, count in counts}
        for name, counts in facts.items()
        if name.startswith("pixels ")
    }
    found = [
        claims(runs),
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
    return Section("rules", "Rules", text=[FAILURE_RULE, PEAK_RULE, SCALE_RULE, PRINTED_RULE, practical, *definitions])
