"""`fit`: the one training loop, for networks of gates and for every other module that chooses.

What differs between them is an argument: the loss, what is measured, the optimizer. Surprising: nothing is chosen on
the test set. To stop early or to keep the best state, `fit` wants validation rows, and says so.
"""

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from hardwire.bits import Columns, Encoder
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import Selecting, selection_mode
from hardwire.measure import check_labels, evaluating, own_loss
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Callback, Run
from hardwire.training.checkpoint import Checkpoint, identity_of
from hardwire.training.feed import Feed, feed
from hardwire.training.history import DECIDES, VALIDATION, History
from hardwire.training.interrupt import InterruptGuard
from hardwire.training.measures import GapMeasures, Loss, Measures
from hardwire.training.progress import ProgressLine
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
    """Trains `net` and measures it every `evaluate_every` iterations and at the end.

    net: a LogicNetwork, or any module that chooses (with measures of your own, any module). data: a dataset as
    `hw.data.load` gives; arrays (X, y), or two such pairs, to train and to test on; or a torch DataLoader.
    iterations: 5000 if not given, or epochs: passes over the training rows. batch_size: rows of a batch; accumulate:
    batches that make one step. seed: of the order of batches. optimizer: Adam(lr) if not given. scheduler: of the
    learning rate, a torch one or a function that makes one from the optimizer; moved after each step.

    loss: of (what net gives, y), cross entropy if not given (squared error, of a number); modules with an `auxiliary`
    loss have it added. measures: of (net, rows), numbers by name; `GapMeasures` if not given.

    validation: the rows to measure on instead of the test set: True (the dataset's own), a share of the training rows
    (the last ones, such as 0.2), or rows of your own. stop_early: stop after so many evaluations without a better one.
    keep_best: end with the state of the best one. best_by: the measure that says which is better, "deploy" if not
    given; "-name" where lower is better.

    checkpoint: a file, written at the start, at each evaluation, every `checkpoint_every` iterations and on Ctrl-C or
    SIGTERM; if it exists and belongs to this run, the run goes on from there (resume=False starts over). progress: a
    live line on stderr, or a line for each evaluation where that is no terminal; by default only on a terminal.
    """
    _check_numbers(
        batch_size=batch_size, accumulate=accumulate, eval_batch_size=eval_batch_size, evaluate_every=evaluate_every,
        checkpoint_every=checkpoint_every, stop_early=stop_early,
    )  # fmt: skip
    whole_number("seed", seed, least=0)
    loss = loss or own_loss(net)
    fed = feed(data, validation, batch_size, seed, gates=isinstance(net, LogicNetwork) and loss is None)
    iterations, evaluate_every = _length(iterations, epochs, fed.epoch / accumulate, evaluate_every)
    if measures is None:
        _check_chooses(net)
        measures = GapMeasures(eval_batch_size, loss)
    _check_network(net, fed, loss)
    _adopt_names(net, fed.encoder, getattr(data, "columns", None))

    optimizer = _optimizer(net, optimizer, lr)
    run = Run(net, optimizer, iterations, _scheduler(scheduler, optimizer))
    decides: str = getattr(measures, "best_by", DECIDES) if best_by is None else best_by
    run.history = History(split=fed.split, best_by=decides)
    _check_choosing(run, stop_early, keep_best)
    store = None
    if checkpoint is not None:
        identity = identity_of(
            net, optimizer, fed.train, fed.rows, batch_size=batch_size, seed=seed,
            accumulate=accumulate if accumulate > 1 else None, keep_best=keep_best or None,
            loss=_name(loss), scheduler=_name(run.scheduler),
        )  # fmt: skip
        store = _open_checkpoint(checkpoint, identity, run, resume)
    callbacks = [*callbacks, *_progress_line(progress)]
    trainer = Trainer(run, fed, loss or F.cross_entropy, measures, callbacks, store, accumulate, keep_best)
    with _training_mode(net), InterruptGuard(active=store is not None) as guard, contextlib.ExitStack() as ending:
        for callback in callbacks:
            ending.callback(callback.on_end, run)
            callback.on_start(run)
        settled = trainer.settled(stop_early)
        while run.iteration < iterations and not settled and not run.stop:
            trainer.step()
            if run.iteration % evaluate_every == 0 or run.iteration == iterations:
                trainer.evaluate()
                settled = trainer.settled(stop_early)
            elif checkpoint_every and run.iteration % checkpoint_every == 0:
                trainer.save()
            if guard.requested:
                trainer.save()
                raise KeyboardInterrupt
        if not len(run.history) or run.history.final.iteration != run.iteration:  # stopped, or resumed at the end
            trainer.evaluate()
    restore_best(run)
    return run.history


