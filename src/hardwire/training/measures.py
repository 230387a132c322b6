"""What is measured at an evaluation: any function of (net, rows) that returns named numbers, by default `GapMeasures`.

Surprising: measures have no influence on how the network trains. A module whose output is not class scores trains with
a loss of its own and is measured by that loss, or by any function you write.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from hardwire.data.rows import Rows
from hardwire.layers import GateLayer, Selector
from hardwire.measure import commitment, gate_levels, gate_usage, measure_gap, node_gaps, parts_in
from hardwire.training.history import DEFAULT_BEST_BY

Loss = Callable[[Any, Any], torch.Tensor]  # (output of the network, target) -> the mean over the batch
Measures = Callable[[nn.Module, Rows], Mapping[str, Any]]
NODE_ROWS = 32  # rows of the evaluated split on which node gaps are measured; thousands of nodes make up for few rows


@dataclass(frozen=True)
class GapMeasures:
    """Measures the three passes of a module that chooses, the gaps between them and the temperature.

    For layers of gates it adds confidence, commitment, gate usage and node gaps, by layer.

    Args:
        batch_size: Rows per forward pass.
        loss: Judge the passes by this mean loss instead of by accuracy.

    Example:
        >>> measures = hw.training.GapMeasures(batch_size=500)
        >>> hw.fit(net, data, iterations=1000, measures=measures)  # doctest: +SKIP
    """

    batch_size: int = 1000
    loss: Loss | None = None

    @property
    def best_by(self) -> str:
        """The measure that decides which evaluation is best; a minus sign means that lower is better."""
        return DEFAULT_BEST_BY if self.loss is None else f"-{DEFAULT_BEST_BY}"

    def __call__(self, net: nn.Module, rows: Rows) -> dict[str, Any]:
        gap = measure_gap(net, rows, self.batch_size, self.loss)
        names = ("method", "argmax", "deploy", "selection", "computation", "total")
        taus = [part.temperature.tau.item() for part in net.modules() if isinstance(part, Selector)]
        measured = {name: getattr(gap, name) for name in names} | {"tau": sum(taus) / len(taus)}
        has_gates = any(isinstance(module, GateLayer) for module in net.modules())
        return measured | (_gate_measures(net, rows) if has_gates else {})


def _gate_measures(net: nn.Module, rows: Rows) -> dict[str, Any]:
    """By layer: how decided the neurons are, which gates they chose, and how far they are from the deployed gate."""
    committed, nodes = commitment(net), node_gaps(net, rows.x[:NODE_ROWS])
    neurons = [part.level.row_count for part in parts_in(net)]
    usage = {"gate_usage": gate_usage(net).tolist()} if gate_levels(net) else {}
    return {
        "confidence": sum(c * n for c, n in zip(committed, neurons, strict=True)) / sum(neurons),
        "commitment": committed,
        **usage,
        "node_actual": [node.actual_mean for node in nodes],
        "node_bound": [node.bound_mean for node in nodes],
    }
