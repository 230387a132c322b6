"""One training step and one evaluation, which `fit` repeats.

A step is: gather a batch, forward, loss, backward, optimizer. Nothing else in it may cost time, because the engine is
fast enough to make any overhead visible. Surprising: reading the loss as a number at each step is deliberate. It costs
a microsecond on the CPU and stops a diverged run at the step where it happened.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from hardwire.errors import HardwireError
from hardwire.layers import one_step
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.checkpoint import Checkpoint
from hardwire.training.divergence import diverged, is_finite
from hardwire.training.feed import Feed
from hardwire.training.history import Record
from hardwire.training.measures import Loss, Measures


@dataclass
class Trainer:
    """Advances a training run.

    Args:
        run: The state that is advanced.
        feed: Training batches and evaluation rows.
        loss: Loss of (output, target).
        measures: What is measured at an evaluation.
        callbacks: Called after steps and evaluations.
        checkpoint: Where the state is saved, if anywhere.
        accumulate: Batches whose mean gradient makes one step.
        keep_best: Keep the state of the best evaluation.
    """

    run: TrainingRun
    feed: Feed
    loss: Loss
    measures: Measures
    callbacks: Sequence[Callback]
    checkpoint: Checkpoint | None
    accumulate: int = 1
    keep_best: bool = False

    def __post_init__(self) -> None:
        self.device = next(self.run.net.parameters()).device
        self.started = time.monotonic() - self.run.seconds
        # modules with a loss of their own, such as load balance or commitment
        self.auxiliary_modules = [module for module in self.run.net.modules() if hasattr(module, "auxiliary")]
        self.plateau = isinstance(self.run.scheduler, ReduceLROnPlateau)

    def step(self) -> None:
        """Makes one optimizer step."""
        run = self.run
        if self.accumulate == 1:
            run.loss = self._backward(run.iteration, first=True)
        else:
            with one_step(run.net):
                numbers = range(run.iteration * self.accumulate, (run.iteration + 1) * self.accumulate)
                losses = [self._backward(number, first=number == numbers[0]) for number in numbers]
            run.loss = sum(losses) / len(losses)
        for callback in self.callbacks:
            callback.on_gradient(run)
        run.optimizer.step()
        if run.scheduler is not None and not self.plateau:
            run.scheduler.step()
        run.iteration += 1
        run.loss_sum += run.loss
        run.loss_steps += 1
        for callback in self.callbacks:
            callback.on_step(run)

    def _backward(self, number: int, first: bool) -> float:
        """The loss of batch `number`; its gradient is added to those of earlier batches of the step."""
        run = self.run
        x, y = self.feed.batch(number)
        if self.device != x.device:
            x, y = x.to(self.device), y.to(self.device)
        try:
            loss = self.loss(run.net(x), y)
        except HardwireError:
            if is_finite(run.net):
                raise
            raise diverged(run.net, run.iteration + 1, run.loss) from None
        value = loss.item()
        if not math.isfinite(value):
            raise diverged(run.net, run.iteration + 1, value)
        if first:
            run.optimizer.zero_grad()  # not earlier: the gradients of the previous step show where a divergence started
        for module in self.auxiliary_modules:
            if isinstance(module.auxiliary, torch.Tensor):
                loss = loss + module.auxiliary
        if self.accumulate > 1:
            loss = loss / self.accumulate
        loss.backward()
        return value

    def evaluate(self) -> None:
        """Evaluates: adds a record to the history, saves the checkpoint, calls the callbacks."""
        run = self.run
        self._check_finite()
        measured = dict(self.measures(run.net, self.feed.rows))
        if reserved := {"iteration", "loss", "seconds"} & set(measured):
            raise HardwireError(
                f"measures returned {', '.join(sorted(reserved))}, a name that every record has already; rename it"
            )
        self._update_seconds()
        loss = run.loss_sum / run.loss_steps if run.loss_steps else run.loss
        record = Record(run.iteration, loss, run.seconds, **measured)
        run.history.append(record)
        run.loss_sum, run.loss_steps = 0.0, 0
        self._update_best_and_scheduler(record)
        self.save()
        for callback in self.callbacks:
            callback.on_evaluation(run, record)

    def _update_best_and_scheduler(self, record: Record) -> None:
        run = self.run
        if self.keep_best and run.history.best is record:
            run.best = {name: tensor.detach().clone() for name, tensor in run.net.state_dict().items()}
        if isinstance(run.scheduler, ReduceLROnPlateau):
            run.scheduler.step(getattr(record, run.history.best_by.removeprefix("-")))

    def save(self) -> None:
        """Writes the checkpoint, if the run has one."""
        if self.checkpoint:
            self._check_finite()  # a diverged state must not replace a good checkpoint
            self._update_seconds()
            self.checkpoint.write(self.run)

    def out_of_patience(self, patience: int | None) -> bool:
        """Whether the last `patience` evaluations were no better than the best one before them."""
        if patience is None or not len(self.run.history):
            return False
        scores = self.run.history.scores()
        return len(scores) - 1 - scores.index(max(scores)) >= patience

    def _check_finite(self) -> None:
        if not is_finite(self.run.net):
            raise diverged(self.run.net, self.run.iteration, self.run.loss)

    def _update_seconds(self) -> None:
        self.run.seconds = time.monotonic() - self.started


@torch.no_grad()
def restore_best(run: TrainingRun) -> None:
    """Loads the state of the best evaluation into the network."""
    if run.best is not None:
        run.net.load_state_dict(run.best)
