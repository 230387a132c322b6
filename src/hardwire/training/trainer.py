"""One training step, one evaluation: what `fit` repeats.

A step is: gather a batch, forward, loss, backward, optimizer; nothing else that costs time, because a fast engine
leaves little to hide behind. Surprising: reading the loss as a number each step is deliberate. It costs a microsecond
on the CPU and stops a diverged run at the step where it happened.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from hardwire.errors import HardwireError
from hardwire.layers import one_step
from hardwire.training.callbacks import Callback, Run
from hardwire.training.checkpoint import Checkpoint
from hardwire.training.divergence import diverged, is_finite
from hardwire.training.feed import Feed
from hardwire.training.history import Record
from hardwire.training.measures import Loss, Measures


@dataclass
class Trainer:
    """Moves a run on.

    accumulate: batches whose mean gradient makes one step. keep_best: remember the state of the best evaluation.
    """

    run: Run
    feed: Feed
    loss: Loss
    measures: Measures
    callbacks: Sequence[Callback]
    store: Checkpoint | None
    accumulate: int = 1
    keep_best: bool = False

    def __post_init__(self) -> None:
        self.device = next(self.run.net.parameters()).device
        self.begin = time.monotonic() - self.run.seconds
        # modules that ask for a loss of their own: load balance, commitment
        self.asking = [module for module in self.run.net.modules() if hasattr(module, "auxiliary")]
        self.plateau = isinstance(self.run.scheduler, ReduceLROnPlateau)

    def step(self) -> None:
        run = self.run
        if self.accumulate == 1:
            run.loss = self._backward(run.iteration, first=True)
        else:
            with one_step(run.net):
                numbers = range(run.iteration * self.accumulate, (run.iteration + 1) * self.accumulate)
                losses = [self._backward(number, first=number == numbers[0]) for number in numbers]
            run.loss = sum(losses) / len(losses)
        run.optimizer.step()
        if run.scheduler is not None and not self.plateau:
            run.scheduler.step()
        run.iteration += 1
        run.loss_sum += run.loss
        run.loss_steps += 1
        for callback in self.callbacks:
            callback.on_step(run)

    def _backward(self, number: int, first: bool) -> float:
        """The loss of batch `number`, its gradient added to those of the step's batches before."""
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
            run.optimizer.zero_grad()  # not earlier: the gradients of the step before tell where a divergence began
        for module in self.asking:
            if isinstance(module.auxiliary, torch.Tensor):
                loss = loss + module.auxiliary
        if self.accumulate > 1:
            loss = loss / self.accumulate
        loss.backward()
        return value

    def evaluate(self) -> None:
        """Adds a record to the history, saves the checkpoint, tells the callbacks."""
        run = self.run
        self._check_finite()
        measured = dict(self.measures(run.net, self.feed.rows))
        if taken := {"iteration", "loss", "seconds"} & set(measured):
            raise HardwireError(f"measures gave {', '.join(sorted(taken))}, which the record has already; rename it")
        self._tell_time()
        loss = run.loss_sum / run.loss_steps if run.loss_steps else run.loss
        record = Record(run.iteration, loss, run.seconds, **measured)
        run.history.append(record)
        run.loss_sum, run.loss_steps = 0.0, 0
        self._act_on(record)
        self.save()
        for callback in self.callbacks:
            callback.on_evaluation(run, record)

    def _act_on(self, record: Record) -> None:
        run = self.run
        if self.keep_best and run.history.best is record:
            run.best = {name: tensor.detach().clone() for name, tensor in run.net.state_dict().items()}
        if isinstance(run.scheduler, ReduceLROnPlateau):
            run.scheduler.step(getattr(record, run.history.best_by.removeprefix("-")))

    def save(self) -> None:
        if self.store:
            self._check_finite()  # a good checkpoint must not make way for a diverged one
            self._tell_time()
            self.store.write(self.run)

    def settled(self, patience: int | None) -> bool:
        """Whether so many evaluations in a row were no better than the best before them."""
        if patience is None or not len(self.run.history):
            return False
        scores = self.run.history.scores()
        return len(scores) - 1 - scores.index(max(scores)) >= patience

    def _check_finite(self) -> None:
        if not is_finite(self.run.net):
            raise diverged(self.run.net, self.run.iteration, self.run.loss)

    def _tell_time(self) -> None:
        self.run.seconds = time.monotonic() - self.begin


@torch.no_grad()
def restore_best(run: Run) -> None:
    """Gives the network the state of its best evaluation."""
    if run.best is not None:
        run.net.load_state_dict(run.best)
