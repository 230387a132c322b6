"""Choosing one of K: the paper's four methods as functions of (logits, candidates, tau, noise).

They are the four corners of a square: the forward pass mixes or picks, and it does so with or without Gumbel noise.
So a method is two Booleans, and one function serves them all. Surprising: for the picking methods tau is nowhere in the
forward pass; it only shapes the softmax surrogate that the backward pass differentiates (temperature decoupling).
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import torch

from hardwire.errors import HardwireError, unknown_name
from hardwire.noise import gumbel_like

Tau: TypeAlias = float | torch.Tensor


@dataclass(frozen=True)
class Method:
    """hard: the forward pass picks one candidate (else it mixes); noisy: Gumbel noise is added to the logits."""

    name: str
    hard: bool
    noisy: bool


METHODS = {
    method.name: method
    for method in (
        Method("soft-mix", hard=False, noisy=False),
        Method("soft-gumbel", hard=False, noisy=True),
        Method("hard-st", hard=True, noisy=False),
        Method("gumbel-st", hard=True, noisy=True),
    )
}
"""The four methods by name."""


def get_method(name: "str | Method") -> Method:
    """The method of this name; an unknown name raises an error that lists the four."""
    if isinstance(name, Method):
        return name
    if not isinstance(name, str) or name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]


SIX: dict[str, tuple[str, bool]] = {
    **{name: (name, False) for name in METHODS},
    **{f"{name}+cage": (name, True) for name, method in METHODS.items() if method.hard},
}
"""The paper's six: the four methods, and CAGE on the hard two; name -> (method, cage)."""


def parse_method(name: "str | Method") -> tuple[Method, bool]:
    """A method by any of the six names, and whether CAGE was named with it."""
    if isinstance(name, Method):
        return name, False
    if not isinstance(name, str) or name not in SIX:
        raise unknown_name("method", name, SIX)
    method, cage = SIX[name]
    return METHODS[method], cage


class _StraightThrough(torch.autograd.Function):
    """Forward: the hard weights. Backward: the gradient goes to the soft weights, unchanged."""

    @staticmethod
    def forward(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
        return hard.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, grad


def straight_through(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """The values of `hard`, exactly; the gradient of `soft`, of the same shape."""
    result: torch.Tensor = _StraightThrough.apply(hard, soft)  # type: ignore[no-untyped-call]
    return result


def pick(logits: torch.Tensor) -> torch.Tensor:
    """One-hot of the largest logit along the last axis, ties to the lowest index: what is deployed."""
    hard = torch.zeros_like(logits)
    return hard.scatter_(-1, first_argmax(logits).unsqueeze(-1), 1.0)


def first_argmax(x: torch.Tensor) -> torch.Tensor:
    """argmax along the last axis with ties to the lowest index, as torch.max documents it."""
    return x.max(-1).indices


def selection_weights(
    logits: torch.Tensor, method: str | Method = "hard-st", tau: Tau = 1.0, noise: torch.Tensor | None = None
) -> torch.Tensor:
    """The weights of the K candidates, [..., K], for logits [..., K]; differentiable in the logits.

    The backward pass is the paper's gradient proposition, dL/dz_j = (delta / tau) * w_j * (g_j - sum_i w_i g_i) with
    w = softmax((logits + noise) / tau); the forward weights are w itself, or one-hot for the hard methods.

    tau: a number or tensor above 0. noise: Gumbel noise [..., K]; drawn from torch's generator if a noisy method
    gets none; the deterministic methods take none.
    """
    method = get_method(method)
    check_logits(logits)
    _check_temperature(tau)
    if method.noisy:
        noise = gumbel_like(logits) if noise is None else noise
        _check_shape("noise", noise, logits)
        logits = logits + noise
    elif noise is not None:
        raise HardwireError(f"{method.name} takes no noise; use soft-gumbel or gumbel-st")
    soft = torch.softmax(logits / tau, dim=-1)
    return straight_through(pick(logits.detach()), soft) if method.hard else soft


def select(
    logits: torch.Tensor,
    candidates: torch.Tensor,
    method: str | Method = "hard-st",
    tau: Tau = 1.0,
    noise: torch.Tensor | None = None,
) -> torch.Tensor:
    """Chooses among candidates [..., K] by logits [..., K] (broadcast against each other) -> [...].

    The candidates receive the gradient of the forward pass: for the hard methods only the picked one does.
    """
    weights = selection_weights(logits, method, tau, noise)
    _check_shape("candidates", candidates, weights)
    return (weights * candidates).sum(-1)


def _named(method: str) -> Callable[..., torch.Tensor]:
    def choose(
        logits: torch.Tensor, candidates: torch.Tensor, tau: Tau = 1.0, noise: torch.Tensor | None = None
    ) -> torch.Tensor:
        return select(logits, candidates, method, tau, noise)

    choose.__doc__ = f"`select` by {method}."
    return choose


soft_mix, soft_gumbel, hard_st, gumbel_st = (_named(name) for name in METHODS)


def confidence(logits: torch.Tensor) -> torch.Tensor:
    """The paper's c: the mean over nodes of max softmax(logits) (no temperature), for logits [..., K]."""
    return torch.softmax(logits.detach(), dim=-1).amax(-1).mean()


def check_tau(tau: float) -> float:
    """A temperature as a float; zero, negative and NaN are refused."""
    if not (isinstance(tau, Real) and 0 < tau < float("inf")):  # numpy's floats are Real too
        raise HardwireError(f"tau {tau!r} is not a positive number; the paper uses 0.05 to 2.0")
    return float(tau)


def check_logits(logits: torch.Tensor) -> torch.Tensor:
    """The logits themselves, [..., K]; K below 2, NaN and infinity are refused."""
    if logits.ndim == 0 or logits.shape[-1] < 2:
        raise HardwireError(f"a choice needs at least 2 candidates; logits of shape {list(logits.shape)} offer fewer")
    # under torch.compile looking at values would break the graph
    if not torch.compiler.is_compiling() and logits.numel() and not _all_finite(logits.detach()):
        raise HardwireError("the logits hold NaN or infinity; lower the learning rate or check the inputs")
    return logits


def _all_finite(x: torch.Tensor) -> bool:
    low, high = torch.aminmax(x)  # NaN in both if there is one; many times faster than isfinite of every element
    return bool(torch.isfinite(low) & torch.isfinite(high))


def _check_shape(kind: str, x: torch.Tensor, logits: torch.Tensor) -> None:
    """Raises unless x [..., K] broadcasts against logits [..., K]."""
    if x.ndim == 0 or x.shape[-1] != logits.shape[-1]:
        raise HardwireError(
            f"{kind} of shape {list(x.shape)} but {logits.shape[-1]} logits; the last axis of both is the choice"
        )
    try:
        torch.broadcast_shapes(x.shape, logits.shape)
    except RuntimeError:
        raise HardwireError(
            f"{kind} of shape {list(x.shape)} and logits of shape {list(logits.shape)} do not broadcast"
        ) from None


def _check_temperature(tau: Tau) -> None:
    if not isinstance(tau, torch.Tensor):
        check_tau(tau)
    elif not torch.compiler.is_compiling() and not (tau > 0).all():
        raise HardwireError(f"tau must be above 0 everywhere; its least value is {tau.min().item()}")
