"""Loops as settings of a training run: how wide the state is, where a row is cut into steps, and which lengths come
first.

Surprising: which part of a sequence a shorter one is depends on its labels. With a label after each step it is the
beginning, whose last label is known. With one label for the whole row it is the end, because that is what the answer
comes after.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from hardwire.bits import Bits
from hardwire.data.dataset import Dataset
from hardwire.data.rows import SequenceSplit, Split
from hardwire.errors import HardwireError, shown, unknown_name, whole_number
from hardwire.layers import GateLayer, LogicLayer, LutLayer, Recurrent
from hardwire.layers.recurrent import INITIAL
from hardwire.network import LogicNetwork, layer_seed
from hardwire.training.memory import check_memory
from hardwire.wiring import candidates_for

if TYPE_CHECKING:
    from hardwire.training.settings import Settings

OUTPUTS, STARTS = ("last", "sum"), INITIAL[:2]  # class sums are of the last step, or count the votes of all
BONUS = 2.0  # of a residual start: enough to remember, and little enough to change
LOWEST_RATE = 0.4  # of the learning rate, at the last length of a curriculum


@dataclass(frozen=True)
class Loop:
    """The table `loop` of settings and recipes.

    Args:
        state: The bits that go from one step to the next.
        steps: The steps of a row. Default: the first number of the rows' shape [steps, values].
        outputs: The classes vote after the "last" step, or the "sum" of the votes of all steps decides.
        initial: The state before the first step, "zeros" or "learned".
        curriculum: Shorter lengths to learn first, ascending; the whole length follows them.
    """

    state: int
    steps: int | None = None
    outputs: str = "last"
    initial: str = "zeros"
    curriculum: Sequence[int] = ()

    def __post_init__(self) -> None:
        whole_number("state", self.state)
        for name, value, known in (("outputs", self.outputs, OUTPUTS), ("initial", self.initial, STARTS)):
            if value not in known:
                raise unknown_name(name, value, known)
        if self.steps is not None:
            whole_number("steps", self.steps)
        if not isinstance(self.curriculum, Sequence) or isinstance(self.curriculum, str):
            raise HardwireError(f"curriculum is {shown(self.curriculum)}; it is a list of lengths, such as [2, 4, 8]")
        lengths = [whole_number("a length of the curriculum", length) for length in self.curriculum]
        if lengths != sorted(set(lengths)):
            raise HardwireError(f"the curriculum {lengths} does not ascend; give each length once, such as 2,4,8")

    def steps_in(self, data: Dataset) -> int:
        """The steps of the rows of a dataset, which must divide them."""
        if data.columns is not None:
            raise HardwireError(
                f"{data.name} is a table, and its rows have no steps; a loop reads an .npz with x_train [rows, steps, "
                "values]"
            )
        shape = data.image_shape if data.image_shape is not None and len(data.image_shape) == 2 else None
        if self.steps is None and shape is None:
            raise HardwireError(f"the rows of {data.name} are not [steps, values]; say how many steps they have")
        steps = self.steps or (shape or (1,))[0]
        values = data.inputs if data.encoder is None else data.encoder.raw_features
        if values % steps or data.inputs % steps:
            raise HardwireError(f"rows of {values} values cannot be cut into {steps} equal steps; use a divisor")
        labels = getattr(data.train, "step_labels", None)
        if labels is not None and labels.shape[1] != steps:
            raise HardwireError(f"{data.name} has labels after {labels.shape[1]} steps of a row, not after {steps}")
        if self.curriculum and self.curriculum[-1] > steps:
            raise HardwireError(f"a length of {self.curriculum[-1]} is more than the {steps} steps of a row")
        return steps

    def lengths(self, steps: int) -> list[int]:
        """The lengths to train, of which the last is that of the rows."""
        return [length for length in self.curriculum if length < steps] + [steps]


def rates_for(lr: float, lengths: Sequence[int]) -> list[float]:
    """A learning rate for each length: lower ones later disturb less of what is known."""
    most = max(1, len(lengths) - 1)
    return [lr * (1 - (1 - LOWEST_RATE) * number / most) for number in range(len(lengths))]


def shortened(data: Dataset, steps: int, length: int) -> Dataset:
    """The same rows, cut to sequences of another length."""
    if length == steps:
        return data
    return replace(
        data,
        train=_cut(data.train, steps, length),
        test=_cut(data.test, steps, length),
        held_out=None if data.held_out is None else _cut(data.held_out, steps, length),
        encoder=None,  # of the whole rows, as the two below
        image_shape=None,
        read_raw=None,
    )


def _cut(split: Split, steps: int, length: int) -> Split:
    width = split.x.shape[1] // steps
    labels = getattr(split, "step_labels", None)
    start = 0 if labels is not None else steps - length
    part = slice(start * width, (start + length) * width)
    x = split.x[:, part].contiguous() if isinstance(split.x, torch.Tensor) else _columns(split.x, part)
    if labels is None:
        return Split(x, split.y)
    return SequenceSplit(x, labels[:, length - 1].contiguous(), labels[:, :length])


def _columns(x: Bits, part: slice) -> Bits:
    return Bits.pack(x.unpack(torch.bool)[:, part])


def cell_widths(state: int, width: int, depth: int, classes: int) -> list[int]:
    """The gates of each layer of a cell; the last makes the state and then as many votes for each class."""
    if width <= state:
        raise HardwireError(
            f"a cell with a state of {state} bits and layers of {width} gates has none left to vote; use more than "
            f"{state}, such as {2 * state}"
        )
    return [width] * (depth - 1) + [state + -(-(width - state) // classes) * classes]


def build_loop(
    settings: "Settings", data: Dataset, loop: Loop, cell: list[GateLayer] | None
) -> tuple[Recurrent, dict[str, Any]]:
    """The loop of some settings around a cell, and the options that are left for the network itself.

    cell: the layers that the settings list; None for layers by width.
    """
    steps, options = loop.steps_in(data), dict(settings.options)
    if cell is None:
        known = inspect.signature(LogicNetwork).parameters
        own = {name: options.pop(name) for name in list(options) if name not in known}
        cell = _cell(settings, data, loop, data.inputs // steps, own)
    bits = cell[0].inputs - loop.state
    if bits != data.inputs // steps:
        raise HardwireError(
            f"the cell reads {cell[0].inputs} bits, of which {loop.state} are the state; a step of {data.name} has "
            f"{data.inputs // steps} more, not {bits}"
        )
    if cell[-1].neurons <= loop.state:
        raise HardwireError(
            f"the last layer of the cell makes {cell[-1].neurons} bits, of which {loop.state} are the state; no vote "
            "is left"
        )
    return Recurrent(cell, steps, loop.state, loop.initial, loop.outputs, seed=layer_seed(settings.seed, len(cell))), (
        options
    )


def _cell(settings: "Settings", data: Dataset, loop: Loop, bits: int, options: dict[str, Any]) -> list[GateLayer]:
    """The layers of a cell by their widths."""
    widths = settings.sizes(data.classes)
    check_memory(widths, loop.state + data.inputs, settings.batch_size, settings.candidates or 0, settings.arity)
    kind: Any = LogicLayer if settings.arity is None else LutLayer
    options = {"start": settings.start, "bonus": BONUS} | options
    options |= {} if settings.arity is None else {"arity": settings.arity}
    return [
        kind(
            below,
            neurons,
            seed=layer_seed(settings.seed, number),
            **options,
            **candidates_for("random" if settings.wiring == "auto" else settings.wiring, settings.candidates, below),
        )
        for number, (below, neurons) in enumerate(zip([loop.state + bits, *widths], widths, strict=False))
    ]


def check_loop(loop: "Loop | Mapping[str, Any]") -> Loop:
    """The table `loop`, checked."""
    from hardwire.training.build import build

    if isinstance(loop, Loop):
        return loop
    if not isinstance(loop, Mapping):
        raise HardwireError(f"loop is {shown(loop)}; it must be a table, such as {{state = 64}}")
    if "state" not in loop:
        raise HardwireError("loop needs state (--state), the number of bits that go from one step to the next")
    return build("loop", Loop, loop)
