"""`Selector`: what turns logits into choices (method, temperatures, noise), and the three passes it can make.

In `train()` a module runs its method's own pass, in `eval()` the deployed one: argmax gates on hard inputs. A third
pass (argmax gates, soft inputs) exists for measuring the gap; `selection_mode` forces any of the three on a whole
model. Surprising: looking at the next pass changes nothing; only `Pass.begin` moves counts and temperatures, here and
nowhere else.
"""

import contextlib
from collections.abc import Iterator
from numbers import Integral

import torch
from torch import nn

from hardwire.engine.stack import CHOSEN, MODES, PASSAGES, Reading, Rule
from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATES
from hardwire.noise import NoiseKey
from hardwire.selection import Method, parse_method
from hardwire.temperature import CAGE, Constant, Temperature

NOISES = ("pass", "sample")


class Selector(nn.Module):
    """How choices are made: method, temperature, and the count of training steps that numbers the noise.

    method: one of the four, or with "+cage" behind a hard one. choices: among how many each node chooses, for CAGE's
    1/K. wire_method: of learned wires, where it is not the gates' own. Wires have temperatures of their own, one for
    each number of candidates, since their confidence has another scale. noise, of the noisy methods: one draw for each
    "pass", shared by the batch, or one for each "sample". wire_gradient, of hard methods: the logits of wires learn
    from the gradient through the "chosen" gate, or through the "mixture" of gates; input_gradient: the same
    for all that a gate reads.
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
        input_gradient: str = CHOSEN,
    ):
        super().__init__()
        if noise not in NOISES:
            raise unknown_name("noise", noise, NOISES)
        for name, gradient in (("wire_gradient", wire_gradient), ("input_gradient", input_gradient)):
            if gradient not in PASSAGES:
                raise unknown_name(name, gradient, PASSAGES)
        self.noise, self.wire_gradient, self.input_gradient = noise, wire_gradient, input_gradient
        self.method, named_cage = parse_method(method)
        self.wire_method = self.method if wire_method is None else parse_method(wire_method)[0]
        self.seed = check_seed(seed)
        cage = cage or named_cage
        adaptive = cage or (isinstance(tau, Temperature) and tau.uses_confidence)
        if adaptive and not self.method.hard:
            raise HardwireError(
                f"CAGE adapts the backward pass of hard-st and gumbel-st; {self.method.name} has no such"
            )
        if cage and isinstance(tau, Temperature):
            raise HardwireError("give either cage=True or a temperature object as tau, not both")
        if isinstance(tau, CAGE) and tau.choices != choices:
            raise HardwireError(
                f"this CAGE is normalised for {tau.choices} choices, not {choices}; make it with choices={choices}"
            )
        self.temperature = tau if isinstance(tau, Temperature) else CAGE(choices=choices) if cage else Constant(tau)
        self.wire_temperatures = nn.ModuleDict()
        self.register_buffer("steps", torch.tensor(0, dtype=torch.int64))
        self.draws = 0  # evaluations since the last training step or `selection_mode`; each gets noise of its own
        self.holding = False  # inside `one_step`
        self.held = False  # inside `one_step`, after its first training pass

    def add_wires(self, candidates: int) -> None:
        """Makes room for a temperature of wires that choose among so many."""
        if str(candidates) not in self.wire_temperatures:
            fresh = CAGE(choices=candidates) if self.wire_method.hard and self.temperature.uses_confidence else None
            self.wire_temperatures[str(candidates)] = fresh or Constant(self.temperature.tau.item())

    def wire_temperature(self, candidates: int) -> Temperature:
        temperature = self.wire_temperatures[str(candidates)]
        assert isinstance(temperature, Temperature)
        return temperature

    def temperatures(self) -> list[Temperature]:
        """All of them, each once."""
        if not len(self.wire_temperatures):  # asked for twice a step, and a ModuleDict is slow to walk
            return [self.temperature]
        return [self.temperature, *(self.wire_temperature(int(k)) for k in self.wire_temperatures)]

    def next_pass(self, mode: str, training: bool) -> "Pass":
        """The next forward pass; it is a training step if it is the method's own with gradients on."""
        return Pass(self, mode, training and mode == "method" and torch.is_grad_enabled())

    def get_extra_state(self) -> torch.Tensor:
        """The seed, so that a state loaded into another instance goes on with the same noise."""
        return torch.tensor(self.seed, device="cpu")

    def set_extra_state(self, state: torch.Tensor) -> None:
        self.seed = int(state)

    def extra_repr(self) -> str:
        return f"method={self.method.name}, seed={self.seed}"


