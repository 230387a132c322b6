"""Choosing one of K: one set of functions of (logits, candidates, tau, noise) for all four methods.

Surprising: tau does not appear in the forward pass of a hard method. It only shapes the softmax that the backward pass
differentiates, so a choice can be made first and its temperature set later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import torch

from hardwire.errors import HardwireError, check_holds_values, shown, unknown_name
from hardwire.methods import (
    CHOSEN,
    CLEAN,
    INPUT_GRADIENTS,
    METHOD_VARIANTS,
    METHODS,
    MIXTURE,
    NOISY,
    STRAIGHT_THROUGH,
    SURROGATES,
    Method,
    StraightThrough,
    get_method,
    get_straight_through,
    method_name,
    parse_method,
)
from hardwire.noise import gumbel_like

__all__ = [
    "CHOSEN", "CLEAN", "INPUT_GRADIENTS", "LARGEST_TAU", "METHODS", "METHOD_VARIANTS", "MIXTURE", "NOISY",
    "SMALLEST_TAU", "STRAIGHT_THROUGH", "SURROGATES", "Method", "Selection", "StraightThrough", "Tau",
    "check_logits", "check_tau", "choose", "confidence", "deployed", "first_argmax", "get_method",
    "get_straight_through", "gumbel_st", "hard_st", "method_name", "parse_method", "pick", "replace_gradient",
    "select", "selection_weights", "soft_gumbel", "soft_mix",
]  # fmt: skip

Tau: TypeAlias = float | torch.Tensor
SMALLEST_TAU, LARGEST_TAU = 1e-30, 1e30  # what float32 can divide by


class _ReplaceGradient(torch.autograd.Function):
    """Forward: the hard values. Backward: the gradient goes to the soft ones, unchanged."""

    @staticmethod
    def forward(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
        return hard.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, grad


def replace_gradient(hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """Returns the exact values of `hard`, with the gradient of `soft`; both have the same shape."""
    result: torch.Tensor = _ReplaceGradient.apply(hard, soft)  # type: ignore[no-untyped-call]
    return result


def pick(logits: torch.Tensor) -> torch.Tensor:
    """One-hot weights of the largest logit along the last axis; ties go to the lowest index."""
    hard = torch.zeros_like(logits)
    return hard.scatter_(-1, first_argmax(logits).unsqueeze(-1), 1.0)


def first_argmax(x: torch.Tensor) -> torch.Tensor:
    """argmax along the last axis with ties to the lowest index, as torch.max documents it."""
    return x.max(-1).indices


def selection_weights(
    logits: torch.Tensor,
    method: str | Method = "hard-st",
    tau: Tau = 1.0,
    noise: torch.Tensor | None = None,
    surrogate: str = NOISY,
) -> torch.Tensor:
    """The weights of the K candidates, [..., K], for logits [..., K]; differentiable in the logits.

    The forward weights are w = softmax((logits + noise) / tau), or one-hot for the hard methods. The backward pass is
    the paper's gradient proposition, dL/dz_j = (delta / tau) * w_j * (g_j - sum_i w_i g_i).

    Args:
        logits: [..., K], K at least 2.
        method: One of the four methods, by name.
        tau: A number or tensor above 0.
        noise: Gumbel noise [..., K] for the noisy methods. By default it is drawn from torch's generator.
        surrogate: For gumbel-st: whether the w of the backward pass includes the noise ("noisy"), or is
            softmax(logits / tau) ("clean").

    Returns:
        The weights, of the shape of the logits.

    Example:
        >>> import torch
        >>> logits = torch.tensor([0.1, 2.0, -1.0])
        >>> selection_weights(logits, "hard-st")
        tensor([0., 1., 0.])
    """
    _check_temperature(tau)
    return choose(logits, method, noise, surrogate).weights(tau)


@dataclass(frozen=True, eq=False)
class Selection:
    """Choices that have been made; a temperature turns them into weights, which may happen later.

    Attributes:
        hard: The chosen candidates as one-hot weights [..., K], without a gradient; None where candidates are mixed.
        logits: [..., K], whose softmax is the mixture, or what a hard choice differentiates in place of itself; None
            where a hard choice has no gradient.
    """

    hard: torch.Tensor | None
    logits: torch.Tensor | None

    def mixture(self, tau: Tau) -> torch.Tensor:
        """softmax(logits / tau), [..., K]."""
        assert self.logits is not None
        return torch.softmax(self.logits / tau, dim=-1)

    def weights(self, tau: Tau) -> torch.Tensor:
        """The weights of the forward pass, [..., K]; the backward pass differentiates the mixture."""
        if self.hard is None:
            return self.mixture(tau)
        return self.hard if self.logits is None else replace_gradient(self.hard, self.mixture(tau))


def choose(
    logits: torch.Tensor,
    method: str | Method = "hard-st",
    noise: torch.Tensor | None = None,
    surrogate: str = NOISY,
) -> Selection:
    """Makes the choices of a pass. Hard choices need no temperature for this.

    Args:
        logits: [..., K], K at least 2.
        method: One of the four methods, by name.
        noise: Gumbel noise [..., K] for the noisy methods. By default it is drawn from torch's generator.
        surrogate: One of SURROGATES, for hard methods.
    """
    method = get_method(method)
    check_logits(logits)
    if surrogate not in SURROGATES:
        raise unknown_name("surrogate", surrogate, SURROGATES)
    if noise is not None and not method.noisy:
        raise HardwireError(f"{method.name} takes no noise; use soft-gumbel or gumbel-st")
    noisy = logits
    if method.noisy:
        noise = gumbel_like(logits) if noise is None else noise
        _check_shape("noise", noise, logits)
        noisy = logits + noise
    if not method.hard:
        return Selection(None, noisy)
    return Selection(pick(noisy.detach()), logits.expand_as(noisy) if surrogate == CLEAN else noisy)


def deployed(logits: torch.Tensor) -> Selection:
    """The choices that are deployed: the largest logits, without noise and without a gradient."""
    return Selection(pick(check_logits(logits.detach())), None)


def select(
    logits: torch.Tensor,
    candidates: torch.Tensor,
    method: str | Method = "hard-st",
    tau: Tau = 1.0,
    noise: torch.Tensor | None = None,
    straight_through: str | None = None,
) -> torch.Tensor:
    """Chooses one of K candidates for every node, or mixes them, by one of the four methods.

    Args:
        logits: [..., K], K at least 2.
        candidates: The values to choose from, [..., K]; logits and candidates are broadcast against each other.
        method: One of the four methods, by name.
        tau: A number or tensor above 0.
        noise: Gumbel noise [..., K] for the noisy methods. By default it is drawn from torch's generator.
        straight_through: For the hard methods, what the backward pass differentiates: one of STRAIGHT_THROUGH, by
            default "output" for gumbel-st and "weights" for hard-st.

    Returns:
        The chosen values, [...].

    Example:
        >>> import torch
        >>> from hardwire import select
        >>> select(torch.tensor([0.1, 2.0]), torch.tensor([10.0, 20.0]))
        tensor(20.)
    """
    method = get_method(method)
    estimator = get_straight_through(method, straight_through)
    _check_temperature(tau)
    selection = choose(logits, method, noise, estimator.surrogate)
    weights = selection.weights(tau)
    _check_shape("candidates", candidates, weights)
    if selection.hard is None or estimator.input_gradient == CHOSEN:
        return (weights * candidates).sum(-1)
    return replace_gradient((selection.hard * candidates).sum(-1), (selection.mixture(tau) * candidates).sum(-1))


def _named(method: str) -> Callable[..., torch.Tensor]:
    def chosen(
        logits: torch.Tensor,
        candidates: torch.Tensor,
        tau: Tau = 1.0,
        noise: torch.Tensor | None = None,
        straight_through: str | None = None,
    ) -> torch.Tensor:
        return select(logits, candidates, method, tau, noise, straight_through)

    chosen.__doc__ = f"`select` by {method}."
    return chosen


soft_mix, soft_gumbel, hard_st, gumbel_st = (_named(name) for name in METHODS)


def confidence(logits: torch.Tensor) -> torch.Tensor:
    """The paper's confidence c of logits [..., K]: the mean over nodes of max softmax(logits), without temperature."""
    return torch.softmax(logits.detach(), dim=-1).amax(-1).mean()


