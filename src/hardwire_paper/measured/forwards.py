"""The same trained logits under other forward passes: which part of a gap is the pass's, and which the training's.

The paper compares networks that were trained differently. Here one network is evaluated with each of the four methods'
passes, the noisy two with the same draws; and a hard method at other temperatures, which must change nothing.
"""

import copy
from typing import TYPE_CHECKING

import torch

import hardwire as hw
from hardwire.layers import selection_mode
from hardwire.measure import evaluating
from hardwire.selection import METHODS

if TYPE_CHECKING:
    from hardwire.data import Dataset

ROWS = 2000
FEW = 64


def measure(net: hw.LogicNetwork, data: "Dataset") -> dict[str, float]:
    """forward.METHOD: accuracy of this network in that method's pass; decoupled.difference: of hard methods' scores."""
    net, rows = copy.deepcopy(net), data.test.part(slice(ROWS))
    own = net.selector.method
    results = {"forward.argmax": hw.measure_gap(net, rows).argmax}
    for name, method in METHODS.items():
        net.selector.method = net.selector.wire_method = method
        results[f"forward.{name}"] = hw.measure_gap(net, rows).method
    net.selector.method = net.selector.wire_method = own
    if own.hard:
        results["decoupled.difference"] = _change(net, rows.x[:FEW])
    return results


@torch.no_grad()
def _change(net: hw.LogicNetwork, x: hw.Bits | torch.Tensor) -> float:
    """The largest change of a score in the method's own pass when its temperature is a hundredth, or hundredfold."""
    scores = []
    for factor in (1.0, 0.01, 1e4):
        net.selector.temperature.tau.mul_(factor)
        with evaluating(net), selection_mode(net, "method"):
            scores.append(net(x))
    result: float = max((other - scores[0]).abs().max().item() for other in scores[1:])
    return result
