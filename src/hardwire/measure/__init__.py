"""What a trained network is worth: the three accuracies and their gaps, commitment, usage, bounds."""

from hardwire.measure.gap import (
    Gap,
    LossGap,
    NodeGap,
    check_labels,
    commitment,
    evaluating,
    gate_layers,
    gate_usage,
    loss_bound,
    measure_gap,
    node_gaps,
)

__all__ = [
    "Gap",
    "LossGap",
    "NodeGap",
    "check_labels",
    "commitment",
    "evaluating",
    "gate_layers",
    "gate_usage",
    "loss_bound",
    "measure_gap",
    "node_gaps",
]
