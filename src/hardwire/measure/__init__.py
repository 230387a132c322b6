"""Measurements of a network: the three accuracies and the gaps between them, commitment, gate usage, bounds."""

from hardwire.measure.bounds import LossGap, loss_bound
from hardwire.measure.choices import commitment, gate_levels, gate_usage, parts_in
from hardwire.measure.gap import Gap, check_labels, evaluating, measure_gap, own_loss
from hardwire.measure.nodes import NodeGap, node_gaps

__all__ = [
    "Gap",
    "LossGap",
    "NodeGap",
    "check_labels",
    "commitment",
    "evaluating",
    "gate_levels",
    "gate_usage",
    "loss_bound",
    "measure_gap",
    "node_gaps",
    "own_loss",
    "parts_in",
]
