"""The gap between what is trained and what is deployed, measured: three accuracies, commitment, gate usage, bounds.

A^M comes from the method's own pass (noise included), A^soft from argmax gates with soft formulas, A^hard from argmax
gates with hard inputs; the selection gap is A^M - A^soft, the computation gap A^soft - A^hard. Measuring never moves a
temperature or a step count. Surprising: measuring twice gives the same numbers even under noise, since its draws are
keyed by the training step.
"""

import contextlib
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from hardwire.bits import Bits
from hardwire.engine import MODES
from hardwire.errors import HardwireError, whole_number
from hardwire.gates import COEFFICIENTS
from hardwire.layers import GateLayer, K, Selecting, Selector, selection_mode
from hardwire.network import LogicNetwork
from hardwire.noise import NoiseKey, gumbel
from hardwire.selection import first_argmax, pick, selection_weights

_CHUNK = 1 << 21  # nodes x samples at a time in `node_gaps`: 16 MB for each float64 array


@dataclass(frozen=True)
class Gap:
    """Accuracies, as fractions, of the three passes: `method` (A^M), `argmax` (A^soft) and `deploy` (A^hard).

    Or their mean losses, where metric is "loss"; a positive difference always means that the later pass is worse.
    """

    method: float
    argmax: float
    deploy: float
    samples: int
    metric: str = "accuracy"

    @property
    def selection(self) -> float:
        """A^M - A^soft: what choosing differently in training and in use costs."""
        return self._cost(self.method, self.argmax)

    @property
    def computation(self) -> float:
        """A^soft - A^hard: what hard gates cost; zero on binary data."""
        return self._cost(self.argmax, self.deploy)

    @property
    def total(self) -> float:
        """A^M - A^hard."""
        return self._cost(self.method, self.deploy)

    def _cost(self, before: float, after: float) -> float:
        return before - after if self.metric == "accuracy" else after - before


@dataclass(frozen=True)
class NodeGap:
    """One layer's nodes over a batch: the actual gap |sum_i w_i (g_i - g_i*)| beside its bound (1 - w_i*) Delta_max.

    violations counts (node, sample) pairs above their bound by more than float64 rounding.
    """

    actual_mean: float
    actual_max: float
    bound_mean: float
    bound_max: float
    violations: int


@dataclass(frozen=True)
class LossGap:
    """The loss gap |L(y^M) - L(y^hard)| of a sample, and the paper's two first-order bounds on it.

    holder: 2 (1 - sigma_y) max_c |y^M_c - y^hard_c|. nodes: the same with the logit gap replaced by the most
    uncommitted class, max_c sum_n (1 - w_n,i*) / group temperature over the last layer. Both leave out second-order
    terms, and `nodes` also that the last layer reads different inputs in the two passes; so they can be exceeded,
    and holder_exceeded and nodes_exceeded are the shares of samples where they are.
    """

    actual_mean: float
    actual_max: float
    holder_mean: float
    nodes_mean: float
    holder_exceeded: float
    nodes_exceeded: float
    samples: int


@torch.no_grad()
def measure_gap(model: nn.Module, data, batch_size: int = 1000, loss=None) -> Gap:
    """The three accuracies of a classifier on a split (with .x and .y) or a pair (x, y).

    The model is any module that chooses (a LogicNetwork, LogicLayers in an nn.Sequential, a module of
    `hardwire.systems`) and gives class scores [batch, classes]. Each batch of the noisy methods gets a draw of its own,
    as a training step would. loss: for a model without classes a function of (output, target) that gives a batch's
    mean; y is then its target, of any shape, and the three numbers are losses.
    """
    x, y = _rows_and_labels(data) if loss is None else _rows_and_targets(data)
    whole_number("batch_size", batch_size)
    if not any(isinstance(module, Selecting) for module in model.modules()):
        raise HardwireError(f"{type(model).__name__} holds no module that chooses, so it has no gap to measure")
    sums = {}
    with evaluating(model):
        for mode in MODES:
            with selection_mode(model, mode):
                if loss is None:
                    sums[mode] = _count_correct(model, x, y, batch_size)
                else:
                    sums[mode] = _sum_losses(model, x, y, batch_size, loss)
    metric = "accuracy" if loss is None else "loss"
    return Gap(**{mode: total / len(y) for mode, total in sums.items()}, samples=len(y), metric=metric)


def gate_layers(model: nn.Module) -> list[GateLayer]:
    """All layers of gates inside a model, in the order they were put in."""
    layers = [module for module in model.modules() if isinstance(module, GateLayer)]
    if not layers:
        raise HardwireError(f"{type(model).__name__} holds no layer of gates; give a LogicNetwork or LogicLayers")
    return layers


