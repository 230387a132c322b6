"""`choose_by_use`: kernels and neurons are drawn at random, and those stay that a small network after them reads most.

Gates that many positions share do not learn well by gradients: a step changes up to a thousand positions under layers
that were trained on the gate before. Learned wires after them do choose well, so they make the choice here. Surprising:
a chosen layer never learns. It is a part of a wider random layer, and is frozen.
"""

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from hardwire.console import make_console
from hardwire.data.dataset import Dataset
from hardwire.data.rows import Rows
from hardwire.engine.stack import Level, frozen_tables, frozen_wires
from hardwire.errors import HardwireError, shown, whole_number
from hardwire.layers import GateLayer, LogicLayer
from hardwire.network import LogicNetwork, check_layers, connect_layers
from hardwire.randomness import check_seed, child_seed
from hardwire.recipes.defaults import round_up
from hardwire.training.adam import Adam
from hardwire.training.build import build
from hardwire.training.feed import make_feed
from hardwire.training.fit import fit
from hardwire.training.progress import ProgressLine, is_shown
from hardwire.training.redraw import RedrawWires
from hardwire.training.schedules import make_schedule
from hardwire.wiring import candidates_for

_EVALUATIONS = 5  # of a trial, each of which writes its checkpoint
_SHOWN_ROWS = 1_000  # training rows on which a trial reports its accuracy
_UNTIL = 0.8  # the share of a trial in which wires are redrawn


@dataclass(frozen=True, eq=False)
class LayerChoice:
    """What was chosen in one layer.

    Attributes:
        layer: The number of the layer.
        use: int64 [units drawn]: how many wires of the trial's head read each kernel or neuron.
        kept: int64 [units kept]: the numbers of those that stay, ascending.

    Example:
        >>> for choice in chosen.choices:  # doctest: +SKIP
        ...     print(f"layer {choice.layer}: {len(choice.kept)} of {len(choice.use)} kept")
    """

    layer: int
    use: torch.Tensor
    kept: torch.Tensor


@dataclass(frozen=True, eq=False)
class ChosenLayers:
    """What `choose_by_use` returns.

    Attributes:
        layers: The layers, ready for `LogicNetwork`; chosen ones are frozen, the others are those that were given.
        choices: What was chosen, layer by layer.

    Example:
        >>> chosen = hw.choose_by_use(layers, data)  # doctest: +SKIP
        >>> net = hw.LogicNetwork(classes=10, layers=chosen.layers)  # doctest: +SKIP
    """

    layers: list[GateLayer]
    choices: list[LayerChoice]


@dataclass(frozen=True)
class ChooseSettings:
    """The part of `choose_by_use` that a recipe may set; its docstring describes it."""

    pool: int = 3
    head: int = 8_000
    iterations: int = 500
    only: Sequence[int] | None = None
    candidates: int = 16
    redraw: int = 20

    def __post_init__(self) -> None:
        for name, least in (("pool", 2), ("head", 1), ("iterations", 1), ("candidates", 2), ("redraw", 1)):
            whole_number(name, getattr(self, name), least)
        if self.only is not None:
            if not isinstance(self.only, Sequence) or isinstance(self.only, str) or not self.only:
                raise HardwireError(
                    f"only is {shown(self.only)}; it must be a list of layers by number, such as [0, 2]"
                )
            for number in self.only:
                whole_number("layer", number, 0)

    def numbers(self, layers: Sequence[GateLayer]) -> list[int]:
        """The layers to choose in, by number and in order; by default all that learn, but the last."""
        learned = [number for number, layer in enumerate(layers[:-1]) if layer.learns]
        if self.only is None:
            if not learned:
                raise HardwireError("there is no layer to choose before the last; give the network at least two")
            return learned
        for number in self.only:
            if number not in learned:
                known = ", ".join(map(str, learned)) or "there are none"
                raise HardwireError(f"layer {number} is not one that learns before the last; those are {known}")
        return sorted(set(self.only))


def check_choose(choose: Any) -> ChooseSettings:
    """The settings in the table `choose` of a recipe; raises if one is unknown or wrong."""
    if not isinstance(choose, Mapping):
        raise HardwireError(f"choose is {shown(choose)}; it must be a table, such as pool = 3")
    return build("choose", ChooseSettings, choose)


