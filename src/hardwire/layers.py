"""Torch modules: `LogicLayer`, a layer of gates that learns which gate each neuron is, and `GroupSum`, which adds the
last layer's outputs up into class scores.

In `train()` a layer runs its method's own pass, in `eval()` the deployed one: argmax gates on hard inputs. A third pass
(argmax gates, soft inputs) exists for measuring the gap; `selection_mode` forces any of the three on a whole model.
"""

import contextlib
import math
import sys
from numbers import Integral, Real

import torch
from torch import nn

from hardwire import engine as engines
from hardwire.bits import Bits
from hardwire.engine import MODES, Plan
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.noise import NoiseKey
from hardwire.selection import get_method
from hardwire.temperature import CAGE, Constant, Temperature
from hardwire.wiring import random_wiring

K = 16


class Selector(nn.Module):
    """What turns logits into choices: method, temperature, and the count of training steps that numbers the noise.

    choices: among how many each node chooses, for CAGE's 1/K.
    """

    def __init__(
        self,
        method="hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = 0,
        choices: int = K,
    ):
        super().__init__()
        self.method = get_method(method)
        self.seed = check_seed(seed)
        adaptive = cage or (isinstance(tau, Temperature) and tau.uses_confidence)
        if adaptive and not self.method.hard:
            raise HardwireError(
                f"CAGE adapts the backward pass of hard-st and gumbel-st; {self.method.name} has no such"
            )
        if cage and isinstance(tau, Temperature):
            raise HardwireError("give either cage=True or a temperature object as tau, not both")
        self.temperature = tau if isinstance(tau, Temperature) else CAGE(choices=choices) if cage else Constant(tau)
        self.register_buffer("steps", torch.tensor(0, dtype=torch.int64))
        self.draws = 0  # evaluations since the last training step or `selection_mode`; each gets noise of its own

    def plan(self, mode: str, training: bool) -> Plan:
        """The next forward pass; a training step (the method's pass with gradients on) moves the step count."""
        step = training and mode == "method" and torch.is_grad_enabled()
        key = None
        if mode == "method" and self.method.noisy:
            # a clone, because the count moves on while this pass may still need its own
            key = NoiseKey(self.seed, self.steps.clone(), draw=0 if step else self.draws, evaluation=not step)
            self.draws = 0 if step else self.draws + 1
        if step:
            self.steps += 1
        return Plan(mode, self.method, self.temperature, key, advance=step)

    def get_extra_state(self) -> torch.Tensor:
        """The seed, so that a state loaded into another instance goes on with the same noise."""
        return torch.tensor(self.seed, device="cpu")

    def set_extra_state(self, state: torch.Tensor) -> None:
        self.seed = int(state)

    def extra_repr(self) -> str:
        return f"method={self.method.name}, seed={self.seed}"


class Selecting(nn.Module):
    """Base of modules that choose, with a `selector`: they know which of the three passes to run."""

    forced_mode: str | None = None

    @property
    def mode(self) -> str:
        return self.forced_mode or ("method" if self.training else "deploy")

    def next_plan(self) -> Plan:
        """The plan of this forward pass; under `selection_mode` we measure, so it is never a training step."""
        return self.selector.plan(self.mode, self.training and self.forced_mode is None)


@contextlib.contextmanager
def selection_mode(model: nn.Module, mode: str):
    """Inside, every choosing module of `model` runs the pass `mode`: "method", "argmax" or "deploy"."""
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    modules = [module for module in model.modules() if isinstance(module, Selecting)]
    before = [module.forced_mode for module in modules]
    for module in model.modules():
        if mode == "method" and isinstance(module, Selector):
            module.draws = 0  # so that measuring twice gives the same numbers
    try:
        for module in modules:
            module.forced_mode = mode
        yield model
    finally:
        for module, forced in zip(modules, before, strict=True):
            module.forced_mode = forced


class GateLayer(nn.Module):
    """The parameters of one layer: logits [neurons, 16], starting as N(0, 1), and the wiring [2, neurons]."""

    def __init__(self, inputs: int, neurons: int, seed: int, groups: int = 1):
        super().__init__()
        self.inputs, self.neurons = whole_number("inputs", inputs), whole_number("neurons", neurons)
        self.register_buffer("wiring", random_wiring(self.inputs, self.neurons, seed, groups))
        generator = torch.Generator().manual_seed(seed)
        self.logits = nn.Parameter(torch.randn(self.neurons, K, generator=generator))

    def extra_repr(self) -> str:
        return f"{self.inputs} -> {self.neurons}"


