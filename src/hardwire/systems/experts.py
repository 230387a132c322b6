"""Mixtures of experts: a router chooses for each row which expert network computes its output.

Any method can route: soft-mix is the classical soft gating, hard-st and gumbel-st choose exactly one expert, and
`scaled=True` is the top-1 routing of the Switch Transformer (the chosen output times its probability). `SoftMoE` mixes
on both sides (Puigcerver et al.). Surprising: a straight-through router learns from the outputs of all experts, so
training runs all of them forward, but only the chosen one backward. When deployed, only the chosen one runs.
"""

import copy
import functools
import operator
from collections.abc import Iterable, Sequence

import torch
from torch import nn

from hardwire.errors import HardwireError, whole_number
from hardwire.selection import Method, check_logits, first_argmax
from hardwire.systems.choice import Auxiliary, Choice, chosen_output
from hardwire.temperature import Temperature


class MixtureOfExperts(Auxiliary):
    """Routes each row to an expert: [..., features] -> [..., outputs]. A node is a row.

    Args:
        features: The number of features of a row, or your own router, a module that returns logits [rows, K].
        experts: K modules that map [rows, features] row by row (no BatchNorm) to the same shape. Random layers such as
            dropout would draw again for the router's gradient.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the noise. The router's weights come from torch's generator.
        scaled: Whether the router learns only through its probability of the chosen expert, as in the Switch
            Transformer. It then does not use tau and CAGE.
        balance: The coefficient of the load-balancing loss in `auxiliary_loss`.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> experts = [torch.nn.Linear(8, 3) for _ in range(4)]
        >>> model = hw.MixtureOfExperts(8, experts, method="hard-st+cage", balance=0.01)
        >>> model(torch.randn(32, 8)).shape
        torch.Size([32, 3])
    """

    def __init__(
        self,
        features: int | nn.Module,
        experts: Sequence[nn.Module],
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
        scaled: bool = False,
        balance: float = 0.0,
    ):
        super().__init__()
        self.choice = Choice(len(experts), method, tau, cage, seed, noise="sample")
        if scaled and (cage or not self.choice.selector.method.hard):
            raise HardwireError("scaled (Switch) routing needs hard-st or gumbel-st without CAGE: it has no surrogate")
        self.experts = nn.ModuleList(experts)
        if not isinstance(features, nn.Module):
            features = nn.Linear(whole_number("features", features), len(experts))
        self.router = features
        self.scaled, self.balance = bool(scaled), float(balance)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        logits = self.router(rows)
        surrogate = self.choice.mode == "method" and torch.is_grad_enabled() and not self.scaled
        if self.choice.picks and not surrogate:
            index = self.choice(logits, as_index=True)
            answer = _top_one(self.experts, rows, logits, index, self.scaled)
        else:
            weights = self.choice(logits)
            index, answer = first_argmax(weights.detach()), self._learn(rows, weights)
        training = self.training and self.choice.mode == "method" and torch.is_grad_enabled()
        self.auxiliary = self.balance * load_balance(logits, index) if training and self.balance else None
        result: torch.Tensor = answer.unflatten(0, x.shape[:-1])
        return result

    def _learn(self, rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """The mixture, or the chosen outputs with the gradient of the choice."""
        if not self.choice.picks:
            return _mixture(self.experts, rows, weights)
        chosen = dispatch(self.experts, rows, first_argmax(weights.detach()))
        with torch.no_grad():
            candidates = torch.stack(_all_answers(self.experts, rows))
        return chosen_output(chosen, weights, candidates)

    def deploy(self, soft: bool = False) -> nn.Module:
        """A copy of the router and the experts in eval mode.

        Args:
            soft: Return the mixture of all experts at the current temperature, in place of top-1 routing.
        """
        router, experts = copy.deepcopy(self.router), copy.deepcopy(self.experts)
        if soft:
            return SoftRouter(router, experts, self.choice.selector.temperature.tau.item()).eval()
        return TopOneRouter(router, experts, self.scaled).eval()


class TopOneRouter(nn.Module):
    """A deployed mixture: each row goes to one expert, and only experts with rows run."""

    def __init__(self, router: nn.Module, experts: nn.ModuleList, scaled: bool = False):
        super().__init__()
        self.router, self.experts, self.scaled = router, experts, scaled

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        logits = check_logits(self.router(rows))
        index = first_argmax(logits.detach())
        result: torch.Tensor = _top_one(self.experts, rows, logits, index, self.scaled).unflatten(0, x.shape[:-1])
        return result


class SoftRouter(nn.Module):
    """A mixture deployed as it was trained: all experts run, weighted by softmax(logits / tau)."""

    def __init__(self, router: nn.Module, experts: nn.ModuleList, tau: float):
        super().__init__()
        self.router, self.experts, self.tau = router, experts, tau

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = as_rows(x)
        weights = torch.softmax(check_logits(self.router(rows)) / self.tau, dim=-1)
        result: torch.Tensor = _mixture(self.experts, rows, weights).unflatten(0, x.shape[:-1])
        return result


class SoftMoE(nn.Module):
    """Soft MoE: [batch, tokens, features] -> [batch, tokens, outputs]. A node is a token.

    A slot of an expert reads a softmax mixture of the tokens, and each token chooses among the outputs of all slots, or
    mixes them. With soft-mix at tau 1 this is the published layer; a hard method gives each token the output of one
    slot.

    Args:
        features: The number of features of a token.
        experts: K modules that map [rows, features] row by row to the same shape.
        slots: The number of slots of each expert.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the noise. The router's weights come from torch's generator.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = hw.SoftMoE(8, [torch.nn.Linear(8, 3) for _ in range(4)], slots=2)
        >>> model(torch.randn(5, 10, 8)).shape
        torch.Size([5, 10, 3])
    """

    def __init__(
        self,
        features: int,
        experts: Sequence[nn.Module],
        slots: int = 1,
        method: str | Method = "soft-mix",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
    ):
        super().__init__()
        self.slots = whole_number("slots", slots)
        self.choice = Choice(len(experts) * self.slots, method, tau, cage, seed, noise="sample")
        self.experts = nn.ModuleList(experts)
        self.router = nn.Linear(whole_number("features", features), self.choice.choices, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits = self.router(_tokens(x))
        result: torch.Tensor = self.choice(logits) @ _slot_answers(self.experts, x, logits, self.slots)
        return result

    def deploy(self, soft: bool = False) -> "DeployedSoftMoE":
        """A copy in which each token gets the output of its best slot.

        Args:
            soft: Mix all slots at the current temperature instead.
        """
        tau = self.choice.selector.temperature.tau.item() if soft else None
        return DeployedSoftMoE(copy.deepcopy(self.router), copy.deepcopy(self.experts), self.slots, tau).eval()


class DeployedSoftMoE(nn.Module):
    """A deployed Soft MoE: tokens mix slots at temperature tau, or use the best one if tau is None."""

    def __init__(self, router: nn.Module, experts: nn.ModuleList, slots: int, tau: float | None):
        super().__init__()
        self.router, self.experts, self.slots, self.tau = router, experts, slots, tau

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits = check_logits(self.router(_tokens(x)))
        answers = _slot_answers(self.experts, x, logits, self.slots)
        if self.tau is not None:
            return torch.softmax(logits / self.tau, dim=-1) @ answers
        index = first_argmax(logits).unsqueeze(-1).expand(-1, -1, answers.shape[-1])
        return answers.gather(1, index)


def load_balance(logits: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The load-balancing loss of the Switch Transformer, K * sum_k f_k P_k, which is 1 for an even load.

    f_k is the share of rows that chose k, and P_k the mean probability softmax(logits)_k, through which it learns.

    Args:
        logits: [rows, K].
        index: The chosen experts, [rows].
    """
    choices = logits.shape[-1]
    share = torch.bincount(index, minlength=choices) / len(logits)
    return choices * (share * torch.softmax(logits, dim=-1).mean(0)).sum()


def dispatch(experts: Iterable[nn.Module], rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Maps row n of [rows, features] by expert index[n]; an expert without rows does not run."""
    order = index.argsort(stable=True)
    experts = list(experts)
    counts = torch.bincount(index, minlength=len(experts)).tolist()
    parts = zip(experts, rows[order].split(counts), strict=True)
    answers = _check_answers({k: (expert(part), len(part)) for k, (expert, part) in enumerate(parts) if len(part)})
    return torch.cat(answers)[order.argsort()]


def _top_one(
    experts: nn.ModuleList, rows: torch.Tensor, logits: torch.Tensor, index: torch.Tensor, scaled: bool
) -> torch.Tensor:
    answers = dispatch(experts, rows, index)
    if not scaled:
        return answers
    probability = torch.softmax(logits, dim=-1).gather(-1, index.unsqueeze(-1))
    return answers * probability.view(-1, *[1] * (answers.ndim - 1))


def _mixture(experts: nn.ModuleList, rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    columns = zip(weights.T, _all_answers(experts, rows), strict=True)
    terms = (weight.view(-1, *[1] * (answer.ndim - 1)) * answer for weight, answer in columns)
    result: torch.Tensor = functools.reduce(operator.add, terms)
    return result


def _all_answers(experts: nn.ModuleList, rows: torch.Tensor) -> list[torch.Tensor]:
    return _check_answers({k: (expert(rows), len(rows)) for k, expert in enumerate(experts)})


def _check_answers(answers: dict[int, tuple[torch.Tensor, int]]) -> list[torch.Tensor]:
    """The outputs; raises unless each has as many rows as its input, and the shape of the first."""
    first, shape = next((k, tuple(answer.shape[1:])) for k, (answer, _) in answers.items())
    for k, (answer, rows) in answers.items():
        if answer.shape != (rows, *shape):
            raise HardwireError(
                f"expert {k} answered {rows} rows with shape {list(answer.shape)}, expert {first} gives "
                f"{list(shape)} for a row; all experts need the same shape, one answer a row"
            )
    return [answer for answer, _ in answers.values()]


def _slot_answers(experts: nn.ModuleList, x: torch.Tensor, logits: torch.Tensor, slots: int) -> torch.Tensor:
    """The outputs of all slots, [batch, K * slots, outputs]; a slot reads a mixture of the tokens."""
    mixed = torch.softmax(logits, dim=1).transpose(1, 2) @ x
    parts = [part.flatten(0, 1) for part in mixed.split(slots, dim=1)]
    answers = {k: (expert(part), len(part)) for k, (expert, part) in enumerate(zip(experts, parts, strict=True))}
    return torch.cat([a.unflatten(0, (len(x), slots)) for a in _check_answers(answers)], dim=1)


def as_rows(x: torch.Tensor) -> torch.Tensor:
    if x.ndim < 2 or x.numel() == 0:
        raise HardwireError(f"input of shape {list(x.shape)}; a mixture reads [..., features] with at least one row")
    return x.flatten(0, -2)


def _tokens(x: torch.Tensor) -> torch.Tensor:
    if x.ndim != 3 or x.numel() == 0:
        raise HardwireError(f"input of shape {list(x.shape)}; a Soft MoE reads [batch, tokens, features], not empty")
    return x
