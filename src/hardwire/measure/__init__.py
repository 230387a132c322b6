"""What a trained network is worth: the three accuracies and their gaps, commitment, usage, bounds."""

from hardwire.measure.bounds import LossGap, NodeGap, loss_bound, node_gaps
from hardwire.measure.choices import commitment, gate_usage, parts_in
from hardwire.measure.gap import Gap, check_labels, evaluating, measure_gap, own_loss

__all__ = [
    "Gap",
    "LossGap",
    "NodeGap",
    "check_labels",
    "commitment",
    "evaluating",
    "gate_usage",
    "loss_bound",
    "measure_gap",
    "node_gaps",
    "own_loss",
    "parts_in",
]
