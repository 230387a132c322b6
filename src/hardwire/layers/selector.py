"""`Selector`: how logits become choices (method, temperatures, noise), and the three passes.

In `train()` a module runs its method's own pass, in `eval()` the deployed one: argmax gates on hard inputs. A third
pass (argmax gates, soft inputs) exists for measuring the gap; `selection_mode` makes a whole model run any of the
three. Surprising: creating a pass changes nothing; only `Pass.begin` moves counts and temperatures.
"""

import contextlib
from collections.abc import Iterable, Iterator

import torch
from torch import nn

from hardwire.engine.functions import Choose, Entries, Fixed
from hardwire.engine.stack import MODES, Level, Rule, TauSnapshot
from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATES
from hardwire.noise import NoiseKey
from hardwire.randomness import check_seed
from hardwire.selection import CHOSEN, INPUT_GRADIENTS, Method, get_straight_through, parse_method
from hardwire.temperature import CAGE, Constant, Temperature

NOISES = ("pass", "sample")


class Selector(nn.Module):
    """How choices are made: the method, the temperature, and the count of training steps, which numbers the noise.

    Wires follow the temperature of gates. CAGE gives them a confidence of their own for each number of candidates,
    because its scale depends on that number.

    Args:
        method: One of the four methods; the hard ones also with "+cage".
        tau: A number or a temperature object.
        cage: The same as "+cage".
        seed: The seed of the noise. None draws one from torch's generator.
        choices: The number of candidates of each choice, for CAGE.
        wire_method: The method of learned wires; by default that of gates.
        noise: For the noisy methods: one draw for each "pass", shared by the batch, or one for each "sample".
        wire_gradient: For hard methods: whether the logits of wires learn from the gradient through the "chosen" gate
            or through the "mixture" of gates.
        straight_through: For hard methods: what the backward pass differentiates, one of `methods.STRAIGHT_THROUGH`.
        surrogate: A part of straight_through, in place of a name.
        input_gradient: The other part.
    """

    steps: torch.Tensor
    temperature: Temperature

    def __init__(
        self,
        method: str | Method = "hard-st",
        tau: float | Temperature = 1.0,
        cage: bool = False,
        seed: int | None = 0,
        choices: int = len(GATES),
        wire_method: str | Method | None = None,
        noise: str = "pass",
        wire_gradient: str = CHOSEN,
        straight_through: str | None = None,
        surrogate: str | None = None,
        input_gradient: str | None = None,
    ):
        super().__init__()
        if noise not in NOISES:
            raise unknown_name("noise", noise, NOISES)
        if wire_gradient not in INPUT_GRADIENTS:
            raise unknown_name("wire_gradient", wire_gradient, INPUT_GRADIENTS)
        self.noise, self.wire_gradient = noise, wire_gradient
        self.method, named_cage = parse_method(method)
        estimator = get_straight_through(self.method, straight_through, surrogate, input_gradient)
        self.surrogate, self.input_gradient = estimator.surrogate, estimator.input_gradient
        self.wire_method, wire_cage = (self.method, False) if wire_method is None else parse_method(wire_method)
        self.seed = check_seed(seed)
        cage = cage or named_cage
        adaptive = cage or (isinstance(tau, Temperature) and tau.uses_confidence)
        if adaptive and not self.method.hard:
            raise HardwireError(
                f"CAGE adapts the backward pass of hard-st and gumbel-st; it does not apply to {self.method.name}"
            )
        if adaptive and not self.wire_method.hard:
            raise HardwireError(
                f"CAGE is for hard choices, and wires that choose by {self.wire_method.name} mix; use wire_method "
                "hard-st or gumbel-st, or tau without CAGE"
            )
        if wire_cage and not adaptive:
            raise HardwireError("wires have CAGE where gates do; add it to the method, not to wire_method")
        if cage and isinstance(tau, Temperature):
            raise HardwireError("give either cage=True or a temperature object as tau, not both")
        if isinstance(tau, CAGE) and tau.choices != choices:
            raise HardwireError(
                f"this CAGE is normalised for {tau.choices} choices, not {choices}; make it with choices={choices}"
            )
        self.temperature = tau if isinstance(tau, Temperature) else CAGE(choices=choices) if cage else Constant(tau)
        self.choices = choices
        # by the number of functions or candidates to choose from; only those that are not `temperature`
        self.function_temperatures, self.wire_temperatures = nn.ModuleDict(), nn.ModuleDict()
        self.has_wires = False
        self.register_buffer("steps", torch.tensor(0, dtype=torch.int64))
        self.draws = 0  # evaluations since the last training step or `selection_mode`; each has its own noise
        self.accumulating = False  # inside `one_step`
        self.step_counted = False  # inside `one_step`, after its first training pass
        self.micro_batches = 0  # training passes inside `one_step` so far

    def prepare_for(self, levels: Iterable[Level]) -> None:
        """Prepares for the choices of these levels: noise that they can have, and a temperature for each kind."""
        for level in levels:
            if not isinstance(level.function, Fixed):
                self._add_functions(level.function)
            if level.candidates is not None:
                self._add_wires(level.candidates)

    def _add_wires(self, candidates: int) -> None:
        if self.noise == "sample" and (self.method.noisy or self.wire_method.noisy):
            raise HardwireError("noise='sample' is for fixed wires; use noise='pass' with learned ones")
        self.has_wires = True
        temperature = self.temperature.for_choices(candidates)
        if temperature is not self.temperature and str(candidates) not in self.wire_temperatures:
            self.wire_temperatures[str(candidates)] = temperature

    def _add_functions(self, function: Choose | Entries) -> None:
        choices = function.choices
        if isinstance(function, Entries) and self.noise == "sample" and self.method.noisy:
            raise HardwireError("noise='sample' is for two-input gates; use noise='pass' with look-up tables")
        if choices == self.choices or str(choices) in self.function_temperatures:
            return
        temperature = self.temperature.for_choices(choices)
        if temperature is not self.temperature:
            self.function_temperatures[str(choices)] = temperature

    def function_temperature(self, choices: int) -> Temperature:
        """The temperature of choices among this many functions."""
        if not len(self.function_temperatures) or str(choices) not in self.function_temperatures:
            return self.temperature
        temperature = self.function_temperatures[str(choices)]
        assert isinstance(temperature, Temperature)
        return temperature

    def wire_temperature(self, candidates: int) -> Temperature:
        """The temperature of wires that choose among this many candidates."""
        if str(candidates) not in self.wire_temperatures:
            return self.temperature
        temperature = self.wire_temperatures[str(candidates)]
        assert isinstance(temperature, Temperature)
        return temperature

    @property
    def noisy(self) -> bool:
        """Whether any of its choices uses noise."""
        return self.method.noisy or (self.has_wires and self.wire_method.noisy)

    def temperatures(self) -> list[Temperature]:
        """All temperatures, each once."""
        if not len(self.wire_temperatures) and not len(self.function_temperatures):
            return [self.temperature]  # called twice per step, and iterating a ModuleDict is slow
        functions = [self.function_temperature(int(k)) for k in self.function_temperatures]
        return [self.temperature, *functions, *(self.wire_temperature(int(k)) for k in self.wire_temperatures)]

    def next_pass(self, mode: str, training: bool) -> "Pass":
        """The next forward pass. It is a training step if it is the method's own pass with gradients enabled."""
        return Pass(self, mode, training and mode == "method" and torch.is_grad_enabled())

    def get_extra_state(self) -> torch.Tensor:
        """The seed, so that a state loaded into another instance continues with the same noise."""
        return torch.tensor(self.seed, device="cpu")

    def set_extra_state(self, state: torch.Tensor) -> None:
        self.seed = int(state)

    def extra_repr(self) -> str:
        return f"method={self.method.name}, seed={self.seed}"


