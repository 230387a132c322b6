"""How large the logits' gradients are, level by level, in a training step as the network stands.

Two numbers, because they tell different stories at low temperature: the root mean square, which a few undecided nodes
can carry, and the median over nodes, which says what a node usually gets.
"""

import copy
from typing import TYPE_CHECKING

import torch
from torch.nn import functional as F

import hardwire as hw

if TYPE_CHECKING:
    from hardwire.engine.stack import Input


def by_level(net: hw.LogicNetwork, x: "Input", y: torch.Tensor, draws: int = 1) -> dict[str, list[float]]:
    """gradient: the root mean square over a level's gate logits; gradient_median: of nodes, by their largest.

    draws: sizes are averaged over so many steps that differ in their noise alone; one where nothing is drawn, or where
    every row has a draw of its own.
    """
    net = copy.deepcopy(net).train()
    draws = draws if net.selector.method.noisy and net.selector.noise == "pass" else 1
    logits = [level.logits for level in net.stack().levels if level.logits is not None]
    sizes = [torch.zeros_like(z) for z in logits]
    for _ in range(draws):
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        for size, z in zip(sizes, logits, strict=True):
            assert z.grad is not None
            size += z.grad.abs()
    sizes = [size.double() / draws for size in sizes]
    return {
        "gradient": [size.square().mean().sqrt().item() for size in sizes],
        "gradient_median": [size.amax(-1).median().item() for size in sizes],
    }
