"""Sparse experts beyond top-1: each row uses its best few experts (GShard), or each expert chooses its rows (Expert
Choice).

Both choose in training exactly as in use, so neither has a selection gap. Surprising: Expert Choice has a different
gap. Its choice depends on the other rows of the batch, so a row alone has another output than in its batch; so has a
row of experts with a capacity.
"""

import copy
import math
from collections.abc import Sequence

import torch
from torch import nn

from hardwire.errors import HardwireError, whole_number
from hardwire.noise import NoiseKey, gumbel
from hardwire.selection import Method, check_logits
from hardwire.systems.choice import Auxiliary, Choice
from hardwire.systems.experts import as_rows, dispatch, load_balance

_SECOND = 1  # the stream of the noise that decides on second experts; 0 is that of the choice


class TopExperts(Auxiliary):
    """Mixes the best few experts of each row: [..., features] -> [..., outputs].

    The weights of a row's experts are normalised to a sum of 1, as in GShard, and the router learns through them alone.

    Args:
        features: The number of features of a row.
        experts: K modules that map [rows, features] row by row to the same shape.
        top: The number of experts of each row.
        method: "hard-st", or "gumbel-st" to add noise to the logits in training.
        seed: The seed of the noise. The router's weights come from torch's generator.
        balance: The coefficient of the load-balancing loss of the first choices in `auxiliary_loss`.
        capacity: Each expert takes at most rows * top / K * capacity rows of a batch, in training and in use, first
            choices before second ones; a row beyond that goes without it. None is no limit.
        random_second: Whether training uses a row's second expert by chance, with twice its weight as probability, as
            GShard does. In use it always counts. Only with top 2.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = hw.TopExperts(8, [torch.nn.Linear(8, 3) for _ in range(4)], top=2)
        >>> model(torch.randn(32, 8)).shape
        torch.Size([32, 3])
    """

    def __init__(
        self,
        features: int,
        experts: Sequence[nn.Module],
        top: int = 2,
        method: str | Method = "hard-st",
        seed: int | None = None,
        balance: float = 0.0,
        capacity: float | None = None,
        random_second: bool = False,
    ):
        super().__init__()
        self.choice = _hard_choice(len(experts), method, seed)
        self.top = whole_number("top", top)
        if capacity is not None and not 0 < capacity < float("inf"):
            raise HardwireError(f"capacity {capacity} is not a positive number; 1.25 leaves an expert a quarter spare")
        if random_second and self.top != 2:
            raise HardwireError(f"random_second is for top 2, not {self.top}; it leaves out the second expert")
        self.capacity, self.random_second = capacity, random_second
        if self.top > len(experts):
            raise HardwireError(f"top {top} of {len(experts)} experts; use at most {len(experts)}")
        self.router, self.experts = nn.Linear(whole_number("features", features), len(experts)), nn.ModuleList(experts)
        self.balance = float(balance)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        logits = self.router(rows)
        index = self.choice(logits, as_index=True, top=self.top).view(len(rows), self.top)
        training = self.training and self.choice.mode == "method" and torch.is_grad_enabled()
        self.auxiliary = self.balance * load_balance(logits, index[:, 0]) if training and self.balance else None
        kept = _within_capacity(index, len(self.experts), self.capacity)
        if self.random_second and self.choice.mode == "method":
            kept = kept & self._second_counts(logits, index)
        result: torch.Tensor = _top_answers(self.experts, rows, logits, index, kept).unflatten(0, x.shape[:-1])
        return result

    def _second_counts(self, logits: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """[rows, 2]: the first expert always, the second with twice its share as probability, anew in each step."""
        selector = self.choice.selector
        shares = torch.softmax(logits.detach().gather(-1, index), dim=-1)
        noise = gumbel(NoiseKey(selector.seed, selector.steps, selector.draws), _SECOND, len(index), 2, like=shares)
        chance = torch.exp(-torch.exp(-noise))  # uniform
        chance[:, 0] = 0.0
        return chance < 2 * shares

    def deploy(self) -> "TopRouter":
        return TopRouter(copy.deepcopy(self.router), copy.deepcopy(self.experts), self.top, self.capacity).eval()


class TopRouter(nn.Module):
    """Deployed `TopExperts`: only the chosen experts run on a row."""

    def __init__(self, router: nn.Module, experts: nn.ModuleList, top: int, capacity: float | None = None):
        super().__init__()
        self.router, self.experts, self.top, self.capacity = router, experts, top, capacity

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        logits = check_logits(self.router(rows))
        index = logits.detach().topk(self.top).indices
        kept = _within_capacity(index, len(self.experts), self.capacity)
        result: torch.Tensor = _top_answers(self.experts, rows, logits, index, kept).unflatten(0, x.shape[:-1])
        return result


class ExpertChoice(nn.Module):
    """Each expert chooses its rows of a batch: [..., features] -> [..., outputs].

    Every row has a softmax over the experts. Expert k chooses the rows * capacity / K rows with the largest weight for
    it, and its outputs are multiplied by these weights. So the load is even by construction, and a row may get several
    experts or none. With none its output is zero, so add the input back around this module.

    Args:
        features: The number of features of a row.
        experts: K modules that map [rows, features] row by row to the same shape.
        capacity: The average number of experts of a row.
        method: "hard-st", or "gumbel-st" to add noise to the logits in training.
        seed: The seed of the noise. The router's weights come from torch's generator.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = hw.ExpertChoice(8, [torch.nn.Linear(8, 8) for _ in range(4)], capacity=2.0)
        >>> x = torch.randn(32, 8)
        >>> (x + model(x)).shape
        torch.Size([32, 8])
    """

    def __init__(
        self,
        features: int,
        experts: Sequence[nn.Module],
        capacity: float = 2.0,
        method: str | Method = "hard-st",
        seed: int | None = None,
    ):
        super().__init__()
        self.choice = _hard_choice(len(experts), method, seed)
        if not 0 < capacity <= len(experts):
            raise HardwireError(f"capacity {capacity} is how many experts a row gets on average: 0 to {len(experts)}")
        self.router, self.experts = nn.Linear(whole_number("features", features), len(experts)), nn.ModuleList(experts)
        self.capacity = float(capacity)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        result: torch.Tensor = _chosen_by_experts(
            self.experts, rows, self.choice(self.router(rows), as_logits=True), self.capacity
        ).unflatten(0, x.shape[:-1])
        return result

    def deploy(self) -> "ChoosingExperts":
        return ChoosingExperts(copy.deepcopy(self.router), copy.deepcopy(self.experts), self.capacity).eval()


class ChoosingExperts(nn.Module):
    """Deployed `ExpertChoice`: the same rule without noise, on the rows of a batch."""

    def __init__(self, router: nn.Module, experts: nn.ModuleList, capacity: float):
        super().__init__()
        self.router, self.experts, self.capacity = router, experts, capacity

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        logits = check_logits(self.router(rows))
        result: torch.Tensor = _chosen_by_experts(self.experts, rows, logits, self.capacity).unflatten(0, x.shape[:-1])
        return result


def _hard_choice(experts: int, method: str | Method, seed: int | None) -> Choice:
    choice = Choice(experts, method, seed=seed, noise="sample")
    if not choice.selector.method.hard:
        raise HardwireError("sparse experts need hard-st or gumbel-st; for mixtures there is MixtureOfExperts")
    return choice


def _within_capacity(index: torch.Tensor, experts: int, capacity: float | None) -> torch.Tensor:
    """[rows, top]: whether an expert has room for the row, first choices of all rows before second ones."""
    if capacity is None:
        return torch.ones_like(index, dtype=torch.bool)
    rows, top = index.shape
    wanted = torch.nn.functional.one_hot(index.T.flatten(), experts)  # the order in which places are given
    place = (wanted.cumsum(0) * wanted).sum(-1)
    return (place <= math.ceil(rows * top / experts * capacity)).view(top, rows).T


def _top_answers(
    experts: nn.ModuleList, rows: torch.Tensor, logits: torch.Tensor, index: torch.Tensor, kept: torch.Tensor
) -> torch.Tensor:
    """The outputs of the experts index [rows, top], weighted by a softmax over their logits, or by 0 if not kept."""
    shares = torch.softmax(logits.gather(-1, index), dim=-1) * kept
    answers = torch.stack([dispatch(experts, rows, one) for one in index.unbind(-1)], dim=1)
    return (answers * shares.view(*shares.shape, *[1] * (answers.ndim - 2))).sum(1)


def _chosen_by_experts(
    experts: nn.ModuleList, rows: torch.Tensor, logits: torch.Tensor, capacity: float
) -> torch.Tensor:
    wanted = torch.softmax(logits, dim=-1)
    count = min(len(rows), max(1, round(len(rows) * capacity / len(experts))))
    out: torch.Tensor | None = None
    for share, expert in zip(wanted.T, experts, strict=True):
        best = share.detach().topk(count).indices
        answer = expert(rows[best])
        answer = answer * share[best].view(-1, *[1] * (answer.ndim - 1))
        empty = rows.new_zeros(len(rows), *answer.shape[1:]) if out is None else out
        out = empty.index_add(0, best, answer)
    assert out is not None
    return out
