"""What is measured at an evaluation: any function of (net, rows) that gives numbers by name, and the usual one.

Surprising: what is measured decides nothing about how the network trains. A module whose output is no class score
trains with a loss of its own and is measured by it, or by whatever function you write.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from hardwire.data.dataset import Rows
from hardwire.layers import GateLayer, Selector
from hardwire.measure import commitment, gate_usage, measure_gap, node_gaps, parts_in
from hardwire.training.history import DECIDES

Loss = Callable[[Any, Any], torch.Tensor]  # (what the network gives, target) -> the mean over the batch
Measures = Callable[[nn.Module, Rows], Mapping[str, Any]]
NODE_ROWS = 32  # rows of the evaluated split on which node gaps are measured: over thousands of nodes that is plenty


@dataclass(frozen=True)
class GapMeasures:
    """The three passes of any module that chooses, their gaps and the temperature; of gates also how they stand.

    loss: without one the passes are judged by accuracy, with one by their mean loss.
    """

    batch_size: int = 1000
    loss: Loss | None = None

    @property
    def best_by(self) -> str:
        return DECIDES if self.loss is None else f"-{DECIDES}"

    def __call__(self, net: nn.Module, rows: Rows) -> dict[str, Any]:
        gap = measure_gap(net, rows, self.batch_size, self.loss)
        names = ("method", "argmax", "deploy", "selection", "computation", "total")
        taus = [part.temperature.tau.item() for part in net.modules() if isinstance(part, Selector)]
        measured = {name: getattr(gap, name) for name in names} | {"tau": sum(taus) / len(taus)}
        has_gates = any(isinstance(module, GateLayer) for module in net.modules())
        return measured | (_of_gates(net, rows) if has_gates else {})


def _of_gates(net: nn.Module, rows: Rows) -> dict[str, Any]:
    """By layer, how decided the neurons are, what they chose, and how far they are from their deployed gate."""
    committed, nodes = commitment(net), node_gaps(net, rows.x[:NODE_ROWS])
    neurons = [part.level.row_count for part in parts_in(net)]
    return {
        "confidence": sum(c * n for c, n in zip(committed, neurons, strict=True)) / sum(neurons),
        "commitment": committed,
        "gate_usage": gate_usage(net).tolist(),
        "node_actual": [node.actual_mean for node in nodes],
        "node_bound": [node.bound_mean for node in nodes],
    }
