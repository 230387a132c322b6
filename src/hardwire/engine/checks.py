"""Whether a stack makes sense, asked once for each: layers come from outside as well, and C++ trusts what it gets."""

from dataclasses import dataclass, replace

import torch

from hardwire.engine.stack import GRADIENTS, MAXIMUM, NOTHING, Level, Stack
from hardwire.errors import HardwireError, unknown_name
from hardwire.gates import GATES, algebra


@dataclass(frozen=True, eq=False)
class Seen:
    """A stack that has been looked at: its tensors but for the logits, and how often each had been written."""

    levels: tuple[Level, ...]
    versions: tuple[tuple[int, int], ...]

    @classmethod
    def check(cls, stack: Stack) -> "Seen":
        """Raises HardwireError where the stack makes no sense."""
        check_stack(stack)
        return cls(tuple(replace(x, gate_logits=None, wire_logits=None) for x in stack.levels), _versions(stack))

    def fits(self, stack: Stack) -> bool:
        return (
            len(self.levels) == len(stack.levels)
            and all(
                old.wires is new.wires and old.rows is new.rows and (old.gate, old.gradient) == (new.gate, new.gradient)
                for old, new in zip(self.levels, stack.levels, strict=True)
            )
            and self.versions == _versions(stack)
        )


def _versions(stack: Stack) -> tuple[tuple[int, int], ...]:
    return tuple((level.wires._version, 0 if level.rows is None else level.rows._version) for level in stack.levels)


def check_stack(stack: Stack) -> None:
    """Raises HardwireError that names the level and what is wrong with it."""
    if not stack.levels:
        raise HardwireError("a stack needs at least one level")
    below = stack.levels[0].inputs
    for number, level in enumerate(stack.levels):
        wrong = _wrong_choice(level) or _wrong_wires(level)
        if wrong is None and level.inputs != below:
            wrong = f"it reads {level.inputs} values, and the level below makes {below}"
        if wrong is not None:
            raise HardwireError(f"level {number} cannot be run: {wrong}")
        below = level.neurons
    if stack.head is not None and below % stack.head.classes:
        raise HardwireError(f"{below} outputs cannot be summed in {stack.head.classes} equal groups")


def _wrong_choice(level: Level) -> str | None:
    """What is wrong with its gates, if anything."""
    if level.gradient not in GRADIENTS:
        raise unknown_name("gradient", level.gradient, GRADIENTS)
    if (level.gate is None) == (level.gate_logits is None):
        return "it needs either the logits of its gates or one gate for all neurons"
    if level.gate is not None and not 0 <= level.gate < len(GATES):
        return f"gate {level.gate} does not exist; they are 0 to {len(GATES) - 1}"
    if level.gradient == MAXIMUM and level.gate != algebra.OR:
        return 'gradient "maximum" is for levels of the fixed gate OR'
    if level.gate_logits is not None and level.gate_logits.shape[1:] != (len(GATES),):
        return f"its gate logits are {list(level.gate_logits.shape)}, not [rows, {len(GATES)}]"
    if level.rows is None:
        own = level.row_count in (0, level.neurons)
        return None if own else f"{level.row_count} rows of logits for {level.neurons} neurons, and no `rows`"
    if level.rows.shape != (level.neurons,) or not _within(level.rows, 0, level.row_count):
        return f"rows are [{level.neurons}] numbers below {level.row_count}"
    return None


def _wrong_wires(level: Level) -> str | None:
    """What is wrong with its wires, if anything."""
    shape = (2, level.neurons) if level.wire_logits is None else (2, level.neurons, level.wire_logits.shape[-1])
    if level.neurons < 1 or level.wires.shape != shape:
        return f"its wires are {list(level.wires.shape)}, not {list(shape)}"
    if level.wire_logits is not None and level.wire_logits.shape[:2] != (2, level.row_count):
        return f"its wire logits are {list(level.wire_logits.shape)}, not [2, {level.row_count}, candidates]"
    least = NOTHING if level.padded else 0
    if not _within(level.wires, least, level.inputs):
        return f"its wires must lie in {least} to {level.inputs - 1}" + ("" if level.padded else "; -1 needs `padded`")
    return None


def _within(numbers: torch.Tensor, least: int, end: int) -> bool:
    low, high = torch.aminmax(numbers)
    return bool(low >= least) and bool(high < end)
