"""`fit`: the one training loop, for networks of gates and for every other module that chooses.

The differences between them are arguments: the loss, the measures, the optimizer. Surprising: nothing is selected on
the test set. To stop early or to keep the best state, `fit` needs validation rows.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import nn, optim
from torch.nn import functional as F
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from hardwire.bits import Columns, Encoder
from hardwire.errors import whole_number
from hardwire.measure import own_loss
from hardwire.network import LogicNetwork
from hardwire.training.arguments import (
    check_network,
    check_numbers,
    check_selects,
    check_validation,
    make_optimizer,
    make_scheduler,
    run_length,
)
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.checkpoint import Checkpoint
from hardwire.training.feed import make_feed
from hardwire.training.history import DEFAULT_BEST_BY, History
from hardwire.training.identity import run_identity
from hardwire.training.interrupt import InterruptGuard
from hardwire.training.measures import GapMeasures, Loss, Measures
from hardwire.training.progress import ProgressLine, is_shown
from hardwire.training.trainer import Trainer, restore_best


def fit(
    net: nn.Module,
    data: Any,
    iterations: int | None = None,
    batch_size: int = 512,
    lr: float = 0.01,
    evaluate_every: int | None = None,
    *,
    epochs: float | None = None,
    loss: Loss | None = None,
    measures: Measures | None = None,
    optimizer: optim.Optimizer | None = None,
    scheduler: LRScheduler | Callable[[optim.Optimizer], LRScheduler] | None = None,
    accumulate: int = 1,
    seed: int = 0,
    validation: Any = None,
    stop_early: int | None = None,
    keep_best: bool = False,
    best_by: str | None = None,
    eval_batch_size: int = 1000,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: bool = True,
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
) -> History:
    """Trains `net` and evaluates it regularly and at the end.

    Args:
        net: A `LogicNetwork`, or any module that chooses; with measures of your own, any module.
        data: A dataset as `hw.data.load` returns it; arrays (X, y), or two such pairs, to train and to test on; or a
            torch DataLoader.
        iterations: Optimizer steps. Default: 5000, unless `epochs` is given.
        batch_size: Rows in a batch.
        lr: Learning rate of the default optimizer.
        evaluate_every: Iterations between two evaluations. Default: 500, or one epoch if `epochs` is given.
        epochs: Passes over the training rows, instead of `iterations`.
        loss: Function of (output, y). Default: cross entropy, or squared error for a network that computes a number.
            The `auxiliary` losses of modules are added to it.
        measures: Function of (net, rows) that returns numbers by name. Default: `GapMeasures`.
        optimizer: A torch optimizer. Default: Adam with `lr`.
        scheduler: A torch learning rate scheduler, or a function that makes one from the optimizer. It is stepped after
            each iteration.
        accumulate: Batches per optimizer step.
        seed: Seed of the order of batches.
        validation: Rows to evaluate on instead of the test set: True for the dataset's own, a share of the training
            rows (0.2 is the last fifth), or rows of your own.
        stop_early: Stop after this many evaluations without a better one.
        keep_best: Finish with the state of the best evaluation.
        best_by: The measure that decides which evaluation is best; "-name" if lower is better. Default: "deploy".
        eval_batch_size: Rows per forward pass of an evaluation.
        checkpoint: File that is written at the start, at each evaluation and on Ctrl-C or SIGTERM. If it exists and
            belongs to this run, the run continues from there.
        checkpoint_every: Also write the checkpoint every so many iterations.
        resume: False starts over although there is a checkpoint.
        callbacks: Called at each step and evaluation.
        progress: Show progress on stderr: a live line on a terminal, elsewhere one line per evaluation. Default: only
            on a terminal.

    Returns:
        The history of all evaluations.

    Raises:
        HardwireError: An argument is wrong, does not fit the data, or the checkpoint belongs to another run.
        TrainingDiverged: The loss or a parameter became infinite or NaN.

    Example:
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=1000, depth=2, seed=0)
        >>> history = hw.fit(net, data, iterations=500, batch_size=128, validation=True, checkpoint="run.safetensors")
        >>> history.final.iteration
        500
    """
    check_numbers(
        batch_size=batch_size, accumulate=accumulate, eval_batch_size=eval_batch_size, evaluate_every=evaluate_every,
        checkpoint_every=checkpoint_every, stop_early=stop_early,
    )  # fmt: skip
    whole_number("seed", seed, least=0)
    loss = loss or own_loss(net)
    feed = make_feed(data, validation, batch_size, seed, encode=isinstance(net, LogicNetwork) and loss is None)
    iterations, evaluate_every = run_length(iterations, epochs, feed.epoch / accumulate, evaluate_every)
    if measures is None:
        check_selects(net)
        measures = GapMeasures(eval_batch_size, loss)
    check_network(net, feed, loss)
    _adopt_names(net, feed.encoder, getattr(data, "columns", None))

    optimizer = make_optimizer(net, optimizer, lr)
    run = TrainingRun(net, optimizer, iterations, make_scheduler(scheduler, optimizer))
    best_by = getattr(measures, "best_by", DEFAULT_BEST_BY) if best_by is None else best_by
    run.history = History(split=feed.split, best_by=best_by)
    check_validation(run, stop_early, keep_best)
    saved = None
    if checkpoint is not None:
        identity = run_identity(
            run, feed.train or data, feed.rows, callbacks, batch_size=batch_size, seed=seed, accumulate=accumulate,
            keep_best=keep_best, loss=loss, **_selection(run, evaluate_every, stop_early, keep_best),
        )  # fmt: skip
        saved = _open_checkpoint(checkpoint, identity, run, resume)
    callbacks = [*callbacks, *_progress_line(progress)]
    trainer = Trainer(run, feed, loss or F.cross_entropy, measures, callbacks, saved, accumulate, keep_best)
    with _training_mode(net), InterruptGuard(active=saved is not None) as guard, contextlib.ExitStack() as ending:
        for callback in callbacks:
            ending.callback(callback.on_end, run)
            callback.on_start(run)
        stopped = trainer.out_of_patience(stop_early)
        while run.iteration < iterations and not stopped and not run.stop:
            trainer.step()
            if run.iteration % evaluate_every == 0 or run.iteration == iterations:
                trainer.evaluate()
                stopped = trainer.out_of_patience(stop_early)
            elif checkpoint_every and run.iteration % checkpoint_every == 0:
                trainer.save()
            if guard.requested:
                trainer.save()
                raise KeyboardInterrupt
        if not len(run.history) or run.history.final.iteration != run.iteration:  # stopped, or resumed at the end
            trainer.evaluate()
    restore_best(run)
    return run.history


def _adopt_names(net: nn.Module, encoder: Encoder | None, columns: Columns | None) -> None:
    """Gives the network the dataset's encoder and column names, so that a model file carries them."""
    if not isinstance(net, LogicNetwork):
        return
    if net.encoder is None and encoder and encoder.features == net.inputs:
        net.encoder = encoder
    net.columns = net.columns or columns


def _open_checkpoint(
    path: str | os.PathLike[str], identity: dict[str, Any], run: TrainingRun, resume: bool
) -> Checkpoint:
    """Restores the run, or writes a first checkpoint, so that a path that cannot be written fails at once."""
    checkpoint = Checkpoint(path, identity)
    if resume and checkpoint.exists():
        checkpoint.restore(run)
    else:
        checkpoint.write(run)
    return checkpoint


def _selection(run: TrainingRun, evaluate_every: int, stop_early: int | None, keep_best: bool) -> dict[str, Any]:
    """When and by what evaluations are compared, where they decide anything."""
    decides = stop_early is not None or keep_best or isinstance(run.scheduler, ReduceLROnPlateau)
    return {"evaluate_every": evaluate_every, "best_by": run.history.best_by} if decides else {}


def _progress_line(progress: bool | None) -> list[ProgressLine]:
    return [ProgressLine()] if is_shown(progress) else []


@contextlib.contextmanager
def _training_mode(net: nn.Module) -> Iterator[None]:
    before = net.training
    net.train()
    try:
        yield
    finally:
        net.train(before)
