"""The paper's figures, drawn from a group of finished runs."""

from hardwire.study.reporting.figure import Figure
from hardwire_paper.figures import areas, curves, training
from hardwire_paper.groups import RunGroup

_OPENING = (curves.gap_over_training, curves.accuracy_against_tau)
_OTHERS = (
    curves.iterations_to_convergence,
    areas.factorial,
    curves.commitment_by_layer,
    training.commitment_over_training,
    training.gradients,
    curves.cage_dynamics,
    areas.gate_usage,
)


def opening_figures(group: RunGroup) -> list[Figure]:
    """Returns the two figures that a report opens with: gap over training, and accuracy against tau."""
    return [drawer(group) for drawer in _OPENING]


def figures_of_depth(group: RunGroup, opened: bool = False) -> list[Figure]:
    """Returns every figure about one depth for which the group has runs.

    Args:
        group: Runs of one depth.
        opened: Leave out those of `opening_figures`, which the report has shown already.
    """
    others = [figure for drawer in _OTHERS if (figure := drawer(group)) is not None]
    return others if opened else [*opening_figures(group), *others]


def figures_of_depths(group: RunGroup) -> list[Figure]:
    """Returns the figures that compare depths."""
    return [areas.gap_heatmap(group)]
