"""What sets the temperature of each training step: a constant, CAGE, or a schedule, behind one interface.

A temperature is a module with a buffer `tau`; `advance(confidence)` moves it, once per training step and never on
evaluation. Its state is part of `state_dict`, so a resumed run goes on where it stopped. Surprising: its buffers stay
float32 when a model is cast, because an average with coefficient 0.99 stalls in half precision.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import torch
from torch import nn

from hardwire.errors import HardwireError, check_new, unknown_name, whole_number
from hardwire.selection import check_tau, confidence

Share = tuple[torch.Tensor, int]  # logits of choices made at a temperature, and how many choices they count for


class Users:
    """Who makes choices at a temperature: one network, or several layers that share it. It moves once a step.

    A step begins when somebody comes who has come since the step before began; nothing else tells where a step of a
    plain nn.Sequential ends. A copy has no users yet, and under torch.compile, which follows no weak references, every
    user is taken for the only one.
    """

    def __init__(self) -> None:
        self.shares: weakref.WeakKeyDictionary[object, list[tuple[weakref.ref[torch.Tensor], int]]]
        self.shares, self.came = weakref.WeakKeyDictionary(), weakref.WeakSet[object]()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Users":
        return Users()

    def __reduce__(self) -> tuple[type["Users"], tuple[()]]:
        return Users, ()

    def come(self, user: object, shares: Sequence[Share] = ()) -> tuple[bool, bool]:
        """(whether a step begins with this user's pass, whether it was known); notes that it came, with its logits."""
        if torch.compiler.is_compiling():
            return True, True
        known, begins = user in self.shares, not self.came or user in self.came
        if begins:
            self.came.clear()
        self.came.add(user)
        self.shares[user] = [(weakref.ref(logits), count) for logits, count in shares]
        return begins, known

    def others(self, user: object) -> list[tuple[torch.Tensor, int]]:
        """(confidence, choices) of everybody else, as their logits are now."""
        if torch.compiler.is_compiling():
            return []
        found = [share for other, shares in self.shares.items() if other is not user for share in shares]
        return [(confidence(logits), count) for ref, count in found if (logits := ref()) is not None]


class Temperature(nn.Module):
    """Base of all temperatures.

    uses_confidence: whether `advance` needs the network's confidence. moves: whether it does anything. arguments: the
    names of the constructor's arguments, each also an attribute, so that a saved model can name its temperature and
    build it again.
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
        """Moves one training step on."""

    def hear(self, user: object, found: Sequence[tuple[torch.Tensor | float, int]], shares: Sequence[Share]) -> None:
        """A user's (confidence, choices) at this step: it moves by the mean of all users, every choice counting alike.

        The first to come in a step moves it, by everybody's logits; a user that was not known yet corrects the move.
        """
        begins, known = self.users.come(user, shares)
        if begins:
            self._before = {name: buffer.clone() for name, buffer in self._buffers.items() if buffer is not None}
        elif known:
            return
        else:
            for name, before in self._before.items():
                self.get_buffer(name).copy_(before)
        everybody = [*found, *self.users.others(user)]
        total = sum(count for _, count in everybody)
        self.advance(sum(value * (count / total) for value, count in everybody))

    def config(self) -> dict[str, Any]:
        """{"name": its name in TEMPERATURES, and its arguments}; `from_config` turns it back. State is not in it."""
        for name, kind in TEMPERATURES.items():
            if kind is type(self):
                return {"name": name, **self._given()}
        raise HardwireError(
            f"{type(self).__name__} is not a temperature that files know; use one of: {', '.join(TEMPERATURES)}"
        )

    def _given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.arguments}
        return {name: value.item() if isinstance(value, torch.Tensor) else value for name, value in values.items()}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._given().items())

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "Temperature":
        def move(buffer: torch.Tensor) -> torch.Tensor:  # follow the device, not the dtype
            moved = fn(buffer)
            return moved if moved.dtype == buffer.dtype else buffer.to(moved.device)

        result: Temperature = super()._apply(move, recurse)  # type: ignore[no-untyped-call]
        return result


class Constant(Temperature):
    """The same tau throughout."""

    moves = False


class CAGE(Temperature):
    """Confidence-adaptive gradient estimation, the paper's algorithm.

    An exponential moving average of the confidence (mean of max softmax over all nodes), starting at 1/K, maps
    linearly from tau_max (undecided) to tau_min (committed).
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

    def advance(self, confidence: torch.Tensor | float | None = None) -> None:
        if confidence is None:
            raise HardwireError("CAGE moves by the network's confidence; call advance(confidence)")
        confidence = torch.as_tensor(confidence, dtype=torch.float32, device=self.confidence.device)
        self.confidence.mul_(self.beta).add_((1 - self.beta) * confidence)
        floor = 1 / self.choices
        progress = (self.confidence - floor) / (1 - floor)
        self.tau.copy_(self.tau_max - (self.tau_max - self.tau_min) * progress)


class Schedule(Temperature):
    """From `start` to `end` over `steps` training steps, then constant; the subclass gives the shape."""

    arguments = ("start", "end", "steps")
    step: torch.Tensor

    def __init__(self, start: float, end: float, steps: int):
        super().__init__(start)
        self.start, self.end, self.steps = check_tau(start), check_tau(end), whole_number("steps", steps)
        self.register_buffer("step", torch.tensor(0, dtype=torch.int64))

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        """Progress from 0 to 1 -> the share of the way from start to end."""
        raise NotImplementedError

    def advance(self, confidence: torch.Tensor | float | None = None) -> None:
        # the first training step runs at `start`, step number `steps` and all later ones at `end`
        progress = (self.step / max(self.steps - 1, 1)).clamp(max=1.0)
        self.tau.copy_(self.start + (self.end - self.start) * self.shape(progress))
        self.step.add_(1)


class Linear(Schedule):
    """A straight line from start to end."""

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        return progress


class Cosine(Schedule):
    """Half a cosine wave from start to end: slow at both ends."""

    @staticmethod
    def shape(progress: torch.Tensor) -> torch.Tensor:
        return (1 - torch.cos(math.pi * progress)) / 2


TEMPERATURES: dict[str, type[Temperature]] = {"constant": Constant, "cage": CAGE, "linear": Linear, "cosine": Cosine}


def register_temperature(name: str, kind: type[Temperature]) -> None:
    """From now on models with such a temperature can be saved and loaded."""
    check_new("temperature", name, TEMPERATURES)
    TEMPERATURES[name] = kind


def from_config(config: dict[str, Any]) -> Temperature:
    """The temperature that `Temperature.config` described, in its starting state."""
    arguments = dict(config)
    name = arguments.pop("name", None)
    if not isinstance(name, str) or name not in TEMPERATURES:
        raise unknown_name("temperature", name, TEMPERATURES)
    kind = TEMPERATURES[name]
    numbers = all(isinstance(value, int | float) for value in arguments.values())
    if set(arguments) != set(kind.arguments) or not numbers:
        raise HardwireError(f"temperature {name} takes the numbers {', '.join(kind.arguments)}, not {arguments}")
    return kind(**arguments)
