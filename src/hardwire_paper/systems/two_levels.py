"""DARTS as published: weights and logits learn in turn, each from its own half of the training rows, and the chosen
network is then trained anew on all of them.

Of the first order: the logits' gradient takes the weights as they are. Surprising: both share one Adam, which passes
over parameters without a gradient, so that a checkpoint holds both and nothing about `fit` is special.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

import hardwire as hw
from hardwire.training import Callback, TrainingRun
from hardwire.training.order import BatchOrder
from hardwire_paper.systems.catalog import Rows, System


class TwoLevels(Callback):
    """After each step of the weights one of the logits, on rows that the weights never see."""

    def __init__(self, system: System, rows: Rows, seed: int):
        x, y = rows
        self.system, half = system, len(x) // 2
        self.weight_rows, self.logit_rows = (x[:half], y[:half]), (x[half:], y[half:])
        self.order = BatchOrder(len(self.logit_rows[0]), system.batch_size, seed)

    def on_start(self, run: TrainingRun) -> None:
        _learns(run.net, logits=False)

    def on_step(self, run: TrainingRun) -> None:
        _learns(run.net, logits=True)
        rows = self.order.indices(run.iteration)
        run.optimizer.zero_grad()
        self.system.loss(run.net(self.logit_rows[0][rows]), self.logit_rows[1][rows]).backward()
        run.optimizer.step()
        run.optimizer.zero_grad()
        _learns(run.net, logits=False)

    def on_end(self, run: TrainingRun) -> None:
        run.net.requires_grad_(True)


def _learns(net: nn.Module, logits: bool) -> None:
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(name.endswith("logits") == logits)


def retrain(net: nn.Module, system: System, rows: Rows, iterations: int, seed: int, checkpoint: Path) -> nn.Module:
    """The same architecture from fresh weights, trained as any network is."""
    torch.manual_seed(seed)
    for module in net.modules():
        if isinstance(module, nn.Conv2d | nn.Linear | nn.GroupNorm):
            module.reset_parameters()

    def nothing(net: nn.Module, rows: Any) -> dict[str, float]:
        return {}

    hw.fit(
        net.train(),
        (rows, rows),
        iterations,
        system.batch_size,
        evaluate_every=iterations,
        optimizer=torch.optim.Adam(net.parameters(), lr=system.lr),
        loss=system.loss,
        measures=nothing,
        seed=seed,
        checkpoint=checkpoint,
        progress=False,
    )
    return net.eval()


def again(checkpoint: Path) -> Path:
    """Where the second training keeps its own; it goes with the first."""
    return checkpoint.with_name(f"{checkpoint.stem}.again{checkpoint.suffix}")
