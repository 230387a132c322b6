"""The gap between the trained and the deployed network: three accuracies (or losses) of one model on one split.

A^M comes from the method's own pass (with noise), A^soft from argmax choices on soft inputs, A^hard from argmax choices
on hard inputs. The selection gap is A^M - A^soft, the computation gap A^soft - A^hard. Measuring never moves a
temperature or a count of steps. Surprising: measuring twice gives the same numbers even with noise, because its draws
depend on the training step.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from hardwire.bits import Bits
from hardwire.engine.stack import MODES, Input
from hardwire.errors import HardwireError, whole_number
from hardwire.layers import NumberSum, Selecting, selection_mode
from hardwire.selection import first_argmax

Loss: TypeAlias = Callable[[Any, torch.Tensor], torch.Tensor]
"""A function of (output, target) that returns the mean loss of a batch."""


@dataclass(frozen=True)
class Gap:
    """The accuracies of the three passes, as fractions, or their mean losses.

    A positive gap always means that the deployed side is worse.

    Attributes:
        method: A^M, of the method's own pass.
        argmax: A^soft, of argmax choices on soft inputs.
        deploy: A^hard, of the deployed circuit.
        samples: The number of samples.
        metric: "accuracy" or "loss".
        selection: The selection gap.
        computation: The computation gap.
        total: Their sum.

    Example:
        >>> from hardwire.measure import Gap
        >>> gap = Gap(method=0.75, argmax=0.625, deploy=0.5, samples=1_000)
        >>> gap.selection, gap.computation, gap.total
        (0.125, 0.125, 0.25)
    """

    method: float
    argmax: float
    deploy: float
    samples: int
    metric: str = "accuracy"

    @property
    def selection(self) -> float:
        """A^M - A^soft: the cost of choosing differently in training and in use."""
        return self._cost(self.method, self.argmax)

    @property
    def computation(self) -> float:
        """A^soft - A^hard: the cost of hard gates; zero on binary data."""
        return self._cost(self.argmax, self.deploy)

    @property
    def total(self) -> float:
        """A^M - A^hard."""
        return self._cost(self.method, self.deploy)

    def _cost(self, before: float, after: float) -> float:
        return before - after if self.metric == "accuracy" else after - before


@torch.no_grad()
def measure_gap(model: nn.Module, data: Any, batch_size: int = 1000, loss: Loss | None = None) -> Gap:
    """Measures the three accuracies of a classifier, or the three losses of another model.

    With a noisy method each batch has its own draw, like a training step.

    Args:
        model: Any module that makes choices: a LogicNetwork, LogicLayers in an nn.Sequential, or a module of
            `hardwire.systems`. It returns class scores [batch, classes], unless a loss is given.
        data: A split with .x and .y, or a pair (x, y).
        batch_size: Samples at a time.
        loss: For a model without classes, a function of (output, target) that returns the mean loss of a batch; y is
            then the target, of any shape. A network of numbers has the squared error by default.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> net = hw.LogicNetwork(data.inputs, data.classes, width=100, depth=2, method="hard-st", seed=0)
        >>> hw.measure_gap(net, data.test).total
        0.0
    """
    loss = loss or own_loss(model)
    x, y = rows_and_labels(data) if loss is None else rows_and_targets(data)
    batch_size = whole_number("batch_size", batch_size)
    if not any(isinstance(module, Selecting) for module in model.modules()):
        raise HardwireError(f"{type(model).__name__} holds no module that chooses, so it has no gap to measure")
    means = {}
    with evaluating(model):
        for mode in MODES:
            with selection_mode(model, mode):
                total = _count_correct(model, x, y, batch_size) if loss is None else _sum(model, x, y, batch_size, loss)
                means[mode] = total / len(y)
    return Gap(**means, samples=len(y), metric="accuracy" if loss is None else "loss")


def squared_error(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean squared error of numbers [batch, 1]; target: [batch]."""
    return (output[:, 0] - target).square().mean()


def own_loss(model: nn.Module) -> Loss | None:
    """The loss of a model that computes a number; None for one that returns class scores."""
    return squared_error if any(isinstance(module, NumberSum) for module in model.modules()) else None


def rows_and_labels(data: Any) -> tuple[Input, torch.Tensor]:
    """The x (Bits or a tensor) and y (int64) of a split or a pair; raises unless they fit each other."""
    x, y = data if isinstance(data, tuple | list) else (data.x, data.y)
    if not isinstance(x, torch.Tensor | Bits):
        raise HardwireError(f"rows are a float tensor or hardwire.Bits, not {type(x).__name__}")
    if not isinstance(y, torch.Tensor) or y.ndim != 1 or y.dtype != torch.int64:
        raise HardwireError("labels are an int64 tensor with one class number for each row")
    return rows_and_targets((x, y), "label")


def rows_and_targets(data: Any, kind: str = "target") -> tuple[Any, torch.Tensor]:
    """The x and y of a split or a pair; raises unless they have the same length and are not empty."""
    x, y = data if isinstance(data, tuple | list) else (data.x, data.y)
    if len(x) != len(y):
        raise HardwireError(f"{len(x)} rows but {len(y)} {kind}s; each row needs one {kind}")
    if len(y) == 0:
        raise HardwireError("the data is empty; give at least one row")
    return x, y


def check_labels(y: torch.Tensor, classes: int) -> None:
    """Raises unless all labels lie in 0 to classes - 1."""
    low, high = (bound.item() for bound in torch.aminmax(y))
    if low < 0 or high >= classes:
        raise HardwireError(
            f"labels from {low} to {high} do not fit {classes} classes; they must be 0 to {classes - 1}"
        )


@contextlib.contextmanager
def evaluating(model: nn.Module) -> Iterator[nn.Module]:
    """Calls eval() for a with block, so that a BatchNorm does not learn, and then restores the mode of each module."""
    before = [(module, module.training) for module in model.modules()]
    try:
        yield model.eval()
    finally:
        for module, training in before:
            module.training = training


def scored(model: nn.Module, x: Input, y: torch.Tensor, batch_size: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """(scores, labels) of each batch, on the model's device."""
    for index, (scores, labels) in enumerate(_outputs(model, x, y, batch_size)):
        if index == 0:
            check_labels(y, scores.shape[-1])
        yield scores, labels


def _count_correct(model: nn.Module, x: Input, y: torch.Tensor, batch_size: int) -> int:
    return sum(int((first_argmax(scores) == labels).sum()) for scores, labels in scored(model, x, y, batch_size))


def _sum(model: nn.Module, x: Any, y: torch.Tensor, batch_size: int, loss: Loss) -> float:
    return sum(float(loss(output, target)) * len(target) for output, target in _outputs(model, x, y, batch_size))


def _outputs(model: nn.Module, x: Any, y: torch.Tensor, batch_size: int) -> Iterator[tuple[Any, torch.Tensor]]:
    """(outputs, targets) of each batch, on the model's device."""
    device = next(model.parameters()).device
    for start in range(0, len(y), batch_size):
        outputs = model(x[start : start + batch_size].to(device))
        if not torch.isfinite(outputs).all():
            raise HardwireError("the model's outputs hold NaN or infinity; it has diverged")
        yield outputs, y[start : start + batch_size].to(device)
