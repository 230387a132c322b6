"""Checks the arguments of `fit` and fills in its defaults, before anything is trained."""

import math
from collections.abc import Callable

import torch
from torch import nn, optim
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from hardwire.errors import HardwireError, check_holds_values, whole_number
from hardwire.layers import Selecting, selection_mode
from hardwire.measure import check_labels, evaluating
from hardwire.network import LogicNetwork
from hardwire.training.adam import Adam
from hardwire.training.callbacks import TrainingRun
from hardwire.training.feed import Feed
from hardwire.training.history import VALIDATION
from hardwire.training.measures import Loss

ITERATIONS, EVALUATE_EVERY = 5000, 500


def check_numbers(**numbers: int | None) -> None:
    """Raises unless every number is None or a whole number of at least 1."""
    for name, value in numbers.items():
        if value is not None:
            whole_number(name, value)


def run_length(
    iterations: int | None, epochs: float | None, epoch: float, evaluate_every: int | None
) -> tuple[int, int]:
    """Iterations in all and between two evaluations; with `epochs` one evaluation per epoch is the default."""
    if epochs is None:
        return whole_number(
            "iterations", ITERATIONS if iterations is None else iterations
        ), evaluate_every or EVALUATE_EVERY
    if iterations is not None:
        raise HardwireError("give either iterations or epochs, not both")
    if not (isinstance(epochs, int | float) and 0 < epochs < math.inf):
        raise HardwireError(f"epochs {epochs!r} is not a positive number")
    return whole_steps(epochs * epoch), evaluate_every or whole_steps(epoch)


def whole_steps(fraction: float) -> int:
    """A number of steps that came out as a fraction, rounded up."""
    return max(1, math.ceil(round(fraction, 6)))


def check_selects(net: nn.Module) -> None:
    """Raises for a module that chooses nothing, whose gap cannot be measured."""
    if not any(isinstance(module, Selecting) for module in net.modules()):
        raise HardwireError(
            f"{type(net).__name__} holds no module that chooses, so it has no gap to measure; give measures of your own"
        )


def check_network(net: nn.Module, feed: Feed, loss: Loss | None) -> None:
    """Raises unless the parameters are finite and, for a classifier, its width and labels fit the data."""
    for name, parameter in net.named_parameters():
        check_holds_values(f"the parameters {name}", parameter)
        if not torch.isfinite(parameter).all():
            raise HardwireError(f"{name} holds NaN or infinity before the first step; start from a fresh network")
    if loss is not None:
        return
    for rows in (feed.train, feed.rows):
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


def check_validation(run: TrainingRun, stop_early: int | None, keep_best: bool) -> None:
    """Raises where something is to be selected by evaluations that are not made on validation rows."""
    requested = {
        "stop_early": stop_early is not None,
        "keep_best": keep_best,
        "ReduceLROnPlateau": isinstance(run.scheduler, ReduceLROnPlateau),
    }
    for name, wanted in requested.items():
        if wanted and run.history.split != VALIDATION:
            raise HardwireError(
                f"{name} selects by evaluations, and nothing may be selected on the {run.history.split} rows; give "
                "validation rows: validation=True (--validation) holds out the last part of train, 0.2 the last fifth"
            )


def make_optimizer(net: nn.Module, optimizer: optim.Optimizer | None, lr: float) -> optim.Optimizer:
    """The given optimizer, checked, or Adam."""
    if optimizer is None:
        if not (isinstance(lr, int | float) and 0 < lr < math.inf):
            raise HardwireError(f"lr {lr!r} must be a positive number; the paper uses 0.01 for MNIST")
        return Adam(net.parameters(), lr)
    if not isinstance(optimizer, optim.Optimizer):
        raise HardwireError("optimizer is an instance, such as torch.optim.SGD(net.parameters(), lr=0.1)")
    if isinstance(optimizer, optim.LBFGS):
        raise HardwireError("LBFGS computes the loss several times a step, which fit does not do; use Adam or SGD")
    optimized = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    if not any(id(parameter) in optimized for parameter in net.parameters()):
        raise HardwireError("the optimizer holds no parameter of this network; make it from net.parameters()")
    return optimizer


def make_scheduler(
    scheduler: LRScheduler | Callable[[optim.Optimizer], LRScheduler] | None, optimizer: optim.Optimizer
) -> LRScheduler | None:
    """The given scheduler, or the one that the given function makes from the optimizer, checked."""
    made = scheduler if scheduler is None or isinstance(scheduler, LRScheduler) else scheduler(optimizer)
    if made is not None and not isinstance(made, LRScheduler):
        raise HardwireError(f"a scheduler is one of torch.optim.lr_scheduler, not {type(made).__name__}")
    if made is not None and made.optimizer is not optimizer:
        raise HardwireError("the scheduler changes another optimizer; pass that one as optimizer=, too")
    return made