class Pass:
    """One forward pass of one selector.

    Attributes:
        step: Whether it belongs to a training step.
        moves: Whether it is also the first pass of that step, which moves temperatures and the count of steps.
    """

    def __init__(self, selector: Selector, mode: str, step: bool):
        self.selector, self.mode, self.step = selector, mode, step
        self.moves = step and not selector.step_counted
        self.taus: dict[Temperature, TauSnapshot] = {}
        self.noise: NoiseKey | None = None
        if mode == "method" and selector.noisy:
            # a copy, because the count changes while this pass may still need its value
            count = selector.steps.clone() if self.moves or not step else selector.steps - 1
            per_sample = selector.noise == "sample"
            # the micro-batches of a step share one draw, unless every sample has its own
            draw = (selector.micro_batches if per_sample else 0) if step else selector.draws
            self.noise = NoiseKey(selector.seed, count, draw, not step, per_sample)

    def begin(self) -> "Pass":
        """Counts the pass, and moves the temperatures that do not need a confidence."""
        selector = self.selector
        if self.noise is not None:
            selector.draws = 0 if self.step else selector.draws + 1
        if self.step and selector.accumulating:
            selector.micro_batches += 1
        if self.moves:
            selector.steps += 1
            selector.step_counted = selector.accumulating
            moving = [t for t in selector.temperatures() if t.moves and not t.uses_confidence]
            for temperature in moving:
                if temperature.users.begin_pass(selector)[0]:
                    temperature.advance()
            if moving:
                self.refresh_taus()
        return self

    def refresh_taus(self) -> None:
        """Gives the rules of this pass the current temperatures."""
        for temperature, tau in self.taus.items():
            tau.refresh(temperature.tau)

    def rule(self, noise_stream: int, level: Level) -> Rule:
        """The rule of a level, which has this number among those of the selector."""
        selector, wires = self.selector, None
        if level.candidates is not None:
            wires = self._snapshot(selector.wire_temperature(level.candidates))
        choices = selector.choices if isinstance(level.function, Fixed) else level.function.choices
        return self._rule(self._snapshot(selector.function_temperature(choices)), wires, noise_stream)

    def fixed_rule(self) -> Rule:
        """The rule of a level that has nothing to choose."""
        return self._rule(self._snapshot(self.selector.temperature), None, 0)

    def _rule(self, tau: TauSnapshot, wire_tau: TauSnapshot | None, noise_stream: int) -> Rule:
        selector = self.selector
        return Rule(
            self.mode,
            selector.method,
            tau,
            selector.wire_method,
            wire_tau,
            self.noise,
            noise_stream,
            selector.wire_gradient,
            selector.input_gradient,
            selector.surrogate,
        )

    def _snapshot(self, temperature: Temperature) -> TauSnapshot:
        if temperature not in self.taus:
            self.taus[temperature] = TauSnapshot(temperature.tau)
        return self.taus[temperature]


