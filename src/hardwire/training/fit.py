"""`fit`: the training loop.

A step is: gather a batch, forward, cross entropy, backward, optimizer; nothing else that costs time, because a fast
engine leaves little to hide behind. Surprising: reading the loss as a number each step is deliberate. It costs a
microsecond on the CPU and stops a diverged run at the step where it happened.
"""

import contextlib
import math
import sys
import time

import torch
from torch import nn, optim
from torch.nn import functional as F

from hardwire import measure as gap
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import Selector, selection_mode
from hardwire.measure import check_labels
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Run
from hardwire.training.checkpoint import Checkpoint, identity_of
from hardwire.training.divergence import diverged, is_finite
from hardwire.training.history import History, Record
from hardwire.training.interrupt import InterruptGuard
from hardwire.training.order import BatchOrder
from hardwire.training.progress import ProgressLine

NODE_ROWS = 32  # rows of the evaluated split on which node gaps are measured: over thousands of nodes that is plenty


def fit(
    net: nn.Module,
    data,
    iterations: int = 5000,
    batch_size: int = 512,
    lr: float = 0.01,
    evaluate_every: int = 500,
    *,
    optimizer: optim.Optimizer | None = None,
    seed: int = 0,
    eval_split=None,
    eval_batch_size: int = 1000,
    checkpoint=None,
    checkpoint_every: int | None = None,
    resume: bool = True,
    callbacks=(),
    progress: bool | None = None,
) -> History:
    """Trains `net` on data.train and measures it every `evaluate_every` iterations and at the end.

    net: a LogicNetwork, or any module of LogicLayers that gives class scores. data: has .train and .test, as
    `hw.data.load` gives. optimizer: Adam(lr) if not given. seed: of the order of batches. eval_split: what to measure
    on, data.test if not given. checkpoint: a file, written at the start, at each evaluation, every `checkpoint_every`
    iterations and on Ctrl-C; if it exists and belongs to this run, the run goes on from there (resume=False starts
    over). progress: a live line on stderr; by default if that is a terminal.
    """
    _check_numbers(iterations, batch_size, evaluate_every, eval_batch_size, checkpoint_every, seed)
    held_out = data.test if eval_split is None else eval_split
    _check_data(net, data.train, held_out)
    _adopt_encoder(net, data)
    run = Run(net, _optimizer(net, optimizer, lr), iterations)
    store = None
    if checkpoint is not None:
        identity = identity_of(net, run.optimizer, data.train, held_out, batch_size, seed)
        store = _open_checkpoint(checkpoint, identity, run, resume)
    trainer = _Trainer(run, data.train, BatchOrder(len(data.train.y), batch_size, seed), store)
    callbacks = [*callbacks, *_progress_line(progress)]
    guard = InterruptGuard() if store else contextlib.nullcontext()
    with _training_mode(net), guard, contextlib.ExitStack() as ending:
        for callback in callbacks:
            ending.callback(callback.on_end, run)
            callback.on_start(run)
        while run.iteration < iterations:
            trainer.step()
            for callback in callbacks:
                callback.on_step(run)
            if run.iteration % evaluate_every == 0 or run.iteration == iterations:
                trainer.evaluate(held_out, eval_batch_size, callbacks)
            elif checkpoint_every and run.iteration % checkpoint_every == 0:
                trainer.save()
            if store and guard.requested:
                trainer.save()
                raise KeyboardInterrupt
        if not len(run.history) or run.history.final.iteration != iterations:  # resumed exactly at the end
            trainer.evaluate(held_out, eval_batch_size, callbacks)
    return run.history


