"""Architecture search: cells whose edges choose their operation, as in DARTS (soft-mix), SNAS (soft-gumbel with a
falling temperature) and GDAS (gumbel-st), or by hard-st.

A cell is a small graph: each node is the sum of its edges from the input and from all earlier nodes, and the output is
the mean of the nodes. Surprising: operations normalise with GroupNorm and not with BatchNorm, because the running
statistics of a mixture would be wrong for the chosen operation alone, which would be a second gap. Weights and logits
train together (single level), and the deployed network keeps the trained weights.
"""

import copy
import functools
import operator
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import nn

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.randomness import child_seed, normal
from hardwire.selection import Method, first_argmax
from hardwire.systems.choice import Auxiliary, Choice, chosen_output
from hardwire.temperature import Temperature

Operation = str | Callable[[int], nn.Module]
_LOGIT_SCALE = 1e-3  # DARTS starts all operations (nearly) equal


class Zero(nn.Module):
    """No connection."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x)


def _convolution(channels: int, size: int) -> nn.Module:
    convolution = nn.Conv2d(channels, channels, size, padding=size // 2, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(1, channels), nn.ReLU())


OPERATIONS: dict[str, Callable[[int], nn.Module]] = {  # name -> channels -> a module that keeps the shape
    "zero": lambda channels: Zero(),
    "skip": lambda channels: nn.Identity(),
    "conv1": lambda channels: _convolution(channels, 1),
    "conv3": lambda channels: _convolution(channels, 3),
    "avg3": lambda channels: nn.AvgPool2d(3, stride=1, padding=1),
    "max3": lambda channels: nn.MaxPool2d(3, stride=1, padding=1),
}


class CellGraph(nn.Module):
    """The parameters of a cell: logits [edges, K] and K operations on each edge. The caller chooses.

    Args:
        channels: The number of channels.
        nodes: The number of nodes.
        operations: Names of OPERATIONS, or functions of the number of channels that return a module of this shape.
        seed: The seed of the initial logits.
        independent: Whether several operations of an edge may be deployed, those with a logit of 0 or more.
    """

    def __init__(
        self, channels: int, nodes: int, operations: Sequence[Operation], seed: int, independent: bool = False
    ):
        super().__init__()
        self.independent = independent
        self.nodes = whole_number("nodes", nodes)
        whole_number("channels", channels)
        self.names = [_name(operation) for operation in operations]
        edges = self.nodes * (self.nodes + 1) // 2
        builders = [OPERATIONS[name] if isinstance(name, str) else name for name in operations]
        self.edges = nn.ModuleList(nn.ModuleList(build(channels) for build in builders) for _ in range(edges))
        self.logits = nn.Parameter(_LOGIT_SCALE * normal(seed, "cell.logits", edges, len(self.names)))

    def forward(self, x: torch.Tensor, weights: torch.Tensor, picks: bool) -> torch.Tensor:
        """Maps x [batch, channels, height, width] by weights [edges, K], which are one-hot if `picks`; 0 or 1 if
        operations are independent.
        """

        def run_edge(edge: int, h: torch.Tensor) -> torch.Tensor:
            if self.independent:
                return _run_independent(self._operations(edge), self.names, h, weights[edge])
            return _run_edge(self._operations(edge), self.names, h, weights[edge], picks)

        return _run_graph(x, self.nodes, run_edge)

    def _operations(self, edge: int) -> list[nn.Module]:
        operations = self.edges[edge]
        assert isinstance(operations, nn.ModuleList)
        return list(operations)

    def architecture(self) -> list[str]:
        """The deployed operation of each edge; joined by + if there are several, empty if there is none."""
        return ["+".join(self.names[index] for index in chosen) for chosen in self._chosen()]

    def _chosen(self) -> list[list[int]]:
        """The deployed operations of each edge."""
        logits = self.logits.detach()
        if not self.independent:
            return [[index] for index in first_argmax(logits).tolist()]
        return [[index for index, logit in enumerate(edge) if logit >= 0] for edge in logits.tolist()]

    def deploy(self) -> "FixedCell":
        operations: list[nn.Module] = []
        for edge, chosen in enumerate(self._chosen()):
            own = [copy.deepcopy(self._operations(edge)[index]) for index in chosen]
            operations.append(own[0] if len(own) == 1 else Sum(own) if own else Zero())
        return FixedCell(operations, self.nodes).eval()


class Sum(nn.Module):
    """Several operations on one edge."""

    def __init__(self, operations: Sequence[nn.Module]):
        super().__init__()
        self.operations = nn.ModuleList(operations)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _sum(operation(x) for operation in self.operations)


class FixedCell(nn.Module):
    """A deployed cell, with one operation on each edge."""

    def __init__(self, operations: Sequence[nn.Module], nodes: int):
        super().__init__()
        self.edges, self.nodes = nn.ModuleList(operations), nodes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _run_graph(x, self.nodes, lambda edge, h: self.edges[edge](h))


class SearchCell(nn.Module):
    """One search cell: [batch, channels, height, width] -> the same shape. A node of the choice is an edge.

    Args:
        channels: The number of channels.
        nodes: The number of nodes of the cell's graph.
        operations: Names of `OPERATIONS`, or functions of the number of channels that return a module of this shape.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the initial logits and of the noise. The weights of operations come from torch's generator.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> cell = hw.SearchCell(channels=4, nodes=2, operations=("skip", "conv3"), seed=0)
        >>> cell(torch.randn(1, 4, 8, 8)).shape, len(cell.architecture())
        (torch.Size([1, 4, 8, 8]), 3)
    """

    def __init__(
        self,
        channels: int,
        nodes: int = 2,
        operations: Sequence[Operation] = tuple(OPERATIONS),
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
    ):
        super().__init__()
        self.choice = Choice(len(operations), method, tau, cage, seed)
        self.cell = CellGraph(channels, nodes, operations, self.choice.selector.seed)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.cell(x, self.choice(self.cell.logits), self.choice.picks)
        return out

    def architecture(self) -> list[str]:
        """The deployed operation of each edge."""
        return self.cell.architecture()

    def deploy(self) -> FixedCell:
        """A cell of the chosen operations alone, with a copy of their weights."""
        return self.cell.deploy()


class SearchNetwork(Auxiliary):
    """An image classifier made of search cells: [batch, inputs, height, width] -> class scores [batch, classes].

    A convolution, then the cells with a halving of the image between them, then the mean over the image and a linear
    layer. All cells share one choice, so that CAGE uses the confidence of the network.

    Args:
        inputs: The number of channels of an image.
        classes: The number of classes.
        channels: The number of channels of the cells.
        cells: The number of cells.
        nodes: The number of nodes of each cell's graph.
        operations: Names of `OPERATIONS`, or functions of the number of channels that return a module of this shape.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the initial logits and of the noise. All other weights come from torch's generator.
        independent: Whether each operation of an edge is a choice of its own between it and nothing, with a sigmoid
            weight, as in FairDARTS; an edge then deploys several operations or none.
        zero_one: With `independent`: the coefficient of FairDARTS' zero-one loss in `auxiliary_loss`, which pushes
            weights away from a half.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> net = hw.SearchNetwork(inputs=1, classes=10, channels=4, method="hard-st+cage", seed=0)
        >>> net(torch.randn(2, 1, 8, 8)).shape
        torch.Size([2, 10])
        >>> deployed = net.deploy()
    """

    def __init__(
        self,
        inputs: int,
        classes: int,
        channels: int = 16,
        cells: int = 2,
        nodes: int = 2,
        operations: Sequence[Operation] = tuple(OPERATIONS),
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
        independent: bool = False,
        zero_one: float = 0.0,
    ):
        super().__init__()
        if zero_one and not independent:
            raise HardwireError("zero_one is for independent operations; add independent=True")
        self.independent, self.zero_one = independent, float(zero_one)
        self.choice = Choice(2 if independent else len(operations), method, tau, cage, seed)
        seed = self.choice.selector.seed
        whole_number("inputs", inputs)
        whole_number("classes", classes, least=2)
        self.stem = nn.Sequential(
            nn.Conv2d(inputs, whole_number("channels", channels), 3, padding=1), nn.GroupNorm(1, channels), nn.ReLU()
        )
        self.cells = nn.ModuleList(
            CellGraph(channels, nodes, operations, child_seed(seed, f"cells.{index}"), independent)
            for index in range(whole_number("cells", cells))
        )
        self.halve = nn.AvgPool2d(2, ceil_mode=True)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = self._weights(torch.cat([cell.logits for cell in self._cells()]))
        h: torch.Tensor = self.stem(x)
        for index, (cell, part) in enumerate(zip(self.cells, weights.chunk(len(self.cells)), strict=True)):
            h = cell(self.halve(h) if index else h, part, self.choice.picks)
        out: torch.Tensor = self.head(h)
        return out

    def _weights(self, logits: torch.Tensor) -> torch.Tensor:
        """[edges, K]: of one choice for each edge, or of one for each operation against a logit of 0."""
        if not self.independent:
            weights: torch.Tensor = self.choice(logits)
            return weights
        weights = self.choice(torch.stack([logits, torch.zeros_like(logits)], dim=-1))[..., 0]
        training = self.training and self.choice.mode == "method" and torch.is_grad_enabled()
        self.auxiliary = (
            -self.zero_one * (logits.sigmoid() - 0.5).square().mean() if training and self.zero_one else None
        )
        return weights

    def _cells(self) -> list[CellGraph]:
        return [cell for cell in self.cells if isinstance(cell, CellGraph)]

    def architecture(self) -> list[list[str]]:
        """The deployed operation of each edge, by cell."""
        return [cell.architecture() for cell in self._cells()]

    def deploy(self) -> nn.Sequential:
        """The chosen architecture as a plain nn.Sequential in eval mode, with a copy of the trained weights."""
        parts: list[nn.Module] = [copy.deepcopy(self.stem)]
        for index, cell in enumerate(self._cells()):
            parts += [copy.deepcopy(self.halve), cell.deploy()] if index else [cell.deploy()]
        return nn.Sequential(*parts, copy.deepcopy(self.head)).eval()


def _name(operation: Operation) -> str:
    if isinstance(operation, str) and operation not in OPERATIONS:
        raise unknown_name("operation", operation, (*OPERATIONS, "a function of the number of channels"))
    return operation if isinstance(operation, str) else getattr(operation, "__name__", type(operation).__name__)


def _run_graph(x: torch.Tensor, nodes: int, run_edge: Callable[[int, torch.Tensor], torch.Tensor]) -> torch.Tensor:
    states, edge = [x], 0
    for _ in range(nodes):
        arriving = []
        for state in states:
            arriving.append(run_edge(edge, state))
            edge += 1
        states.append(_sum(arriving))
    return torch.stack(states[1:]).mean(0)


def _sum(terms: Iterable[torch.Tensor]) -> torch.Tensor:
    return functools.reduce(operator.add, terms)


def _run_edge(
    operations: Sequence[nn.Module], names: Sequence[str], h: torch.Tensor, weights: torch.Tensor, picks: bool
) -> torch.Tensor:
    """The mixture of the operations, or the chosen one; the others then run only if the weights need a gradient."""
    if not picks:
        return _sum(w * _run(op, name, h) for w, op, name in zip(weights, operations, names, strict=True))
    index = int(weights.detach().argmax())
    chosen = _run(operations[index], names[index], h)
    if not weights.requires_grad:
        return chosen
    with torch.no_grad():
        candidates = torch.stack([chosen if k == index else _run(op, names[k], h) for k, op in enumerate(operations)])
    return chosen_output(chosen, weights, candidates)


def _run_independent(
    operations: Sequence[nn.Module], names: Sequence[str], h: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """The weighted sum of the operations; those with weight 0 run only if the weights need a gradient."""
    running = [
        (w, op, name)
        for w, op, name in zip(weights, operations, names, strict=True)
        if weights.requires_grad or float(w) != 0
    ]
    return _sum(w * _run(op, name, h) for w, op, name in running) if running else torch.zeros_like(h)


def _run(operation: nn.Module, name: str, h: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = operation(h)
    if out.shape != h.shape:
        raise HardwireError(
            f"operation {name} turned {list(h.shape)} into {list(out.shape)}; the operations of an edge keep the shape"
        )
    return out