def _check_numbers(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None:
            whole_number(name, value)


def _length(iterations: int | None, epochs: float | None, epoch: float, evaluate_every: int | None) -> tuple[int, int]:
    """Iterations in all, and between two evaluations: 500, or one epoch where epochs are counted."""
    if epochs is None:
        return whole_number("iterations", 5000 if iterations is None else iterations), evaluate_every or 500
    if iterations is not None:
        raise HardwireError("give either iterations or epochs, not both")
    if not (isinstance(epochs, int | float) and 0 < epochs < math.inf):
        raise HardwireError(f"epochs {epochs!r} is not a positive number")
    return _whole(epochs * epoch), evaluate_every or _whole(epoch)


def _whole(steps: float) -> int:
    return max(1, math.ceil(round(steps, 6)))


def _check_chooses(net: nn.Module) -> None:
    if not any(isinstance(module, Selecting) for module in net.modules()):
        raise HardwireError(
            f"{type(net).__name__} holds no module that chooses, so it has no gap to measure; give measures of your own"
        )


def _check_network(net: nn.Module, fed: Feed, loss: Loss | None) -> None:
    """Parameters are finite; and of a classifier one row of each split: its width and its labels fit."""
    for name, parameter in net.named_parameters():
        if not torch.isfinite(parameter).all():
            raise HardwireError(f"{name} holds NaN or infinity before the first step; start from a fresh network")
    if loss is not None:
        return
    for rows in (fed.train, fed.rows):
        if rows is None:
            continue
        if isinstance(net, LogicNetwork) and rows.x.shape[1] != net.inputs:
            raise HardwireError(
                f"the data has {rows.x.shape[1]} features but the network reads {net.inputs}; "
                f"make it with inputs={rows.x.shape[1]}"
            )
        if rows.y.ndim != 1 or rows.y.dtype != torch.int64:
            raise HardwireError("labels are whole numbers, one class for each row; for other targets give a loss")
        row = rows.x[:1].to(next(net.parameters()).device)
        with torch.no_grad(), evaluating(net), selection_mode(net, "deploy"):
            check_labels(rows.y, net(row).shape[-1])


def _check_choosing(run: Run, stop_early: int | None, keep_best: bool) -> None:
    asked = {
        "stop_early": stop_early is not None,
        "keep_best": keep_best,
        "ReduceLROnPlateau": isinstance(run.scheduler, ReduceLROnPlateau),
    }
    for name, wanted in asked.items():
        if wanted and run.history.split != VALIDATION:
            raise HardwireError(
                f"{name} chooses by what is measured, and nothing is chosen on the {run.history.split} rows; give "
                "validation rows: validation=True (--validation) takes the last part of train, 0.2 the last fifth"
            )


def _adopt_names(net: nn.Module, encoder: Encoder | None, columns: Columns | None) -> None:
    """The model file should carry how raw values become bits, and what they are called; the dataset knows."""
    if not isinstance(net, LogicNetwork):
        return
    if net.encoder is None and encoder and encoder.features == net.inputs:
        net.encoder = encoder
    net.columns = net.columns or columns


def _optimizer(net: nn.Module, optimizer: optim.Optimizer | None, lr: float) -> optim.Optimizer:
    if optimizer is None:
        if not (isinstance(lr, int | float) and 0 < lr < math.inf):
            raise HardwireError(f"lr {lr!r} must be a positive number; the paper uses 0.01 for MNIST")
        return optim.Adam(net.parameters(), lr=lr, fused=True)  # one pass over memory: a third of the plain step's time
    if not isinstance(optimizer, optim.Optimizer):
        raise HardwireError("optimizer is an instance, such as torch.optim.SGD(net.parameters(), lr=0.1)")
    if isinstance(optimizer, optim.LBFGS):
        raise HardwireError("LBFGS computes the loss several times a step, which fit does not do; use Adam or SGD")
    held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    if not any(id(parameter) in held for parameter in net.parameters()):
        raise HardwireError("the optimizer holds no parameter of this network; make it from net.parameters()")
    return optimizer


def _scheduler(
    scheduler: LRScheduler | Callable[[optim.Optimizer], LRScheduler] | None, optimizer: optim.Optimizer
) -> LRScheduler | None:
    made = scheduler if scheduler is None or isinstance(scheduler, LRScheduler) else scheduler(optimizer)
    if made is not None and not isinstance(made, LRScheduler):
        raise HardwireError(f"a scheduler is one of torch.optim.lr_scheduler, not {type(made).__name__}")
    if made is not None and made.optimizer is not optimizer:
        raise HardwireError("the scheduler moves another optimizer; pass that one as optimizer=, too")
    return made


def _open_checkpoint(path: str | os.PathLike[str], identity: dict[str, Any], run: Run, resume: bool) -> Checkpoint:
    """Restores the run, or writes a first checkpoint: a path that cannot be written is better found out now."""
    store = Checkpoint(path, identity)
    if resume and store.exists():
        store.restore(run)
    else:
        store.write(run)
    return store


def _name(part: object) -> str | None:
    return None if part is None else getattr(part, "__qualname__", type(part).__qualname__)


def _progress_line(progress: bool | None) -> list[ProgressLine]:
    wanted = sys.stderr.isatty() if progress is None else progress
    return [ProgressLine()] if wanted else []


@contextlib.contextmanager
def _training_mode(net: nn.Module) -> Iterator[None]:
    before = net.training
    net.train()
    try:
        yield
    finally:
        net.train(before)