def choose_by_use(
    layers: Sequence[GateLayer],
    data: Dataset,
    *,
    pool: int = 3,
    head: int = 8_000,
    iterations: int = 500,
    only: Sequence[int] | None = None,
    candidates: int = 16,
    redraw: int = 20,
    batch_size: int = 128,
    lr: float = 0.03,
    seed: int = 0,
    validation: Any = None,
    engine: str = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = True,
    progress: bool | None = None,
) -> ChosenLayers:
    """Chooses the kernels of convolutions and the neurons of flat layers by how often a small network reads them.

    Layer by layer: the layer is drawn `pool` times as wide, and a trial trains one layer of gates with learned wires
    behind it, and nothing else. The kernels or neurons that most of its wires read stay, as they were drawn. They are
    frozen, and the next layer is chosen behind them. Afterwards the network is trained as usual, its last layer from
    the start.

    Args:
        layers: The layers of the network as they shall be. Nothing is chosen in the last one.
        data: The dataset; only its training rows are read.
        pool: How many times as many kernels or neurons are drawn as stay.
        head: Gates of the trial's layer, rounded up to a multiple of the classes. The use of a kernel is a count, so a
            larger pool needs a larger head.
        iterations: Training steps of each trial.
        only: The layers to choose, by number from 0. By default all before the last that learn.
        candidates: Candidates of each wire of the trial's layer.
        redraw: Steps after which the worse half of these candidates is drawn anew.
        batch_size: Rows in a batch.
        lr: The learning rate of the trials, which falls to zero along half a cosine.
        seed: Seed of the trials. What is drawn follows from the seeds of the layers.
        validation: Rows to leave out of training, as in `fit`.
        engine: The engine of the trials.
        checkpoint: A file name: the trial of layer 2 keeps its checkpoint at this name with `.choose-2` added, and a
            repeated call continues from there. The files stay.
        resume: False starts over although there are checkpoints.
        progress: As in `fit`.

    Returns:
        The layers and what was chosen.

    Raises:
        HardwireError: If an argument is wrong, or a layer cannot be chosen by use.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> layers = [
        ...     hw.LogicConv2d((5, 8, 8), kernels=8, tree_depth=1, padding=1, levels=5, seed=1),
        ...     hw.OrPool2d(2),
        ...     hw.LogicLayer(128, 200, wiring="learned", candidates=8, groups=10, seed=2),
        ... ]
        >>> chosen = hw.choose_by_use(layers, data, pool=3, head=200, iterations=30, progress=False)
        >>> len(chosen.choices[0].use), len(chosen.choices[0].kept)
        (24, 8)
        >>> net = hw.LogicNetwork(classes=10, layers=chosen.layers, seed=0)
        >>> history = hw.fit(net, data, iterations=30, progress=False)
    """
    settings = ChooseSettings(pool, head, iterations, only, candidates, redraw)
    saved = SavedTrials(checkpoint, resume)
    return choose_layers(
        layers, data, settings, saved, batch_size=batch_size, lr=lr, seed=seed, validation=validation, engine=engine,
        progress=progress,
    )  # fmt: skip


@dataclass(frozen=True)
class SavedTrials:
    """Where trials keep their checkpoints, if anywhere, and whether they continue from those."""

    checkpoint: str | os.PathLike[str] | None
    resume: bool


def choose_layers(
    layers: Sequence[GateLayer],
    data: Dataset,
    settings: ChooseSettings,
    saved: SavedTrials,
    *,
    batch_size: int,
    lr: float,
    seed: int,
    validation: Any,
    engine: str,
    progress: bool | None,
    after: float = 0.0,
) -> ChosenLayers:
    """`choose_by_use` with settings; `after`: seconds of what follows, which the time left includes."""
    if not isinstance(data, Dataset):
        raise HardwireError(f"layers are chosen on a dataset, not on a {type(data).__name__}; see hw.data.load")
    chosen = list(connect_layers(check_layers(layers)))
    numbers = settings.numbers(chosen)
    rows = make_feed(data, validation, 1, 0, encode=False).train
    assert rows is not None  # which only a DataLoader lacks
    console = make_console(stderr=True) if is_shown(progress) else None
    choices: list[LayerChoice] = []
    for number in numbers:
        trial = _ChoiceTrial(chosen, number, settings, data, check_seed(child_seed(seed, f"choose.{number}")), engine)
        line = ProgressLine(console, len(numbers) - len(choices) - 1, after) if console else None
        if console:
            console.print(trial.title, soft_wrap=True)
        trial.train(rows, batch_size, lr, saved, line)
        choices.append(trial.choice())
        chosen[number] = freeze_layer(trial.wide.keep(choices[-1].kept))
        if console:
            console.print(_summary(choices[-1]), soft_wrap=True)
    return ChosenLayers(chosen, choices)