class Pass:
    """One forward pass of one selector. step: it is a training step's; moves: and the first of its step."""

    def __init__(self, selector: Selector, mode: str, step: bool):
        self.selector, self.mode, self.step = selector, mode, step
        self.moves = step and not selector.held
        self.heats: dict[int | None, Reading] = {}  # by the number of candidates; None is that of gates
        self.noise: NoiseKey | None = None
        if mode == "method" and (selector.method.noisy or selector.wire_method.noisy):
            # a copy, because the count moves on while this pass may still need its own
            count = selector.steps.clone() if self.moves or not step else selector.steps - 1
            draw = 0 if step else selector.draws
            self.noise = NoiseKey(selector.seed, count, draw, not step, selector.noise == "sample")

    def begin(self) -> "Pass":
        """Counts the pass, and moves the temperatures that need no confidence for it."""
        selector = self.selector
        if self.noise is not None:
            selector.draws = 0 if self.step else selector.draws + 1
        if self.moves:
            selector.steps += 1
            selector.held = selector.holding
            moving = [t for t in selector.temperatures() if t.moves and not t.uses_confidence]
            for temperature in moving:
                if temperature.users.come(selector)[0]:
                    temperature.advance()
            if moving:
                self.read_again()
        return self

    def read_again(self) -> None:
        """The temperatures have moved: the rules of this pass go by where they are now."""
        for candidates, heat in self.heats.items():
            heat.read(self._temperature(candidates).tau)

    def rule(self, place: int, candidates: int | None = None) -> Rule:
        """The rule of the selector's level number `place`."""
        selector, wires = self.selector, None if candidates is None else self._heat(candidates)
        return Rule(
            self.mode,
            selector.method,
            self._heat(None),
            selector.wire_method,
            wires,
            self.noise,
            place,
            selector.wire_gradient,
            selector.input_gradient,
        )

    def _heat(self, candidates: int | None) -> Reading:
        if candidates not in self.heats:
            self.heats[candidates] = Reading(self._temperature(candidates).tau)
        return self.heats[candidates]

    def _temperature(self, candidates: int | None) -> Temperature:
        return self.selector.temperature if candidates is None else self.selector.wire_temperature(candidates)


class Selecting(nn.Module):
    """Base of modules that choose: they know which of the three passes to run."""

    forced_mode: str | None = None

    @property
    def mode(self) -> str:
        return self.forced_mode or ("method" if self.training else "deploy")

    @property
    def trains(self) -> bool:
        """Whether a pass may be a training step's; under `selection_mode` we measure, so it never is."""
        return self.training and self.forced_mode is None


@contextlib.contextmanager
def selection_mode(model: nn.Module, mode: str) -> Iterator[nn.Module]:
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


@contextlib.contextmanager
def one_step(model: nn.Module) -> Iterator[nn.Module]:
    """Inside, all training passes count as one step, as gradient accumulation means them.

    The first moves temperatures and the step count; the others run at the same temperatures with the same noise.
    """
    selectors = [module for module in model.modules() if isinstance(module, Selector)]
    try:
        for selector in selectors:
            selector.holding = True
        yield model
    finally:
        for selector in selectors:
            selector.holding = selector.held = False


def check_seed(seed: int | None, bits: int = 63) -> int:
    """The seed itself, or a fresh one of torch's generator: torch.manual_seed makes unseeded layers repeatable."""
    if seed is None:
        return int(torch.randint(2**31, (), device="cpu").item())
    if not isinstance(seed, Integral) or not 0 <= seed < 2**bits:
        raise HardwireError(f"seed {seed!r} is not a whole number from 0 to 2**{bits} - 1")
    return int(seed)
