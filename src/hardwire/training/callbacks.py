"""`Callback`: your own code at fixed points of a training run, and `Run`, what it gets to see.

A callback that raises ends the run; the last checkpoint stays. Changing the learning rate in `on_step` is fine as long
as it depends on `run.iteration` alone: then a resumed run does the same.
"""

from dataclasses import dataclass, field

import torch
from torch import nn, optim
from torch.optim.lr_scheduler import LRScheduler

from hardwire.training.history import History, Record


@dataclass
class Run:
    """A training run as it stands.

    iteration: steps done so far, out of iterations. loss: of the latest step. loss_sum: of the steps since the latest
    evaluation, loss_steps of them. seconds: time spent so far. best: with keep_best, the network's state at the best
    evaluation.
    """

    net: nn.Module
    optimizer: optim.Optimizer
    iterations: int
    scheduler: LRScheduler | None = None
    iteration: int = 0
    loss: float = float("nan")
    loss_sum: float = 0.0
    loss_steps: int = 0
    seconds: float = 0.0
    history: History = field(default_factory=History)
    best: dict[str, torch.Tensor] | None = None
    stop: bool = False  # set by a callback: the run is evaluated as it stands and ends


class Callback:
    """Override what you need."""

    def on_start(self, run: Run) -> None:
        """Before the first step, after a checkpoint was restored."""

    def on_step(self, run: Run) -> None:
        """After each step. This runs tens of thousands of times: keep it light."""

    def on_evaluation(self, run: Run, record: Record) -> None:
        """After each evaluation; `record` is already in run.history."""

    def on_end(self, run: Run) -> None:
        """When the run is over, also when it was broken off."""
