"""`Choice`: one selection of the library as a module, for any K and any source of logits, and helpers around it.

A *node* is one choice: an edge of a search cell, one row routed to an expert, one vector quantised by a codebook. Its
logits may be parameters or be computed from the input; every node draws noise of its own, and CAGE's confidence is the
mean over all nodes of a pass. Surprising: there are no soft and hard formulas of a candidate here as there are for
gates, so the argmax and the deployed pass coincide and the computation gap is exactly zero.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from hardwire.errors import HardwireError, whole_number
from hardwire.layers import Selecting, Selector, selection_mode
from hardwire.measure import evaluating
from hardwire.noise import gumbel
from hardwire.selection import Method, check_logits, confidence, first_argmax, pick, selection_weights
from hardwire.temperature import Temperature


class Choice(Selecting):
    """Weights of K candidates from their logits: [..., K] -> [..., K], every leading index a node.

    In `train()` the weights are the method's (differentiable in the logits), in `eval()` one-hot at the argmax.
    choices: K, at least 2. method, tau, cage, seed: as in `hw.LogicLayer`; a temperature object serves one Choice.
    as_index, in a pass that picks: the picked candidates [...] instead of weights, where no gradient is wanted; the
    `top` best of them [..., top] if that is more than 1. as_logits: the logits of this pass with their noise, for a
    module that picks by a rule of its own.
    """

    def __init__(
        self,
        choices: int,
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
    ):
        super().__init__()
        self.choices = whole_number("choices", choices, least=2)
        self.selector = Selector(method, tau, cage, seed, self.choices)

    @property
    def picks(self) -> bool:
        """Whether the pass that runs now takes one candidate (else it mixes them)."""
        return self.mode != "method" or self.selector.method.hard

    def forward(
        self, logits: torch.Tensor, as_index: bool = False, top: int = 1, as_logits: bool = False
    ) -> torch.Tensor:
        if logits.shape[-1:] != (self.choices,):
            raise HardwireError(f"logits of shape {list(logits.shape)} for {self.choices} choices on the last axis")
        check_logits(logits)
        this = self.selector.next_pass(self.mode, self.trains).begin()
        if this.moves and self.selector.temperature.uses_confidence:
            nodes = logits.numel() // self.choices
            self.selector.temperature.hear(self.selector, [(confidence(logits), nodes)], [(logits, nodes)])
        rule = this.rule(0)
        noise = None
        if rule.noise is not None:
            nodes = logits.numel() // self.choices
            noise = gumbel(rule.noise, 0, nodes, self.choices, like=logits).view(logits.shape)
        if as_logits:
            return logits if noise is None else logits + noise
        if as_index:
            noisy = logits.detach() if noise is None else logits.detach() + noise
            return first_argmax(noisy) if top == 1 else noisy.topk(top).indices
        if rule.mode != "method":
            return pick(logits.detach())
        return selection_weights(logits, rule.method, rule.heat.tau, noise)

    def extra_repr(self) -> str:
        return f"choices={self.choices}"


class _Chosen(torch.autograd.Function):
    """Forward: the chosen output. Backward: as if it had been sum_k weights_k * candidates_k with one-hot weights."""

    @staticmethod
    def forward(chosen: torch.Tensor, weights: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        return chosen.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        _, weights, candidates = inputs
        ctx.shared = weights.ndim == 1
        ctx.save_for_backward(candidates)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        (candidates,) = ctx.saved_tensors
        products = (grad * candidates).flatten(1 if ctx.shared else 2).sum(-1)
        return grad, products if ctx.shared else products.T, None


def chosen_output(chosen: torch.Tensor, weights: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
    """The chosen output [rows, ...] to the last bit, with the gradient of the selection attached.

    weights: one-hot, [K] (one node for all rows) or [rows, K] (each row a node); weight k receives the product of the
    upstream gradient with candidate k. candidates: [K, rows, ...], values only: they need no graph, so whoever runs
    them may do so under no_grad and backpropagate through the chosen one alone.
    """
    output: torch.Tensor = _Chosen.apply(chosen, weights, candidates)  # type: ignore[no-untyped-call]
    return output


class Auxiliary(nn.Module):
    """Base of modules that ask for a loss of their own: `auxiliary`, of the latest training pass, or None."""

    auxiliary: torch.Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"auxiliary": None}  # a tensor with a graph cannot be copied


def auxiliary_loss(model: nn.Module) -> torch.Tensor | float:
    """The sum of what the modules of a model ask for in their latest training pass: load balance, commitment."""
    losses = [getattr(module, "auxiliary", None) for module in model.modules()]
    return sum((loss for loss in losses if loss is not None), start=0.0)


def deploy(model: nn.Module) -> nn.Module:
    """A copy of any model in which every module that can is replaced by its discrete form, in eval mode."""
    if hasattr(model, "deploy"):
        discrete: nn.Module = model.deploy()  # type: ignore[operator]
        return discrete
    deployed = copy.deepcopy(model)
    for name, child in model.named_children():
        setattr(deployed, name, deploy(child))
    return deployed.eval()


@dataclass
class Usage:
    """How one Choice was used: counts int64 [K], how many nodes deployed each candidate, and its mean confidence."""

    counts: torch.Tensor
    confidence: float = 0.0

    @property
    def dead(self) -> int:
        """Candidates that no node deployed."""
        return int((self.counts == 0).sum())


@torch.no_grad()
def choice_usage(model: nn.Module, x: torch.Tensor) -> list[Usage]:
    """For each Choice of a model how its candidates are deployed on x."""
    choices = [module for module in model.modules() if isinstance(module, Choice)]
    if not choices:
        raise HardwireError(f"{type(model).__name__} holds no Choice, so nothing is used or dead")
    usages = [Usage(torch.zeros(choice.choices, dtype=torch.int64)) for choice in choices]
    hooks = [choice.register_forward_hook(_recorder(use)) for choice, use in zip(choices, usages, strict=True)]
    try:
        with evaluating(model), selection_mode(model, "deploy"):
            model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return usages


def _recorder(usage: Usage) -> Callable[[nn.Module, Any, Any], None]:
    def hook(module: nn.Module, args: Any, output: Any) -> None:
        assert isinstance(module, Choice)
        picked = first_argmax(args[0]) if output.is_floating_point() else output
        usage.counts += torch.bincount(picked.flatten().cpu(), minlength=module.choices)
        usage.confidence = confidence(args[0]).item()

    return hook