def freeze_layer(layer: GateLayer) -> GateLayer:
    """Makes a layer one that no longer learns."""
    return layer.requires_grad_(False)


def trial_checkpoint(checkpoint: str | os.PathLike[str], number: int) -> Path:
    """The checkpoint of the trial that chooses in layer `number`."""
    return Path(f"{os.fspath(checkpoint)}.choose-{number}").expanduser()


class _ChoiceTrial:
    """The choice in one layer: all layers up to it, with that one drawn wider, and a layer of gates that reads it."""

    def __init__(
        self,
        layers: Sequence[GateLayer],
        number: int,
        settings: ChooseSettings,
        data: Dataset,
        seed: int,
        engine: str,
    ):
        self.number, self.settings, self.seed = number, settings, seed
        self.wanted = layers[number].output_shape[0]
        self.wide = layers[number].wider(settings.pool)
        front = [*copy.deepcopy(list(layers[:number])), self.wide]
        for layer in layers[number + 1 : -1]:
            if layer.learns:
                break
            front.append(layer.wider(settings.pool))
        inputs = connect_layers(front)[-1].neurons
        for layer in front:
            freeze_layer(layer)
        classes = data.classes if data.number is None else None
        wires: dict[str, Any] = candidates_for("learned", settings.candidates, inputs)
        gates = round_up(settings.head, data.classes)
        head = LogicLayer(inputs, gates, seed=child_seed(seed, "head"), groups=data.classes, **wires)
        self.net = LogicNetwork(
            classes=classes, number=data.number, layers=[*front, head], method="hard-st", wire_gradient="mixture",
            seed=seed, engine=engine,
        )  # fmt: skip

    @property
    def title(self) -> str:
        return f"layer {self.number}: choosing {self.wanted:,} of {self.wide.output_shape[0]:,} by use"

    def train(self, rows: Rows, batch_size: int, lr: float, saved: SavedTrials, line: ProgressLine | None) -> None:
        """Trains the last layer; the checkpoint is that of `fit`."""
        steps = self.settings.iterations
        redraw = RedrawWires(self.settings.redraw, until=_UNTIL, seed=self.seed)
        learned = [parameter for parameter in self.net.parameters() if parameter.requires_grad]
        fit(
            self.net,
            rows,
            steps,
            batch_size,
            optimizer=Adam(learned, lr),
            scheduler=make_schedule("cosine", steps),
            seed=self.seed,
            validation=rows.part(slice(_SHOWN_ROWS)),  # training rows, to show something: nothing depends on it
            evaluate_every=max(1, steps // _EVALUATIONS),
            callbacks=[redraw, line] if line else [redraw],
            checkpoint=None if saved.checkpoint is None else trial_checkpoint(saved.checkpoint, self.number),
            resume=saved.resume,
            progress=False,
        )

    def choice(self) -> LayerChoice:
        """The most used kernels or neurons; of equal ones the first."""
        use = input_use(self.net.layers[-1].levels()[0])
        use = use.reshape(self.wide.output_shape[0], -1).sum(1)  # over the positions of each kernel
        best = use.argsort(descending=True, stable=True)[: self.wanted]
        return LayerChoice(self.number, use, best.sort().values)


def input_use(level: Level) -> torch.Tensor:
    """int64 [inputs]: how many deployed wires of a level read each input, where the neuron's function depends on it."""
    tables, use = frozen_tables(level), torch.zeros(level.inputs, dtype=torch.int64)
    address = torch.arange(tables.shape[1])
    for side, wires in enumerate(frozen_wires(level)):
        depends = (tables != tables[:, address ^ (1 << side)]).any(1)
        use += torch.bincount(wires[depends].long(), minlength=level.inputs)
    return use


def _summary(choice: LayerChoice) -> str:
    drawn, kept = choice.use.double().mean().item(), choice.use[choice.kept].double().mean().item()
    return f"layer {choice.layer}: kept those that {kept:.1f} wires read on average; all drawn: {drawn:.1f}"