class Selecting(nn.Module):
    """Base class of modules that make choices; it decides which of the three passes to run."""

    forced_mode: str | None = None

    @property
    def mode(self) -> str:
        return self.forced_mode or ("method" if self.training else "deploy")

    @property
    def trains(self) -> bool:
        """Whether a pass may be a training step; under `selection_mode`, which is for measuring, it never is."""
        return self.training and self.forced_mode is None


@contextlib.contextmanager
def selection_mode(model: nn.Module, mode: str) -> Iterator[nn.Module]:
    """Makes all modules of a model that choose run the same pass, inside a with block.

    Args:
        model: The model.
        mode: "method" for the method's own pass, "argmax" for argmax choices on soft inputs, or "deploy".

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, method="soft-mix", seed=0)
        >>> x = torch.rand(5, 64).round()
        >>> with hw.selection_mode(net, "argmax"):
        ...     scores = net(x)
    """
    if mode not in MODES:
        raise unknown_name("mode", mode, MODES)
    modules = [module for module in model.modules() if isinstance(module, Selecting)]
    before = [module.forced_mode for module in modules]
    for module in model.modules():
        if mode == "method" and isinstance(module, Selector):
            module.draws = 0  # so that two measurements give the same numbers
    try:
        for module in modules:
            module.forced_mode = mode
        yield model
    finally:
        for module, forced in zip(modules, before, strict=True):
            module.forced_mode = forced


@contextlib.contextmanager
def one_step(model: nn.Module) -> Iterator[nn.Module]:
    """Counts all training passes inside a with block as one step, for gradient accumulation.

    The first pass moves the temperatures and the count of steps. The others use the same temperatures and the same
    noise; where every sample has its own noise, each pass draws anew.

    Args:
        model: The model.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, cage=True, seed=0)
        >>> with hw.one_step(net):
        ...     for x in torch.rand(4, 32, 64).round():  # four micro-batches
        ...         net(x).logsumexp(1).mean().backward()
        >>> int(net.selector.steps)
        1
    """
    selectors = [module for module in model.modules() if isinstance(module, Selector)]
    try:
        for selector in selectors:
            selector.accumulating = True
        yield model
    finally:
        for selector in selectors:
            selector.accumulating = selector.step_counted = False
            selector.micro_batches = 0
