"""`Settings`: a training run as plain data, from the name of a dataset to the name of its model file.

`hardwire train`, `hw.train` and recipes all become one of these. Surprising: a model file carries its
settings, so that the same run is not repeated and the model of another run is not overwritten.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from hardwire import data as datasets
from hardwire.data.dataset import Dataset
from hardwire.data.kinds import split_name
from hardwire.engine.functions import check_arity
from hardwire.errors import HardwireError, shown, unknown_name, whole_number
from hardwire.network import LogicNetwork, equal_widths
from hardwire.recipes.defaults import BITS, DEFAULTS, default_name, kind_of, round_up, steps_for, width_for
from hardwire.selection import parse_method
from hardwire.training.build import build_network
from hardwire.training.choosing import check_choose
from hardwire.training.job import TrainingJob, check_distinct, make_folder
from hardwire.training.loops import cell_widths, check_loop
from hardwire.training.schedules import SCHEDULES

EVALUATE_EVERY = 200
CURRICULUM_EVERY = 50  # a length ends at an evaluation
MOST = 10**15  # of any whole number; a file may ask for anything


@dataclass(frozen=True)
class Settings:
    """The settings of a training run.

    Args:
        dataset: Name of a dataset, or path of a file.
        width: Neurons of each layer; the last is rounded up to a multiple of the classes. Default: that of the
            dataset's kind, for a table by its rows and classes.
        depth: Number of layers.
        widths: Neurons of each layer, instead of `width` and `depth`.
        arity: Inputs of each look-up table, 2 to 6; None for layers of two-input gates.
        layers: Layers instead of widths, each a dictionary with its `kind` and arguments.
        method: The selection method, as in `LogicNetwork`.
        tau: Temperature; 1.0 by default. Not with CAGE, which sets it.
        cage: True is the same as "+cage" after the method.
        wiring: The wiring, as in `LogicNetwork`; "auto" is "structured" for images and "random" otherwise.
        candidates: Candidates for each wire, for learned wiring.
        redraw: Arguments of `RedrawWires`, or its `every` alone: replace losing candidates, for learned wiring.
        area: Arguments of `hw.AreaPrice`, such as {"thresholds": 1e-5}: what look-up tables of the hardware cost.
        choose: Arguments of `hw.choose_by_use`, such as {"pool": 3}: layers whose kernels or neurons are chosen by use
            before the training, and then frozen.
        loop: A loop over the steps of each row, such as {"state": 64}, with the layers as its cell; see
            `hardwire.training.loops.Loop`. The last layer makes the state and then the votes.
        start: Initial logits, as in `LogicNetwork`.
        options: Further arguments of `LogicNetwork`, such as {"wire_gradient": "mixture"}.
        iterations: Optimizer steps. Default: that of the dataset's kind, for a table by its rows.
        epochs: Passes over the training rows, instead of `iterations`.
        batch_size: Rows in a batch.
        accumulate: Batches per optimizer step.
        lr: Learning rate of Adam.
        rates: Other learning rates, by a part of the parameters' names: {"layers.0.": 0.001}. A rate of 0 freezes.
        schedule: "constant"; "cosine": the learning rates fall to zero along half a cosine; or "cooldown": they are
            constant for 60% of the steps and then fall to zero.
        augment: Arguments of `hw.data.augment`, for images.
        evaluate_every: Iterations between two evaluations; 200 by default.
        validation: Whether to evaluate on validation rows instead of the test set.
        stop_early: Stop after this many evaluations without a better one.
        keep_best: Finish with the state of the best evaluation.
        seed: Seed of the network and of the order of batches.
        engine: The engine, as in `LogicNetwork`.
        kind: "images", "table", "bits" or "loop", whose defaults apply. Default: that of the dataset.
        recipe: Name of the recipe that these settings come from, for the name of the model file.

    Raises:
        HardwireError: If a setting has the wrong type, is out of range, or contradicts another.

    Example:
        >>> settings = Settings.for_dataset("digits", iterations=500)
        >>> job = settings.prepare(out="digits.safetensors")
        >>> history = job.run()
    """

    dataset: str
    width: int | None = None
    depth: int | None = None
    widths: tuple[int, ...] | None = None
    arity: int | None = None
    layers: tuple[Mapping[str, Any], ...] = ()
    method: str = BITS.method
    tau: float | None = None
    cage: bool | None = None
    wiring: str = BITS.wiring
    candidates: int | None = BITS.candidates
    redraw: Mapping[str, Any] | int | None = None
    area: Mapping[str, Any] | None = None
    choose: Mapping[str, Any] | None = None
    loop: Mapping[str, Any] | None = None
    start: str = BITS.start
    options: Mapping[str, Any] = field(default_factory=dict)
    iterations: int | None = None
    epochs: float | None = None
    batch_size: int = BITS.batch_size
    accumulate: int = 1
    lr: float = BITS.lr
    rates: Mapping[str, float] = field(default_factory=dict)
    schedule: str = BITS.schedule
    augment: Mapping[str, Any] = field(default_factory=dict)
    evaluate_every: int | None = None
    validation: bool = False
    stop_early: int | None = None
    keep_best: bool = False
    seed: int = 0
    engine: str = "auto"
    kind: str | None = None
    recipe: str | None = None

    @classmethod
    def for_dataset(cls, dataset: str | Dataset, **given: Any) -> "Settings":
        """The given settings (None counts as not given), completed by the defaults for such a dataset.

        Args:
            dataset: Name, path, or the dataset itself; images, tables and other bits have different defaults.
            **given: Settings by name.

        Returns:
            The settings.

        Example:
            >>> Settings.for_dataset("digits", width=500).batch_size
            128
        """
        given = {name: value for name, value in given.items() if value is not None}
        kind = "loop" if given.get("loop") else kind_of(dataset)
        name = dataset.name if isinstance(dataset, Dataset) else default_name(dataset, DEFAULTS[kind].levels)
        completed = DEFAULTS[kind].complete(given)
        if kind == "table" and "iterations" not in given:
            completed.pop("iterations", None)  # by the rows, once the table is read
        return cls(name, **completed, kind=kind)

    def __post_init__(self) -> None:
        self._check_types()
        if self.kind is None:
            object.__setattr__(self, "kind", "loop" if self.loop else kind_of(self.dataset))
        if isinstance(self.redraw, int):
            object.__setattr__(self, "redraw", {"every": self.redraw})
        self._check_method()
        self._check_loop()
        self._check_contradictions()
        if self.iterations is None and self.epochs is None and self.kind != "table":
            object.__setattr__(self, "iterations", DEFAULTS[self.kind or "bits"].iterations)
        if self.evaluate_every is None and self.iterations is not None:
            often = self.loop is not None and check_loop(self.loop).curriculum
            object.__setattr__(self, "evaluate_every", CURRICULUM_EVERY if often else EVALUATE_EVERY)

    def _check_types(self) -> None:
        for name, kind in _TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise HardwireError(f"{name} is {_short(getattr(self, name))}; it must be {_WORDS[kind]}")
        if self.arity is not None:
            check_arity(self.arity)
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if value is not None and whole_number(name, value, least) > MOST:
                raise HardwireError(f"{name} is above {MOST:,}; use a smaller number")
        if self.widths is not None:
            if not isinstance(self.widths, Sequence) or isinstance(self.widths, str):
                raise HardwireError(f"widths are {_short(self.widths)}; they must be a list of whole numbers")
            object.__setattr__(self, "widths", tuple(whole_number("width", width) for width in self.widths))
        if not isinstance(self.layers, Sequence) or not all(isinstance(layer, Mapping) for layer in self.layers):
            raise HardwireError("layers must be tables, each with a kind: [[layers]]")
        if not (self.redraw is None or isinstance(self.redraw, int | Mapping)):
            raise HardwireError(f"redraw is {_short(self.redraw)}; it must be a number of iterations, or a table")
        if not (self.area is None or isinstance(self.area, Mapping)):
            raise HardwireError(f"area is {_short(self.area)}; it must be a table of prices")
        if self.choose is not None:
            check_choose(self.choose)
        for name, rate in {"all": self.lr, **self.rates}.items():
            if isinstance(rate, bool) or not isinstance(rate, int | float):
                raise HardwireError(f"the learning rate of {_short(name)} is {_short(rate)}; use a number such as 0.01")
            if name != "all" and not 0 <= rate < 1e6:
                raise HardwireError(f"the learning rate of {_short(name)} is {_short(rate)}; use a number such as 0.01")

    def _check_method(self) -> None:
        method, named_cage = parse_method(self.method)
        if self.cage and not method.hard:
            raise HardwireError(f"CAGE adapts the backward pass of hard-st and gumbel-st; {method.name} has none")
        if self.cage is False and named_cage:
            raise HardwireError(f"{self.method} has CAGE and cage=False has none; give one of them")
        if self.cage and not named_cage:
            object.__setattr__(self, "method", f"{self.method}+cage")
        if self.tau is not None and (self.cage or named_cage):
            raise HardwireError("CAGE sets the temperature itself; give either CAGE or tau, not both")

    def _check_loop(self) -> None:
        if self.loop is None:
            return
        loop = check_loop(self.loop)
        if self.choose is not None:
            raise HardwireError("choose draws the layers of a network; a loop has none but its cell")
        if loop.curriculum:
            for name in ("epochs", "rates", "augment", "area"):
                if getattr(self, name):
                    raise HardwireError(
                        f"a curriculum trains each length for some iterations with a rate of its own; leave out {name}"
                    )
            # a length goes on from the best state of the one before, which must not be chosen on test rows
            object.__setattr__(self, "validation", True)
            object.__setattr__(self, "keep_best", True)

    def _check_contradictions(self) -> None:
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.kind not in DEFAULTS:
            raise unknown_name("kind of data", self.kind, DEFAULTS)
        if self.widths is not None and not (self.width is None and self.depth is None):
            raise HardwireError("give either width and depth, or widths, not both")
        if self.layers and not (self.width is None and self.depth is None and self.widths is None):
            raise HardwireError("give either layers, or width, depth or widths, not both")
        if self.layers and self.arity is not None:
            raise HardwireError("arity is for layers by width; in a list of layers, each names its own")
        if self.selects and not self.validation:
            raise HardwireError(
                "stop_early and keep_best select on validation rows; add validation (--validation), which holds out "
                "the last sixth of the training rows"
            )
        if self.redraw and not self.layers and self.wiring != "learned":
            raise HardwireError(f'redraw is for wiring "learned" (--wiring learned), not {shown(self.wiring)}')

    @property
    def selects(self) -> bool:
        """Whether evaluations decide the result, so that it matters when they are made."""
        return self.stop_early is not None or self.keep_best

    def sizes(self, classes: int) -> list[int]:
        """The neurons of each layer; empty if the layers are given."""
        if self.widths is not None or self.layers:
            return list(self.widths or ())
        defaults = DEFAULTS[self.kind or "bits"]
        if self.loop is not None:
            state, depth = check_loop(self.loop).state, self.depth or defaults.depth
            return cell_widths(state, self.width or 2 * state, depth, classes)
        width = round_up(defaults.width, classes) if self.width is None else self.width
        *others, last = equal_widths(width, defaults.depth if self.depth is None else self.depth)
        return [*others, round_up(last, classes)]

    def load(self) -> Dataset:
        """Loads the dataset."""
        return datasets.load(self.dataset)

    def completed(self, data: Dataset) -> "Settings":
        """These settings with the width and the number of iterations that suit a table, where they were not given."""
        if self.kind != "table":
            return self
        rows = len(data.train)
        sizes: dict[str, Any] = {}
        if self.width is None and self.widths is None and not self.layers:
            classes = None if data.number is not None else data.classes
            sizes["width"] = round_up(width_for(rows, classes), data.classes)
        if self.iterations is None and self.epochs is None:
            sizes["iterations"] = steps_for(rows, self.batch_size * self.accumulate)
        return replace(self, **sizes) if sizes else self

    def network(self, data: Dataset) -> LogicNetwork:
        """Builds the untrained network for a dataset.

        Args:
            data: The dataset.

        Raises:
            HardwireError: If the settings make no network, or training it would not fit into memory.
        """
        return build_network(self, data)

    def file_name(self, classes: int) -> str:
        """A file name for the model that lists the settings which are not the defaults."""
        if self.recipe is not None:
            return f"{self.recipe}-seed{self.seed}.safetensors"
        sizes = self.sizes(classes)
        flat = len(set(sizes)) == 1
        length = f"{self.iterations}it" if self.epochs is None else f"{self.epochs:g}epochs"
        parts = [
            split_name(self.dataset)[0].stem,
            self.method,
            "" if parse_method(self.method)[1] else f"tau{1.0 if self.tau is None else self.tau:g}",
            f"{sizes[0]}x{len(sizes)}" if flat else "-".join(map(str, sizes)),
            length,
            *(f"{part}{_format(getattr(self, name))}" for name, part in _NAME_PARTS.items() if self._is_changed(name)),
            f"every{self.evaluate_every}"
            if self.selects and self.evaluate_every not in (None, EVALUATE_EVERY, CURRICULUM_EVERY)
            else "",
            f"seed{self.seed}",
        ]
        return "-".join(part for part in parts if part) + ".safetensors"

    def _is_changed(self, name: str) -> bool:
        default = getattr(DEFAULTS[self.kind or "bits"], name, _FIELD_DEFAULTS.get(name))
        return bool((getattr(self, name) or None) != (default or None))

    def prepare(
        self,
        out: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        others: Sequence[Path] = (),
    ) -> TrainingJob:
        """Loads the data, and makes the network and the folders of all files.

        Args:
            out: The model file. Default: a name made of the settings.
            checkpoint: The checkpoint file. Default: next to the model, deleted when the run is done.
            others: Further files that will be written.
        """
        data = self.load()
        settings = self.completed(data)
        net = settings.network(data)
        model = Path(settings.file_name(data.classes) if out is None else out).expanduser()
        given = None if checkpoint is None else Path(checkpoint).expanduser()
        job = TrainingJob(settings, data, net, model, given or Path(f"{model}.checkpoint"), keep=given is not None)
        check_distinct(split_name(self.dataset)[0], job.out, job.checkpoint, *others)
        for path in (job.out, job.checkpoint, *others):
            make_folder(path)
        return job


_FIELD_DEFAULTS = {field.name: None if field.default is MISSING else field.default for field in fields(Settings)}
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("dataset", "method", "wiring", "start", "schedule", "engine"), str),
    **dict.fromkeys(("options", "rates", "augment"), Mapping),
    **dict.fromkeys(("validation", "keep_best"), bool),
}
_WORDS: dict[Any, str] = {str: "text", Mapping: "a table", bool: "true or false"}
_WHOLE = {  # setting -> its least value
    **dict.fromkeys(("width", "depth", "iterations", "batch_size", "accumulate", "evaluate_every", "stop_early"), 1),
    "candidates": 1,
    "seed": 0,
}
_NAME_PARTS = {  # setting -> its abbreviation in the name of a model file
    "arity": "lut",
    "wiring": "",
    "candidates": "of",
    "redraw": "redraw",
    "area": "area",
    "choose": "choose",
    "loop": "loop",
    "start": "",
    "options": "",
    "batch_size": "batch",
    "accumulate": "accumulate",
    "lr": "lr",
    "rates": "rates",
    "schedule": "",
    "augment": "",
    "validation": "validation",
    "stop_early": "stop",
    "keep_best": "best",
}


def _format(value: Any) -> str:
    if isinstance(value, Mapping):
        given = {name: entry for name, entry in value.items() if name != "every"}
        first = [str(value["every"])] if "every" in value else []
        return "-".join([*first, *(f"{name}{_format(entry)}" for name, entry in given.items())]).replace("/", "_")
    if isinstance(value, list | tuple):
        return "+".join(map(_format, value))
    return "" if value is True else f"{value:g}" if isinstance(value, float) else str(value)


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a very large number"
    return text if len(text) <= 80 else f"{text[:80]}..."