@torch.no_grad()
def commitment(model: nn.Module) -> list[float]:
    """For each layer the mean over its neurons of max softmax(logits), without temperature: 1/16 to 1."""
    return [torch.softmax(layer.logits.double(), -1).amax(-1).mean().item() for layer in gate_layers(model)]


@torch.no_grad()
def gate_usage(model: nn.Module) -> torch.Tensor:
    """[layers, 16]: the share of each layer's neurons whose deployed gate is this one; a row sums to 1."""
    counts = [torch.bincount(first_argmax(layer.logits), minlength=K) for layer in gate_layers(model)]
    return torch.stack([count.cpu().double() / count.sum().item() for count in counts])


@torch.no_grad()
def node_gaps(model: nn.Module, x) -> list[NodeGap]:
    """For each layer the selection gap of its nodes on x [rows, inputs], beside the paper's unified bound.

    The inputs of a layer are those of the method's pass. The effective weights w are one-hot for hard-st (both sides
    are then exactly 0), softmax(z / tau) for soft-mix, softmax((z + G) / tau) for soft-gumbel, and softmax(z) for
    gumbel-st, whose gap is the expected one. All is computed in float64, where each side is off by at most some
    1e-14; a violation is an excess above 1e-12.
    """
    widest = max(max(layer.inputs, layer.neurons) for layer in gate_layers(model))
    rows = max(1, _CHUNK // widest)
    tallies = None
    for start in range(0, len(x), rows):
        chunk = _node_tallies(model, x[start : start + rows])
        tallies = chunk if tallies is None else [a.add(b) for a, b in zip(tallies, chunk, strict=True)]
    if tallies is None:
        raise HardwireError("the batch is empty; give at least one row")
    return [tally.result() for tally in tallies]


@torch.no_grad()
def loss_bound(net: LogicNetwork, data, batch_size: int = 1000) -> LossGap:
    """The paper's loss gap bound beside the actual cross-entropy gap, on a split or a pair (x, y)."""
    if not isinstance(net, LogicNetwork):
        raise HardwireError(f"the loss bound is that of a LogicNetwork, not of {type(net).__name__}")
    x, y = _rows_and_labels(data)
    whole_number("batch_size", batch_size)
    uncommitted = _uncommitted_classes(net)
    with evaluating(net):
        passes = []
        for mode in ("method", "deploy"):
            with selection_mode(net, mode):
                passes.append(torch.cat([scores.double() for scores, _ in _scored(net, x, y, batch_size)]))
    y = y.to(passes[0].device)
    y_method, y_deploy = passes
    actual = (F.cross_entropy(y_method, y, reduction="none") - F.cross_entropy(y_deploy, y, reduction="none")).abs()
    slope = 2 * (1 - torch.softmax(y_deploy, -1).gather(1, y.unsqueeze(1)).squeeze(1))
    holder, nodes = slope * (y_method - y_deploy).abs().amax(1), slope * uncommitted
    return LossGap(
        actual_mean=actual.mean().item(),
        actual_max=actual.max().item(),
        holder_mean=holder.mean().item(),
        nodes_mean=nodes.mean().item(),
        holder_exceeded=(actual > holder + 1e-9).double().mean().item(),
        nodes_exceeded=(actual > nodes + 1e-9).double().mean().item(),
        samples=len(y),
    )


def _rows_and_labels(data):
    """x (Bits or a tensor) and y (int64) of a split or a pair, of the same length and not empty."""
    x, y = data if isinstance(data, tuple | list) else (data.x, data.y)
    if not isinstance(x, torch.Tensor | Bits):
        raise HardwireError(f"rows are a float tensor or hardwire.Bits, not {type(x).__name__}")
    if not isinstance(y, torch.Tensor) or y.ndim != 1 or y.dtype != torch.int64:
        raise HardwireError("labels are an int64 tensor with one class number for each row")
    return _rows_and_targets((x, y), "label")


def _rows_and_targets(data, kind: str = "target"):
    """x and y of a split or a pair, of the same length and not empty."""
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
def evaluating(model: nn.Module):
    """eval() for the time being (a BatchNorm must not learn from being measured); each module's own mode comes back."""
    before = [(module, module.training) for module in model.modules()]
    try:
        yield model.eval()
    finally:
        for module, training in before:
            module.training = training


def _count_correct(model, x, y, batch_size) -> int:
    return sum(int((first_argmax(scores) == labels).sum()) for scores, labels in _scored(model, x, y, batch_size))


def _sum_losses(model, x, y, batch_size, loss) -> float:
    return sum(float(loss(output, target)) * len(target) for output, target in _outputs(model, x, y, batch_size))


def _scored(model, x, y, batch_size):
    """(scores, labels) of each batch, on the model's device."""
    for index, (scores, labels) in enumerate(_outputs(model, x, y, batch_size)):
        if index == 0:
            check_labels(y, scores.shape[-1])
        yield scores, labels


def _outputs(model, x, y, batch_size):
    """(outputs, targets) of each batch, on the model's device."""
    device = next(model.parameters()).device
    for start in range(0, len(y), batch_size):
        outputs = model(x[start : start + batch_size].to(device))
        if not torch.isfinite(outputs).all():
            raise HardwireError("the model's outputs hold NaN or infinity; it has diverged")
        yield outputs, y[start : start + batch_size].to(device)


@dataclass
class _Tally:
    """Running sums of one layer's node gaps."""

    actual_sum: float
    actual_max: float
    bound_sum: float
    bound_max: float
    violations: int
    count: int

    @classmethod
    def of(cls, actual: torch.Tensor, bound: torch.Tensor) -> "_Tally":
        return cls(
            actual.sum().item(),
            actual.max().item(),
            bound.sum().item(),
            bound.max().item(),
            int((actual > bound + 1e-12).sum()),
            actual.numel(),
        )

    def add(self, other: "_Tally") -> "_Tally":
        return _Tally(
            self.actual_sum + other.actual_sum,
            max(self.actual_max, other.actual_max),
            self.bound_sum + other.bound_sum,
            max(self.bound_max, other.bound_max),
            self.violations + other.violations,
            self.count + other.count,
        )

    def result(self) -> NodeGap:
        mean_actual, mean_bound = self.actual_sum / self.count, self.bound_sum / self.count
        return NodeGap(mean_actual, self.actual_max, mean_bound, self.bound_max, self.violations)


def _node_tallies(model, x) -> list[_Tally]:
    tallies = []
    for module, h in _inputs_of_choosers(model, x):
        h = h.unpack(torch.float64) if isinstance(h, Bits) else h.double()
        for index, layer in enumerate(gate_layers(module)):
            a, b = h[:, layer.wiring[0]], h[:, layer.wiring[1]]
            forward, effective, deployed = _node_weights(layer.logits.double(), module.selector, index)
            others = effective * (1 - deployed)  # summed without the winner: exact where 1 - w would cancel
            rest = others.sum(-1)
            g = _mix(deployed, a, b)
            actual = _mix(others - rest.unsqueeze(-1) * deployed, a, b).abs()
            bound = rest * torch.maximum(g, 1 - g)  # FALSE and TRUE are among the gates
            tallies.append(_Tally.of(actual, bound))
            h = _mix(forward, a, b)
    return tallies


def _inputs_of_choosers(model, x):
    """(module, its input) for every LogicNetwork and LogicLayer, in the order the method's pass reaches them."""
    seen = []
    hooks = [
        module.register_forward_pre_hook(lambda module, args: seen.append((module, args[0])))
        for module in model.modules()
        if isinstance(module, Selecting) and any(isinstance(part, GateLayer) for part in module.modules())
    ]
    try:
        with evaluating(model), selection_mode(model, "method"):
            model(x.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def _node_weights(z: torch.Tensor, selector: Selector, index: int):
    """Weights [neurons, 16] of the method's pass, the effective ones of the theorem, and the deployed one-hot."""
    method, tau = selector.method, selector.temperature.tau.double()
    key = NoiseKey(selector.seed, selector.steps, draw=0, evaluation=True)
    noise = gumbel(key, index, *z.shape, like=z) if method.noisy else None
    forward, deployed = selection_weights(z, method, tau, noise), pick(z)
    expected = method.hard and method.noisy
    return forward, torch.softmax(z, -1) if expected else forward, deployed


def _mix(weights: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The weighted sum of the 16 gates: weights [neurons, 16], a and b [rows, neurons] -> [rows, neurons]."""
    c0, c1, c2, c3 = (weights @ torch.tensor(COEFFICIENTS, dtype=weights.dtype, device=weights.device)).unbind(-1)
    return c0 + c1 * a + (c2 + c3 * a) * b


def _uncommitted_classes(net: LogicNetwork) -> float:
    """max over classes of sum over its neurons of (1 - w_i*), in units of the class scores."""
    z = net.layers[-1].logits.double()
    _, effective, deployed = _node_weights(z, net.selector, len(net.layers) - 1)
    open_weight = (effective * (1 - deployed)).sum(-1)
    return open_weight.unflatten(0, (net.classes, -1)).sum(-1).max().item() / net.group_sum.temperature_for(len(z))
