"""The paper's figures, drawn from a group of finished runs."""

from hardwire.paper.figures import areas, curves, training
from hardwire.paper.groups import Group
from hardwire.study.reporting.figure import Figure

_DRAWERS = (
    curves.gap_over_training,
    curves.accuracy_against_tau,
    curves.iterations_to_convergence,
    curves.commitment_by_layer,
    training.commitment_over_training,
    training.gradients,
    curves.cage_dynamics,
    areas.gate_usage,
)


def figures_of_depth(group: Group) -> list[Figure]:
    """Every figure about one depth for which the group has runs."""
    return [figure for drawer in _DRAWERS if (figure := drawer(group)) is not None]


def figures_of_depths(group: Group) -> list[Figure]:
    """The figures that compare depths."""
    return [areas.gap_heatmap(group)]
