"""What a model has chosen: its levels, their commitment, and the gates that it uses."""

from collections.abc import Iterator

import torch
from torch import nn

from hardwire.engine.reference import function_confidence
from hardwire.engine.stack import Level, frozen_gates
from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATE_ARITY, GATES
from hardwire.layers import Fused, NetworkPart
from hardwire.selection import check_finite, confidence


def selecting_modules(model: nn.Module) -> Iterator[Fused]:
    """The modules of a model that run levels, in order; a network counts as one module."""
    if isinstance(model, Fused):
        yield model
    else:
        for child in model.children():
            yield from selecting_modules(child)


def parts_in(model: nn.Module) -> list[NetworkPart]:
    """All levels of a model that have a choice, each with its selector, in order."""
    parts = [part for module in selecting_modules(model) for part in module.parts() if part.selector is not None]
    if not parts:
        raise HardwireError(f"{type(model).__name__} holds no layer of gates; give a LogicNetwork or LogicLayers")
    return parts


def gate_levels(model: nn.Module) -> list[Level]:
    """The levels whose neurons have two inputs, so that what they deploy has the name of a gate."""
    return [part.level for part in parts_in(model) if part.level.arity == GATE_ARITY]


@torch.no_grad()
def commitment(model: nn.Module, of: str = "gates") -> list[float]:
    """How decided each level is: the mean over its choices of max softmax(logits), without temperature.

    Args:
        model: A network, or any module that holds layers of gates.
        of: "gates", or "wires" for the levels that choose their wires.

    Returns:
        A number for each level, from 1/K to 1.

    Example:
        >>> import hardwire as hw
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, seed=0)
        >>> [round(value, 1) for value in hw.commitment(net)]
        [0.2, 0.2]
    """
    if of not in ("gates", "wires"):
        raise unknown_name("choice", of, ("gates", "wires"))
    levels = [part.level for part in parts_in(model)]
    if of == "wires":
        wires = [level.wire_logits for level in levels if level.wire_logits is not None]
        return [confidence(check_finite(z).double()).item() for z in wires]
    functions = [(function_confidence(level), level.logits) for level in levels if level.logits is not None]
    return [measure(check_finite(z).double()).item() for measure, z in functions]


@torch.no_grad()
def gate_usage(model: nn.Module) -> torch.Tensor:
    """How often each gate is deployed.

    Levels of look-up tables with more than two inputs are left out: there are 2**64 functions of six inputs, and each
    table is likely to be one of its own.

    Args:
        model: A network, or any module that holds layers of gates.

    Returns:
        [levels, 16], float64: the share of each level's neurons with this gate; a row sums to 1.

    Example:
        >>> import hardwire as hw
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, start="residual", seed=0)
        >>> hw.gate_usage(net)[:, 3]  # the gate that passes its first input through
        tensor([1., 1.], dtype=torch.float64)
    """
    levels = gate_levels(model)
    if not levels:
        raise HardwireError("gate usage is for neurons of two inputs, and this model has only larger look-up tables")
    counts = [torch.bincount(frozen_gates(level), minlength=len(GATES)) for level in levels]
    return torch.stack([count.double() / count.sum().item() for count in counts])
