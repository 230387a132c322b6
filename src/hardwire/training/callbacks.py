"""`Callback`: your own code at fixed points of a training run, and `TrainingRun`, the state it gets to see.

A callback that raises ends the run; the last checkpoint stays. Changing the learning rate in `on_step` is fine as long
as the change depends on `run.iteration` only: then a resumed run does the same.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn, optim
from torch.optim.lr_scheduler import LRScheduler

from hardwire.training.history import History, Record


@dataclass
class TrainingRun:
    """The current state of a training run, as callbacks see it.

    Attributes:
        net: The module being trained.
        optimizer: Its optimizer.
        iterations: Steps the run makes in all.
        scheduler: The learning rate scheduler, if there is one.
        iteration: Steps done so far.
        loss: Loss of the latest step.
        loss_sum: Sum of the losses since the latest evaluation.
        loss_steps: Number of losses in `loss_sum`.
        seconds: Time spent so far, earlier parts of a resumed run included.
        history: The evaluations so far.
        best: With `keep_best`, the network's state at the best evaluation.
        stop: Set it to True in a callback to end the run; it is evaluated once more.

    Example:
        >>> class StopAtLowLoss(hw.Callback):
        ...     def on_step(self, run):
        ...         run.stop = run.loss < 0.01
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
    stop: bool = False


class Callback:
    """Base class of callbacks of `fit`; override the methods you need.

    Example:
        >>> class StopAt(hw.Callback):
        ...     def __init__(self, accuracy):
        ...         self.accuracy = accuracy
        ...     def on_evaluation(self, run, record):
        ...         run.stop = record.deploy >= self.accuracy
        >>> hw.fit(net, data, iterations=5000, callbacks=[StopAt(0.95)])
    """

    def identity(self, run: TrainingRun) -> dict[str, Any] | None:
        """What of this callback decides the course of the run, as JSON values; None if it only observes.

        A checkpoint is continued only by a run whose callbacks say the same.

        Args:
            run: The state of the run.
        """
        return None

    def on_start(self, run: TrainingRun) -> None:
        """Called before the first step, after a checkpoint has been restored.

        Args:
            run: The state of the run.
        """

    def on_gradient(self, run: TrainingRun) -> None:
        """Called at each step between the gradient and the optimizer, which will use what `.grad` then holds.

        Args:
            run: The state of the run.
        """

    def on_step(self, run: TrainingRun) -> None:
        """Called after each step. This happens tens of thousands of times: keep it light.

        Args:
            run: The state of the run.
        """

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        """Called after each evaluation.

        Args:
            run: The state of the run.
            record: What was measured; it is already in `run.history`.
        """

    def on_end(self, run: TrainingRun) -> None:
        """Called when the run is over, also when it was interrupted.

        Args:
            run: The state of the run.
        """
