"""`Choice`: selection as a module, for any K and any source of logits, and helpers for models that contain it.

A *node* is one choice: an edge of a search cell, a row routed to an expert, a vector quantised by a codebook. Its
logits are parameters or computed from the input. Every node draws its own noise, and CAGE's confidence is the mean over
all nodes of a pass. Surprising: candidates have no soft and hard formulas as gates do, so the argmax pass and the
deployed pass are the same and the computation gap is exactly zero.
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
    """Turns the logits of K candidates into their weights: [..., K] -> [..., K]; every leading index is a node.

    In `train()` the weights are the method's, and differentiable in the logits; in `eval()` they are one-hot at the
    largest logit.

    Args:
        choices: K, at least 2.
        method: "soft-mix", "soft-gumbel", "hard-st" or "gumbel-st"; the last two also with "+cage".
        tau: The temperature, a number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the noise. By default torch's generator gives one.
        noise: "sample" if nodes are rows of the batch, so that each micro-batch of a step (`hw.one_step`) draws anew;
            "pass" if all batches have the same nodes.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> choice = hw.Choice(3, method="hard-st+cage", seed=0)
        >>> choice(torch.tensor([[0.1, 2.0, -1.0], [3.0, 0.0, 0.0]]))
        tensor([[0., 1., 0.],
                [1., 0., 0.]])
    """

    def __init__(
        self,
        choices: int,
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = None,
        noise: str = "pass",
    ):
        super().__init__()
        self.choices = whole_number("choices", choices, least=2)
        self.selector = Selector(method, tau, cage, seed, self.choices, noise=noise)

    @property
    def picks(self) -> bool:
        """Whether the current pass chooses one candidate; otherwise it mixes them."""
        return self.mode != "method" or self.selector.method.hard

    def forward(
        self, logits: torch.Tensor, as_index: bool = False, top: int = 1, as_logits: bool = False
    ) -> torch.Tensor:
        """Makes one pass.

        Args:
            logits: [..., K].
            as_index: Return the chosen candidates [...] in place of weights, without a gradient.
            top: With as_index, return the best few candidates, [..., top].
            as_logits: Return the logits with the noise of this pass, for a module that chooses by its own rule.
        """
        if logits.shape[-1:] != (self.choices,):
            raise HardwireError(f"logits of shape {list(logits.shape)} for {self.choices} choices on the last axis")
        check_logits(logits)
        this = self.selector.next_pass(self.mode, self.trains).begin()
        if this.moves and self.selector.temperature.uses_confidence:
            nodes = logits.numel() // self.choices
            share = logits, nodes, confidence
            self.selector.temperature.update(self.selector, [(confidence(logits), nodes)], [share])
        rule = this.fixed_rule()
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
        return selection_weights(logits, rule.method, rule.tau.tau, noise)

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
    """The exact chosen output [rows, ...], with the gradient of the selection.

    Args:
        chosen: The output of the chosen candidate.
        weights: One-hot, [K] for one node or [rows, K] for a node per row. Weight k receives the product of the
            upstream gradient with candidate k.
        candidates: The values of all candidates, [K, rows, ...]. They need no graph, so they can be computed under
            no_grad, and only the chosen one is backpropagated through.
    """
    output: torch.Tensor = _Chosen.apply(chosen, weights, candidates)  # type: ignore[no-untyped-call]
    return output


class Auxiliary(nn.Module):
    """Base class of modules with a loss of their own: `auxiliary`, of the latest training pass, or None."""

    auxiliary: torch.Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"auxiliary": None}  # a tensor with a graph cannot be copied


def auxiliary_loss(model: nn.Module) -> torch.Tensor | float:
    """The sum of the modules' own losses in the latest training pass, such as load balance and commitment.

    Args:
        model: The model.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> experts = [torch.nn.Linear(4, 2) for _ in range(3)]
        >>> model = hw.MixtureOfExperts(4, experts, balance=0.01)
        >>> output = model(torch.randn(8, 4))
        >>> loss = output.square().mean() + hw.systems.auxiliary_loss(model)
    """
    losses = [getattr(module, "auxiliary", None) for module in model.modules()]
    return sum((loss for loss in losses if loss is not None), start=0.0)


def deploy(model: nn.Module) -> nn.Module:
    """A copy of a model in eval mode, in which every module with a `deploy` method is replaced by its discrete form.

    Args:
        model: The model.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 4), hw.VectorQuantizer(16, 4, seed=0))
        >>> type(hw.systems.deploy(model)[1]).__name__
        'Codebook'
    """
    if hasattr(model, "deploy"):
        discrete: nn.Module = model.deploy()  # type: ignore[operator]
        return discrete
    deployed = copy.deepcopy(model)
    for name, child in model.named_children():
        setattr(deployed, name, deploy(child))
    return deployed.eval()


@dataclass
class Usage:
    """How the candidates of one Choice are used.

    Attributes:
        counts: int64 [K], the number of nodes that deploy each candidate.
        confidence: The mean confidence of its nodes.
    """

    counts: torch.Tensor
    confidence: float = 0.0

    @property
    def dead(self) -> int:
        """The number of candidates that no node deploys."""
        return int((self.counts == 0).sum())


@torch.no_grad()
def choice_usage(model: nn.Module, x: torch.Tensor) -> list[Usage]:
    """How each Choice of a model uses its candidates when it is deployed on x.

    Args:
        model: The model.
        x: Its input.

    Returns:
        A `Usage` for each Choice.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> model = hw.VectorQuantizer(16, 4, seed=0)
        >>> int(hw.systems.choice_usage(model, torch.randn(100, 4))[0].counts.sum())
        100
    """
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
        chosen = first_argmax(args[0]) if output.is_floating_point() else output
        usage.counts += torch.bincount(chosen.flatten().cpu(), minlength=module.choices)
        usage.confidence = confidence(args[0]).item()

    return hook