class _Trainer:
    """Moves a run on."""

    def __init__(self, run: Run, train, order: BatchOrder, store: Checkpoint | None):
        self.run, self.train, self.order, self.store = run, train, order, store
        self.device = next(run.net.parameters()).device
        self.begin = time.monotonic() - run.seconds

    def step(self) -> None:
        run = self.run
        x, y = self.train.batch(self.order.indices(run.iteration))
        if self.device != x.device:
            x, y = x.to(self.device), y.to(self.device)
        try:
            loss = F.cross_entropy(run.net(x), y)
        except HardwireError:
            if is_finite(run.net):
                raise
            raise diverged(run.net, run.iteration + 1, run.loss) from None
        run.loss = loss.item()
        if not math.isfinite(run.loss):
            raise diverged(run.net, run.iteration + 1, run.loss)
        run.optimizer.zero_grad()
        loss.backward()
        run.optimizer.step()
        run.iteration += 1
        run.loss_sum += run.loss
        run.loss_steps += 1

    def evaluate(self, held_out, batch_size: int, callbacks) -> None:
        """Adds a record to the history, saves the checkpoint, tells the callbacks."""
        run = self.run
        self._check_finite()
        measured = gap.measure_gap(run.net, held_out, batch_size)
        self._tell_time()
        record = _record(run, measured, gap.node_gaps(run.net, held_out.x[:NODE_ROWS]))
        run.history.append(record)
        run.loss_sum, run.loss_steps = 0.0, 0
        self.save()
        for callback in callbacks:
            callback.on_evaluation(run, record)

    def save(self) -> None:
        if self.store:
            self._check_finite()  # a good checkpoint must not make way for a diverged one
            self._tell_time()
            self.store.write(self.run)

    def _check_finite(self) -> None:
        if not is_finite(self.run.net):
            raise diverged(self.run.net, self.run.iteration, self.run.loss)

    def _tell_time(self) -> None:
        self.run.seconds = time.monotonic() - self.begin


def _record(run: Run, measured: gap.Gap, nodes: list[gap.NodeGap]) -> Record:
    commitment = gap.commitment(run.net)
    neurons = [part.level.row_count for part in gap.parts_in(run.net)]
    taus = [part.temperature.tau.item() for part in run.net.modules() if isinstance(part, Selector)]
    return Record(
        iteration=run.iteration,
        loss=run.loss_sum / run.loss_steps if run.loss_steps else run.loss,
        method=measured.method,
        argmax=measured.argmax,
        deploy=measured.deploy,
        selection=measured.selection,
        computation=measured.computation,
        total=measured.total,
        tau=sum(taus) / len(taus),
        confidence=sum(c * n for c, n in zip(commitment, neurons, strict=True)) / sum(neurons),
        commitment=commitment,
        gate_usage=gap.gate_usage(run.net).tolist(),
        node_actual=[node.actual_mean for node in nodes],
        node_bound=[node.bound_mean for node in nodes],
        seconds=run.seconds,
    )


def _check_numbers(iterations, batch_size, evaluate_every, eval_batch_size, checkpoint_every, seed) -> None:
    whole_number("iterations", iterations)
    whole_number("batch_size", batch_size)
    whole_number("evaluate_every", evaluate_every)
    whole_number("eval_batch_size", eval_batch_size)
    if checkpoint_every is not None:
        whole_number("checkpoint_every", checkpoint_every)
    whole_number("seed", seed, least=0)


def _check_data(net: nn.Module, *splits) -> None:
    """One row of each split through the net: the width fits, and the labels fit the classes that come out."""
    gap.parts_in(net)
    for name, parameter in net.named_parameters():
        if not torch.isfinite(parameter).all():
            raise HardwireError(f"{name} holds NaN or infinity before the first step; start from a fresh network")
    for split in splits:
        if len(split.y) == 0:
            raise HardwireError("the dataset is empty; training and evaluation need at least one row each")
        if isinstance(net, LogicNetwork) and split.x.shape[1] != net.inputs:
            raise HardwireError(
                f"the data has {split.x.shape[1]} features but the network reads {net.inputs}; "
                f"make it with inputs={split.x.shape[1]}"
            )
        row = split.x[:1].to(next(net.parameters()).device)
        with torch.no_grad(), gap.evaluating(net), selection_mode(net, "deploy"):
            check_labels(split.y, net(row).shape[-1])


def _adopt_encoder(net: nn.Module, data) -> None:
    """The model file should carry how raw values become bits; the dataset knows."""
    encoder = getattr(data, "encoder", None)
    if isinstance(net, LogicNetwork) and net.encoder is None and encoder and encoder.features == net.inputs:
        net.encoder = encoder


def _optimizer(net: nn.Module, optimizer, lr) -> optim.Optimizer:
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


def _open_checkpoint(path, identity: dict, run: Run, resume: bool) -> Checkpoint:
    """Restores the run, or writes a first checkpoint: a path that cannot be written is better found out now."""
    store = Checkpoint(path, identity)
    if resume and store.exists():
        store.restore(run)
    else:
        store.write(run)
    return store


def _progress_line(progress: bool | None) -> list[ProgressLine]:
    wanted = sys.stderr.isatty() if progress is None else progress
    return [ProgressLine()] if wanted else []


@contextlib.contextmanager
def _training_mode(net: nn.Module):
    before = net.training
    net.train()
    try:
        yield
    finally:
        net.train(before)
