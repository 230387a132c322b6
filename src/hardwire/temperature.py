"""The temperature of each training step: a constant, CAGE or a schedule, behind one interface.

A temperature is a module with a buffer `tau`. `advance(confidence)` moves it, once per training step and never during
evaluation. Its state is part of `state_dict`, so a resumed run continues where it stopped. Surprising: its buffers stay
float32 when a model is cast, because a moving average with coefficient 0.99 does not move in half precision.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import torch
from torch import nn

from hardwire.errors import HardwireError, check_new, shown, unknown_name, whole_number
from hardwire.selection import check_tau

Share = tuple[torch.Tensor, int, Callable[[torch.Tensor], torch.Tensor]]
"""Logits of choices made at a temperature, how many choices they count for, and what measures their confidence."""


class Users:
    """The users of a temperature: one network, or several layers that share it, so that it moves once per step.

    A step starts when a known user runs again; nothing else marks the end of a step of a plain nn.Sequential. A copy
    of a temperature has no users yet. torch.compile cannot follow weak references, so under it every user counts as the
    only one.
    """

    def __init__(self) -> None:
        self.shares: weakref.WeakKeyDictionary[object, list[tuple[weakref.ref[torch.Tensor], int, Any]]]
        self.shares, self.seen_this_step = weakref.WeakKeyDictionary(), weakref.WeakSet[object]()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Users":
        return Users()

    def __reduce__(self) -> tuple[type["Users"], tuple[()]]:
        return Users, ()

    def begin_pass(self, user: object, shares: Sequence[Share] = ()) -> tuple[bool, bool]:
        """Records a pass of this user; returns whether it starts a new step, and whether the user was known."""
        if torch.compiler.is_compiling():
            return True, True
        known, begins = user in self.shares, not self.seen_this_step or user in self.seen_this_step
        if begins:
            self.seen_this_step.clear()
        self.seen_this_step.add(user)
        self.shares[user] = [(weakref.ref(logits), count, measure) for logits, count, measure in shares]
        return begins, known

    def others(self, user: object) -> list[tuple[torch.Tensor, int]]:
        """The (confidence, number of choices) of all other users, by their current logits."""
        if torch.compiler.is_compiling():
            return []
        others = [share for other, shares in self.shares.items() if other is not user for share in shares]
        return [(measure(logits), count) for ref, count, measure in others if (logits := ref()) is not None]


class Temperature(nn.Module):
    """Base class of all temperatures.

    Attributes:
        tau: The current temperature, a 0-d float32 tensor.
        uses_confidence: Whether `advance` needs the network's confidence.
        moves: Whether `advance` does anything.
        arguments: The names of the constructor's arguments. Each is also an attribute, so that a temperature can be
            saved with a model and built again.
    """

    uses_confidence = False
    moves = True
    arguments: tuple[str, ...] = ("tau",)

    tau: torch.Tensor

    def __init__(self, tau: float):
        super().__init__()
        self.register_buffer("tau", torch.tensor(check_tau(tau), dtype=torch.float32))
        self.users = Users()

    def advance(self, confidence: torch.Tensor | float | None = None) -> None:
        """Moves to the next training step."""

    def for_choices(self, choices: int) -> "Temperature":
        """The temperature for choices among this many candidates: itself, unless it depends on their number."""
        return self

    def update(
        self, user: object, confidences: Sequence[tuple[torch.Tensor | float, int]], shares: Sequence[Share]
    ) -> None:
        """Moves by the mean confidence of all users in this step, every choice counting the same.

        The first user of a step moves it, by the logits of all known users; a new user corrects the move.

        Args:
            user: The object that makes the choices.
            confidences: Its (confidence, number of choices) in this step.
            shares: The logits behind them, which are read again when another user starts a step.
        """
        begins, known = self.users.begin_pass(user, shares)
        if begins:
            self._before = {name: buffer.clone() for name, buffer in self._buffers.items() if buffer is not None}
        elif known:
            return
        else:
            for name, before in self._before.items():
                self.get_buffer(name).copy_(before)
        all_users = [*confidences, *self.users.others(user)]
        total = sum(count for _, count in all_users)
        self.advance(sum(value * (count / total) for value, count in all_users))

    def config(self) -> dict[str, Any]:
        """Its name in TEMPERATURES and its arguments, without its state; `from_config` is the inverse."""
        for name, kind in TEMPERATURES.items():
            if kind is type(self):
                return {"name": name, **self._given()}
        raise HardwireError(
            f"{type(self).__name__} is not registered, so it cannot be saved; use register_temperature, or one of: "
            f"{', '.join(TEMPERATURES)}"
        )

    def _given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.arguments}
        return {name: value.item() if isinstance(value, torch.Tensor) else value for name, value in values.items()}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._given().items())

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "Temperature":
        def move(buffer: torch.Tensor) -> torch.Tensor:  # to the device, not to the dtype
            moved = fn(buffer)
            return moved if moved.dtype == buffer.dtype else buffer.to(moved.device)

        result: Temperature = super()._apply(move, recurse)  # type: ignore[no-untyped-call]
        return result


class Constant(Temperature):
    """The same tau in every step.

    Args:
        tau: The temperature.
    """

    moves = False


class CAGE(Temperature):
    """Confidence-adaptive gradient estimation, the paper's algorithm.

    An exponential moving average of the confidence (the mean of max softmax over all nodes) starts at 1/K. It is mapped
    linearly to a temperature: tau_max where nothing is decided, tau_min where everything is.

    Args:
        tau_max: The temperature at confidence 1/K.
        tau_min: The temperature at confidence 1.
        beta: The coefficient of the moving average, at least 0 and below 1.
        choices: K, the number of candidates of each choice; 16 for gates.

    Example:
        >>> import hardwire as hw
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, tau=hw.CAGE(tau_max=2.0, beta=0.9))
        >>> net.tau
        2.0
    """

    uses_confidence = True
    confidence: torch.Tensor
    arguments = ("tau_max", "tau_min", "beta", "choices")

    def __init__(self, tau_max: float = 3.0, tau_min: float = 0.5, beta: float = 0.99, choices: int = 16):
        super().__init__(tau_max)
        self.tau_max, self.tau_min, self.beta = check_tau(tau_max), check_tau(tau_min), beta
        self.choices = whole_number("choices", choices, least=2)
        if self.tau_min > self.tau_max:
            raise HardwireError(f"CAGE goes from tau_max down to tau_min; {tau_max} is below {tau_min}")
        if not (isinstance(beta, Real) and 0 <= beta < 1):
            raise HardwireError(f"CAGE's beta {beta!r} must be at least 0 and below 1; the paper uses 0.99")
        self.register_buffer("confidence", torch.tensor(1 / self.choices, dtype=torch.float32))

    def for_choices(self, choices: int) -> "CAGE":
        """A CAGE with the same arguments and a confidence of its own, for choices among this many candidates."""
        return CAGE(self.tau_max, self.tau_min, self.beta, choices)

    def advance(self, confidence: torch.Tensor | float | None = None) -> None:
        if confidence is None:
            raise HardwireError("CAGE moves by the network's confidence; call advance(confidence)")
        confidence = torch.as_tensor(confidence, dtype=torch.float32, device=self.confidence.device)
        self.confidence.mul_(self.beta).add_((1 - self.beta) * confidence)
        floor = 1 / self.choices
        progress = (self.confidence - floor) / (1 - floor)
        self.tau.copy_(self.tau_max - (self.tau_max - self.tau_min) * progress)


class Schedule(Temperature):
    """Base class of schedules: from `start` to `end` over `steps` training steps, then constant."""

    arguments = ("start", "end", "steps")
    step: torch.Tensor

    def __init__(self, start: float, end: float, steps: int):
        super().__init__(start)
        self.start, self.end, self.steps = check_tau(start), check_tau(end), whole_number("steps", steps)
        self.register_buffer("step", torch.tensor(0, dtype=torch.int64))

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        """Maps progress, 0 to 1, to the fraction of the way from start to end."""
        raise NotImplementedError

    def advance(self, confidence: torch.Tensor | float | None = None) -> None:
        # the first training step runs at `start`, step number `steps` and all later ones at `end`
        progress = (self.step / max(self.steps - 1, 1)).clamp(max=1.0)
        self.tau.copy_(self.start + (self.end - self.start) * self.shape(progress))
        self.step.add_(1)


class Linear(Schedule):
    """A straight line from one temperature to another, then constant.

    Args:
        start: The temperature of the first training step.
        end: The temperature of step number `steps` and all later ones.
        steps: The number of training steps.

    Example:
        >>> import hardwire as hw
        >>> tau = hw.temperature.Linear(2.0, 0.5, steps=1000)
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, method="soft-mix", tau=tau)
    """

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        return progress


class Cosine(Schedule):
    """Half a cosine wave from one temperature to another, slow at both ends, then constant.

    Args:
        start: The temperature of the first training step.
        end: The temperature of step number `steps` and all later ones.
        steps: The number of training steps.

    Example:
        >>> import hardwire as hw
        >>> tau = hw.temperature.Cosine(2.0, 0.5, steps=1000)
        >>> net = hw.LogicNetwork(64, classes=10, width=100, depth=2, method="soft-mix", tau=tau)
    """

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        return (1 - torch.cos(math.pi * progress)) / 2


TEMPERATURES: dict[str, type[Temperature]] = {"constant": Constant, "cage": CAGE, "linear": Linear, "cosine": Cosine}


def register_temperature(name: str, kind: type[Temperature]) -> None:
    """Registers a kind of temperature, so that models with it can be saved and loaded.

    Args:
        name: Its name in files.
        kind: The class; its `arguments` name the numbers that its constructor takes.

    Example:
        >>> from hardwire.temperature import Temperature, register_temperature
        >>> class Halving(Temperature):
        ...     def advance(self, confidence=None):
        ...         self.tau.mul_(0.5)
        >>> register_temperature("halving", Halving)
    """
    check_new("temperature", name, TEMPERATURES)
    TEMPERATURES[name] = kind


def from_config(config: dict[str, Any]) -> Temperature:
    """Builds the temperature that `Temperature.config` described, in its starting state."""
    arguments = dict(config)
    name = arguments.pop("name", None)
    if not isinstance(name, str) or name not in TEMPERATURES:
        raise unknown_name("temperature", name, TEMPERATURES)
    kind = TEMPERATURES[name]
    numbers = all(isinstance(value, int | float) for value in arguments.values())
    if set(arguments) != set(kind.arguments) or not numbers:
        raise HardwireError(f"temperature {name} takes the numbers {', '.join(kind.arguments)}, not {shown(arguments)}")
    return kind(**arguments)
