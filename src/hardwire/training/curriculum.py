"""`curriculum`: a loop is trained on short sequences first, and then on longer and longer ones.

What happened many steps ago reaches the gates of a loop through every step since, so a long sequence is hard to begin
with. A cell that is right on a short one needs little more. Surprising: nothing is handed over between lengths. The
network for the next one shares its parameters, its temperature and its count of steps with the one before.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from hardwire.console import make_console
from hardwire.errors import HardwireError, shown, whole_number
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.fit import fit
from hardwire.training.history import History, Record


@dataclass(frozen=True, eq=False)
class Curriculum:
    """What `curriculum` returns.

    Attributes:
        net: The network for the last length.
        histories: The evaluations at each length.

    Example:
        >>> trained = hw.curriculum(net, data, steps=[2, 4, 8])  # doctest: +SKIP
        >>> trained.histories[8].final.deploy  # doctest: +SKIP
        1.0
    """

    net: Any
    histories: dict[int, History]


def curriculum(
    net: nn.Module,
    data: Callable[[int], Any],
    steps: Sequence[int],
    iterations: int = 1_000,
    *,
    lr: float | Sequence[float] = 0.05,
    until: float | None = 1.0,
    validation: Any = 0.2,
    keep_best: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Curriculum:
    """Trains a network with a loop on short sequences, then on longer ones.

    Args:
        net: A `LogicNetwork` with a `Recurrent` in it, a `Recurrent` or a `CellularAutomaton`, of any number of steps.
        data: Function of a number of steps that returns what `fit` takes: the sequences of this length, and for each
            its target.
        steps: The lengths, one after the other.
        iterations: Training steps at each length, at most.
        lr: The learning rate, or one for each length. Lower ones for longer sequences disturb less of what is known.
        until: Go on to the next length as soon as an evaluation is as good as this. None trains all iterations.
        validation: As in `fit`; by default the last fifth of the rows is held out.
        keep_best: Go on with the state of the best evaluation of a length.
        checkpoint: A file name: training at 16 steps keeps its checkpoint at this name with `.steps-16` added, and a
            repeated call continues from there. The files stay.
        **options: Further arguments of `fit`, for every length.

    Returns:
        The network for the last length, and the history of each. `net` has the same parameters.

    Raises:
        HardwireError: If an argument is wrong.

    Example:
        >>> import hardwire as hw
        >>> import torch
        >>> bits = torch.randint(0, 2, (500, 8, 1), generator=torch.Generator().manual_seed(0))
        >>> def parity(steps):
        ...     return bits[:, :steps].flatten(1).float(), bits[:, :steps].sum((1, 2)) % 2
        >>> cell = [hw.LogicLayer(16 + 1, 64, start="residual", seed=0), hw.LogicLayer(64, 16 + 16, seed=1)]
        >>> net = hw.LogicNetwork(layers=[hw.Recurrent(cell, steps=2, state=16)], classes=2, seed=2)
        >>> trained = hw.curriculum(net, parity, steps=[2, 4, 8], iterations=20, batch_size=100, progress=False)
        >>> trained.net.inputs, list(trained.histories)
        (8, [2, 4, 8])
    """
    if not hasattr(net, "with_steps"):
        raise HardwireError(f"{type(net).__name__} has no steps; give a hw.Recurrent, or a network with one in it")
    lengths = _lengths(steps)
    rates = [float(rate) for rate in lr] if isinstance(lr, Sequence) else [lr] * len(lengths)
    if len(rates) != len(lengths):
        raise HardwireError(f"{len(rates)} learning rates for {len(lengths)} lengths; give one, or one for each length")
    callbacks = [*options.pop("callbacks", ()), *([] if until is None else [_Until(until)])]
    histories: dict[int, History] = {}
    stage: Any = net
    for length, rate in zip(lengths, rates, strict=True):
        if options.get("progress"):
            make_console(stderr=True).print(f"sequences of {length} steps", soft_wrap=True)
        stage = net.with_steps(length)  # type: ignore[operator]  # a method, as was checked
        histories[length] = fit(
            stage, data(length), iterations, lr=rate, validation=validation, keep_best=keep_best, callbacks=callbacks,
            checkpoint=None if checkpoint is None else length_checkpoint(checkpoint, length),
            **options,
        )  # fmt: skip
    return Curriculum(stage, histories)


def length_checkpoint(checkpoint: str | os.PathLike[str], length: int) -> Path:
    """Where the checkpoint of a length is."""
    return Path(f"{os.fspath(checkpoint)}.steps-{length}").expanduser()


def _lengths(steps: Sequence[int]) -> list[int]:
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise HardwireError(f"steps is {shown(steps)}; it is a list of numbers of steps, such as [2, 4, 8]")
    lengths = [whole_number("steps", length) for length in steps]
    if len(set(lengths)) < len(lengths):
        raise HardwireError(f"steps {lengths} names a length twice, and each has one history and one checkpoint")
    return lengths


class _Until(Callback):
    """Ends a run at an evaluation that is good enough, also a run that is resumed after it."""

    def __init__(self, enough: float):
        self.enough = enough

    def identity(self, run: TrainingRun) -> dict[str, Any]:
        return {"until": self.enough}

    def on_start(self, run: TrainingRun) -> None:
        if len(run.history):
            self._judge(run)

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        self._judge(run)

    def _judge(self, run: TrainingRun) -> None:
        run.stop = run.stop or run.history.scores()[-1] >= self.enough