def entry_confidence(logits: torch.Tensor) -> torch.Tensor:
    """The same for choices between 0 and 1 with one logit each, that of 1 where that of 0 is 0."""
    return torch.sigmoid(logits.detach().abs()).mean()


def check_tau(tau: float) -> float:
    """Returns a temperature as a float; raises unless it is a number that float32 can divide by."""
    if not (isinstance(tau, Real) and SMALLEST_TAU <= tau <= LARGEST_TAU):  # numpy's floats are Real too
        raise HardwireError(
            f"tau {shown(tau)} is not a positive number from {SMALLEST_TAU:g} to {LARGEST_TAU:g}; the paper uses 0.05 "
            "to 2.0"
        )
    return float(tau)


def check_logits(logits: torch.Tensor) -> torch.Tensor:
    """Returns the logits [..., K]; raises on K below 2, on NaN and on infinity."""
    if logits.ndim == 0 or logits.shape[-1] < 2:
        raise HardwireError(f"a choice needs at least 2 candidates; logits of shape {list(logits.shape)} offer fewer")
    return check_finite(logits)


def check_finite(logits: torch.Tensor) -> torch.Tensor:
    """Returns the logits; raises if they hold NaN or infinity, or no values at all."""
    if torch.compiler.is_compiling():  # looking at values would break the graph
        return logits
    check_holds_values("the logits", logits)
    if logits.numel() and not _all_finite(logits.detach()):
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
    elif not torch.compiler.is_compiling() and not (tau >= SMALLEST_TAU).all():
        least = tau.min().item()
        raise HardwireError(f"tau must be at least {SMALLEST_TAU:g} everywhere; its least value is {least:g}")
