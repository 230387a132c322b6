"""What a model has chosen and how surely: its levels, their commitment, the gates it uses."""

from collections.abc import Iterator

import torch
from torch import nn

from hardwire.engine.stack import frozen_gates
from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATES
from hardwire.layers import Fused, Part


def choosers(model: nn.Module) -> Iterator[Fused]:
    """The modules of a model that run levels, in order; a network counts as one, not its layers."""
    if isinstance(model, Fused):
        yield model
    else:
        for child in model.children():
            yield from choosers(child)


def parts_in(model: nn.Module) -> list[Part]:
    """All levels of gates that choose something in a model, each with its selector, in the order they were put in."""
    parts = [part for chooser in choosers(model) for part in chooser.parts() if part.selector is not None]
    if not parts:
        raise HardwireError(f"{type(model).__name__} holds no layer of gates; give a LogicNetwork or LogicLayers")
    return parts


@torch.no_grad()
def commitment(model: nn.Module, of: str = "gates") -> list[float]:
    """For each level the mean over its choices of max softmax(logits), without temperature: 1/K to 1.

    of: "gates", or "wires" for the levels that choose theirs.
    """
    if of not in ("gates", "wires"):
        raise unknown_name("choice", of, ("gates", "wires"))
    levels = [part.level for part in parts_in(model)]
    logits = [level.gate_logits if of == "gates" else level.wire_logits for level in levels]
    return [torch.softmax(z.double(), -1).amax(-1).mean().item() for z in logits if z is not None]


@torch.no_grad()
def gate_usage(model: nn.Module) -> torch.Tensor:
    """[levels, 16]: the share of each level's neurons whose deployed gate is this one; a row sums to 1."""
    counts = [torch.bincount(frozen_gates(part.level), minlength=len(GATES)) for part in parts_in(model)]
    return torch.stack([count.double() / count.sum().item() for count in counts])
