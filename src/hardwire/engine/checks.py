"""Checks of a stack, once for each: layers may come from other packages, and the C++ code trusts its input."""

from dataclasses import dataclass, replace

import torch

from hardwire.engine.functions import Choose, Entries, Fixed, Function
from hardwire.engine.stack import CONST_ZERO, GRADIENTS, MAXIMUM, Level, Stack
from hardwire.errors import HardwireError, check_holds_values, unknown_name
from hardwire.gates import LEAST_ARITY, MOST_ARITY, algebra


@dataclass(frozen=True, eq=False)
class CheckedStack:
    """A stack that has been checked: its tensors except the logits, and their versions at that time."""

    levels: tuple[Level, ...]
    versions: tuple[tuple[int, int], ...]

    @classmethod
    def check(cls, stack: Stack) -> "CheckedStack":
        """Raises HardwireError if the stack is not valid."""
        check_stack(stack)
        return cls(
            tuple(replace(x, function=_form(x.function), wire_logits=None) for x in stack.levels), _versions(stack)
        )

    def fits(self, stack: Stack) -> bool:
        return (
            len(self.levels) == len(stack.levels)
            and all(
                old.wires is new.wires
                and old.rows is new.rows
                and old.gradient == new.gradient
                and old.repeats == new.repeats
                and old.reads == new.reads
                and _same_form(old.function, new.function)
                for old, new in zip(self.levels, stack.levels, strict=True)
            )
            and self.versions == _versions(stack)
        )


_NO_LOGITS = torch.empty(0, 0)


def _form(function: Function) -> Function:
    """The function without its logits, which change with every step."""
    if isinstance(function, Choose):
        return Choose(_NO_LOGITS, function.tables)
    return Entries(_NO_LOGITS) if isinstance(function, Entries) else function


def _same_form(old: Function, new: Function) -> bool:
    if isinstance(new, Choose):
        return isinstance(old, Choose) and old.tables is new.tables
    return type(old) is type(new) and (isinstance(new, Entries) or old == new)


def _versions(stack: Stack) -> tuple[tuple[int, int], ...]:
    return tuple((level.wires._version, 0 if level.rows is None else level.rows._version) for level in stack.levels)


def check_stack(stack: Stack) -> None:
    """Raises a HardwireError that names the level and what is wrong with it."""
    if not stack.levels:
        raise HardwireError("a stack needs at least one level")
    below = stack.inputs
    for number, level in enumerate(stack.levels):
        if level.repeats is not None:
            check_repeat(stack, number)
            below = level.neurons
            continue
        for tensor in (level.wires, level.rows, *level.parameters()):
            check_holds_values(f"the tensors of level {number}", tensor)
        wrong = _wrong_choice(level) or _wrong_wires(level) or _wrong_reads(stack, number, below)
        if wrong is not None:
            raise HardwireError(f"level {number} cannot be run: {wrong}")
        below = level.neurons
    if stack.head is not None and below % stack.head.classes:
        raise HardwireError(f"{below} outputs cannot be summed in {stack.head.classes} equal groups")


def check_repeat(stack: Stack, number: int) -> None:
    """Raises unless a level that repeats another is that level but for what it reads."""
    level, first = stack.levels[number], stack.levels[number].repeats
    wrong = None
    if first is None or not 0 <= first < number or stack.levels[first].repeats is not None:
        wrong = f"it repeats level {first}, which is no earlier level that makes its own choice"
    elif not _same(stack.levels[first], level):
        wrong = f"it repeats level {first}, but its wires or functions are others"
    wrong = wrong or _wrong_reads(stack, number, stack.levels[number - 1].neurons)
    if wrong is not None:
        raise HardwireError(f"level {number} cannot be run: {wrong}")


def _same(one: Level, other: Level) -> bool:
    tensors = ("wires", "rows", "wire_logits", "logits")
    return all(getattr(one, name) is getattr(other, name) for name in tensors) and (
        (one.inputs, one.neurons, one.padded, one.gradient)
        == (other.inputs, other.neurons, other.padded, other.gradient)
        and _same_form(one.function, other.function)
    )


def _wrong_reads(stack: Stack, number: int, below: int) -> str | None:
    """What is wrong with the values that it reads, if anything."""
    level = stack.levels[number]
    if level.reads is None:
        return None if level.inputs == below else f"it reads {level.inputs} values, and the level below makes {below}"
    for source in level.reads:
        if not -1 <= source.level < number:
            return f"it reads level {source.level}, which is not an earlier one"
        there = stack.inputs if source.level < 0 else stack.levels[source.level].neurons
        if not 0 <= source.start < source.stop <= there:
            return f"it reads the values {source.start} to {source.stop} of level {source.level}, which has {there}"
    given = sum(source.stop - source.start for source in level.reads)
    return None if level.inputs == given else f"it reads {level.inputs} values, and is given {given}"


def _wrong_choice(level: Level) -> str | None:
    """What is wrong with its functions, if anything."""
    if level.gradient not in GRADIENTS:
        raise unknown_name("gradient", level.gradient, GRADIENTS)
    if not LEAST_ARITY <= level.arity <= MOST_ARITY:
        return f"its neurons have {level.arity} inputs; they may have {LEAST_ARITY} to {MOST_ARITY}"
    if not isinstance(level.function, Fixed) and level.function.logits.ndim != 2:
        return f"its logits are {list(level.function.logits.shape)}, not [rows, choices]"
    if level.function.entries != 1 << level.arity:
        return f"its functions have {level.function.entries} values, and {level.arity} inputs have {1 << level.arity}"
    if isinstance(level.function, Choose) and level.function.logits.shape[1] != level.function.choices:
        return f"its logits are {list(level.function.logits.shape)}, not [rows, {level.function.choices}]"
    if isinstance(level.function, Fixed) and not set(level.function.table) <= {0, 1}:
        return f"its table {level.function.table} holds something other than 0 and 1"
    if level.gradient == MAXIMUM and not (isinstance(level.function, Fixed) and level.function.gate == algebra.OR):
        return 'gradient "maximum" is for levels of the fixed gate OR'
    if level.rows is None:
        own = level.row_count in (0, level.neurons)
        return None if own else f"{level.row_count} rows of logits for {level.neurons} neurons, and no `rows`"
    if level.rows.shape != (level.neurons,) or not _within(level.rows, 0, level.row_count):
        return f"rows are [{level.neurons}] numbers below {level.row_count}"
    return None


def _wrong_wires(level: Level) -> str | None:
    """What is wrong with its wires, if anything."""
    shape: tuple[int, ...] = (level.arity, level.neurons)
    if level.wire_logits is not None:
        shape = (*shape, level.wire_logits.shape[-1])
    if level.neurons < 1 or level.wires.shape != shape:
        return f"its wires are {list(level.wires.shape)}, not {list(shape)}"
    if level.wire_logits is not None and level.wire_logits.shape[:2] != (level.arity, level.row_count):
        return (
            f"its wire logits are {list(level.wire_logits.shape)}, not [{level.arity}, {level.row_count}, candidates]"
        )
    least = CONST_ZERO if level.padded else 0
    if not _within(level.wires, least, level.inputs):
        return f"its wires must lie in {least} to {level.inputs - 1}" + ("" if level.padded else "; -1 needs `padded`")
    return None


def _within(numbers: torch.Tensor, least: int, end: int) -> bool:
    low, high = torch.aminmax(numbers)
    return bool(low >= least) and bool(high < end)