class LogicLayer(GateLayer, Selecting):
    """A layer of `neurons` two-input gates over `inputs` features: [batch, inputs] -> [batch, neurons].

    method: soft-mix, soft-gumbel, hard-st or gumbel-st. tau: a number or a temperature object. cage: CAGE on this
    layer's own confidence (a `LogicNetwork` uses that of all its layers). Without a seed, torch's generator gives one.
    """

    def __init__(self, inputs, neurons, method="hard-st", tau=1.0, cage=False, seed=None, engine="auto"):
        seed = check_seed(seed)
        super().__init__(inputs, neurons, seed)
        self.selector = Selector(method, tau, cage, seed)
        self.engine = engines.check_engine(engine)

    def forward(self, x):
        check_input(x, self.inputs)
        engine = engines.choose(self.engine, x, self.logits)
        return engine.run_layer(x, self.logits, self.wiring, self.next_plan())


class GroupSum(nn.Module):
    """Class scores: sums of contiguous equal groups over a temperature, [batch, features] -> [batch, classes]."""

    def __init__(self, classes: int, temperature: float | None = None):
        super().__init__()
        if temperature is not None and not (isinstance(temperature, Real) and 0 < temperature < sys.float_info.max):
            raise HardwireError(f"the group temperature {temperature!r} is not a positive number")
        self.classes, self.temperature = whole_number("classes", classes, least=2), temperature

    def temperature_for(self, features: int) -> float:
        """The one given, else the paper's alpha(C) * sqrt(k) for k = features / classes neurons a class."""
        if self.temperature is not None:
            return float(self.temperature)
        return default_group_temperature(self.classes, features // self.classes)

    def forward(self, x):
        check_groups(x.shape[-1], self.classes)
        return x.unflatten(-1, (self.classes, -1)).sum(-1) / self.temperature_for(x.shape[-1])

    def extra_repr(self) -> str:
        return f"classes={self.classes}, temperature={self.temperature or 'alpha(C)*sqrt(k)'}"


def default_group_temperature(classes: int, neurons_per_class: int) -> float:
    """The paper's alpha(C) * sqrt(k), alpha(C) = 1.42 / (ln(C - 1) + 0.7): well-conditioned scores at the start."""
    return 1.42 / (math.log(classes - 1) + 0.7) * math.sqrt(neurons_per_class)


def check_groups(width: int, classes: int) -> None:
    """Raises unless a layer of `width` splits into `classes` equal groups."""
    if width % classes or width < classes:
        near = max(classes, round(width / classes) * classes)
        raise HardwireError(
            f"width {width} cannot be split into {classes} equal classes; use a multiple of {classes}, such as {near}"
        )


def check_input(x, inputs: int) -> None:
    """Raises unless x is Bits or a float tensor in [0, 1], two-dimensional, with `inputs` features."""
    if not isinstance(x, torch.Tensor | Bits) or (isinstance(x, torch.Tensor) and x.is_complex()):
        raise HardwireError(f"input is a float tensor [batch, {inputs}] or hardwire.Bits, not {type(x).__name__}")
    if len(x.shape) != 2 or x.shape[1] != inputs:
        raise HardwireError(f"input has shape {list(x.shape)}; this layer reads [batch, {inputs}]")
    if x.shape[0] == 0:
        raise HardwireError("the batch is empty; give at least one row")
    if isinstance(x, Bits) or x.dtype == torch.bool or torch.compiler.is_compiling():
        return
    low, high = torch.aminmax(x.detach())
    # a mixture of gates may leave [0, 1] by a rounding error, and the next layer of an nn.Sequential must take it
    slack = 16 * torch.finfo(x.dtype).eps if x.is_floating_point() else 0
    if not (low >= -slack and high <= 1 + slack):  # also true for NaN
        raise HardwireError(
            f"input values must lie in [0, 1]; found {low.item():g} to {high.item():g}; scale them (bytes: x / 255)"
        )


def check_seed(seed: int | None) -> int:
    """The seed itself, or a fresh one of torch's generator: torch.manual_seed makes unseeded layers repeatable."""
    if seed is None:
        return int(torch.randint(2**31, (), device="cpu").item())
    if not isinstance(seed, Integral) or not 0 <= seed < 2**53:  # a network makes its layers' seeds by * 1009
        raise HardwireError(f"seed {seed!r} is not a whole number from 0 to 2**53 - 1")
    return int(seed)
