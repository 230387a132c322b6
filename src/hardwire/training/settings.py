"""`Settings`: a training run as plain data, from the name of a dataset to the name of its model file.

It is what `hardwire train` runs, defaults included. Surprising: a model file carries its settings, so that the same run
is not done twice and another run's model is not overwritten.
"""

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from hardwire import data as datasets
from hardwire import models
from hardwire.data.dataset import Dataset
from hardwire.data.kinds import split_name
from hardwire.errors import HardwireError
from hardwire.network import LogicNetwork
from hardwire.selection import parse_method
from hardwire.training.callbacks import Callback
from hardwire.training.checkpoint import data_identity
from hardwire.training.fit import fit
from hardwire.training.history import History
from hardwire.training.memory import check_memory
from hardwire.training.redraw import RedrawWires
from hardwire.training.usual import IMAGES, usual_for
from hardwire.wiring import candidates_for, takes

EVERY = 200  # iterations between two evaluations
_NOT_TOLD = ("engine", "cage")  # settings that do not change what is trained, or that the method's name tells


@dataclass(frozen=True)
class Settings:
    """The settings of a run. Those of the network are `LogicNetwork`'s, those of the training `fit`'s.

    width: the usual one if not given, or the next number that splits into the classes; depth: the usual one. widths:
    instead of both. cage: the same as "+cage" behind the method, if True. tau: 1.0 if not given; CAGE leaves none.
    redraw: iterations between two exchanges of candidates that lost (`RedrawWires`), for learned wiring.
    """

    dataset: str
    width: int | None = None
    depth: int | None = None
    widths: tuple[int, ...] | None = None
    method: str = IMAGES.method
    tau: float | None = None
    cage: bool | None = None
    wiring: str = IMAGES.wiring
    candidates: int | None = IMAGES.candidates
    redraw: int | None = None
    start: str = IMAGES.start
    iterations: int | None = None
    epochs: float | None = None
    batch_size: int = IMAGES.batch_size
    accumulate: int = 1
    lr: float = IMAGES.lr
    evaluate_every: int | None = None
    validation: bool = False
    stop_early: int | None = None
    keep_best: bool = False
    seed: int = 0
    engine: str = "auto"

    @classmethod
    def usual(cls, dataset: str, **given: Any) -> "Settings":
        """What is given (and not None), and the rest as is usual for such a dataset: a table or images."""
        given = {name: value for name, value in given.items() if value is not None}
        return cls(dataset, **usual_for(dataset).beside(given), **given)

    def __post_init__(self) -> None:
        method, named_cage = parse_method(self.method)
        if self.cage and not method.hard:
            raise HardwireError(f"CAGE adapts the backward pass of hard-st and gumbel-st; {method.name} has no such")
        if self.cage is False and named_cage:
            raise HardwireError(f"{self.method} has CAGE and cage=False has none; give one of them")
        if self.cage and not named_cage:
            object.__setattr__(self, "method", f"{self.method}+cage")
        if self.tau is not None and (self.cage or named_cage):
            raise HardwireError("CAGE sets the temperature itself; give either CAGE or tau, not both")
        if self.widths is not None and not (self.width is None and self.depth is None):
            raise HardwireError("give either width and depth, or widths, not both")
        if self.chooses and not self.validation:
            raise HardwireError(
                "stop_early and keep_best choose on validation rows; add validation (--validation), which takes the "
                "last sixth of the training rows"
            )
        if self.redraw is not None and self.wiring != "learned":
            raise HardwireError(f'redraw is for wiring "learned" (--wiring learned), not {self.wiring!r}')
        if self.iterations is None and self.epochs is None:
            object.__setattr__(self, "iterations", usual_for(self.dataset).iterations)
        if self.evaluate_every is None and self.iterations is not None:
            object.__setattr__(self, "evaluate_every", EVERY)

    @property
    def chooses(self) -> bool:
        """Whether something is chosen at evaluations, so that it matters when they are."""
        return self.stop_early is not None or self.keep_best

    def sizes(self, classes: int) -> list[int]:
        """The gates of each layer."""
        if self.widths is not None:
            return list(self.widths)
        usual = usual_for(self.dataset)
        width = -(-usual.width // classes) * classes if self.width is None else self.width
        return [width] * (usual.depth if self.depth is None else self.depth)

    def network(self, data: Dataset) -> LogicNetwork:
        """The untrained network for a dataset; refused where its training would not fit into memory."""
        sizes = self.sizes(data.classes)
        reads = data.useful_inputs()
        most = sys.maxsize if reads is None else min(len(reads), *sizes)
        check_memory(sizes, data.inputs, self.batch_size, self.candidates or 0)
        return LogicNetwork(
            data.inputs,
            data.classes if data.number is None else None,
            number=data.number,
            reads=reads,
            widths=sizes,
            method=self.method,
            tau=1.0 if self.tau is None else self.tau,
            seed=self.seed,
            encoder=data.encoder,
            engine=self.engine,
            start=self.start,
            **self._wiring(data, most),
        )

    def _wiring(self, data: Dataset, most: int) -> dict[str, Any]:
        """The wiring and its options: what has been said, and the shape of the images for one that asks for it."""
        shape = data.image_shape if data.image_shape and len(data.image_shape) in (2, 3) else None
        name = self.wiring
        if name == "auto":
            name = "random" if shape is None else "structured"
        options = candidates_for(name, self.candidates, most)
        if shape is not None and takes(name, "shape"):
            options |= {"shape": (1, *shape)[-3:], "levels": data.inputs // math.prod(shape)}
        return options

    def file_name(self, classes: int) -> str:
        """A name for the model: it tells apart runs of different settings, those that are usual left out."""
        sizes = self.sizes(classes)
        flat = len(set(sizes)) == 1
        length = f"{self.iterations}it" if self.epochs is None else f"{self.epochs:g}epochs"
        parts = [
            split_name(self.dataset)[0].stem,
            self.method,
            "" if parse_method(self.method)[1] else f"tau{1.0 if self.tau is None else self.tau:g}",
            f"{sizes[0]}x{len(sizes)}" if flat else "-".join(map(str, sizes)),
            length,
            *(f"{name}{_short(getattr(self, field))}" for field, name in _IN_NAMES.items() if self._differs(field)),
            f"every{self.evaluate_every}" if self.chooses and self.evaluate_every not in (None, EVERY) else "",
            f"seed{self.seed}",
        ]
        return "-".join(part for part in parts if part) + ".safetensors"

    def _differs(self, name: str) -> bool:
        usual = getattr(usual_for(self.dataset), name, _DEFAULTS[name])
        return bool(getattr(self, name) != usual)

    def prepare(
        self,
        out: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        others: Sequence[Path] = (),
    ) -> "Job":
        """Loads the data, makes the network and the folders of all files, `others` among them."""
        data = datasets.load(self.dataset)
        net = self.network(data)
        model = Path(self.file_name(data.classes) if out is None else out).expanduser()
        kept = None if checkpoint is None else Path(checkpoint).expanduser()
        job = Job(self, data, net, model, kept or Path(f"{model}.checkpoint"), kept is not None)
        _check_distinct(split_name(self.dataset)[0], job.out, job.checkpoint, *others)
        for path in (job.out, job.checkpoint, *others):
            _make_room(path)
        return job


_DEFAULTS = {field.name: field.default for field in fields(Settings)}
_IN_NAMES = {  # setting -> what stands for it in a file's name
    "wiring": "",
    "candidates": "of",
    "redraw": "redraw",
    "start": "",
    "batch_size": "batch",
    "accumulate": "accumulate",
    "lr": "lr",
    "validation": "validation",
    "stop_early": "stop",
    "keep_best": "best",
}


@dataclass
class Job:
    """Settings with all they need, ready to run. checkpoint: kept when the run is done only where `keep` says so."""

    settings: Settings
    data: Dataset
    net: LogicNetwork
    out: Path
    checkpoint: Path
    keep: bool = False

    @property
    def record(self) -> dict[str, Any]:
        """What a model file says of the run that made it: the settings and the data, as JSON values."""
        left_out = _NOT_TOLD if self.settings.chooses else (*_NOT_TOLD, "evaluate_every")
        settings = {name: value for name, value in asdict(self.settings).items() if name not in left_out}
        widths = None if self.settings.widths is None else list(self.settings.widths)
        return settings | {"widths": widths, "rows": data_identity(self.data.train)}

    def finished(self) -> bool:
        """Whether the model is there already; another run's in its place is an error."""
        if not self.out.exists():
            return False
        found = models.settings_of(self.out)
        if found is None:
            raise HardwireError(f"{self.out} is there already, and does not say how it was made; {_ANOTHER_PLACE}")
        for name, value in self.record.items():
            if found.get(name) != value:
                raise HardwireError(
                    f"{self.out} is there already and of another run: its {name} is {found.get(name)}, here it is "
                    f"{value}; {_ANOTHER_PLACE}"
                )
        return True

    def run(self, resume: bool = True, callbacks: Sequence[Callback] = (), progress: bool | None = None) -> History:
        """Trains, or goes on from the checkpoint, and saves the model."""
        settings = self.settings
        if settings.redraw is not None:
            callbacks = [RedrawWires(settings.redraw, seed=settings.seed), *callbacks]
        history = fit(
            self.net,
            self.data,
            settings.iterations,
            settings.batch_size,
            settings.lr,
            settings.evaluate_every,
            epochs=settings.epochs,
            accumulate=settings.accumulate,
            seed=settings.seed,
            validation=settings.validation,
            stop_early=settings.stop_early,
            keep_best=settings.keep_best,
            checkpoint=self.checkpoint,
            resume=resume,
            callbacks=callbacks,
            progress=progress,
        )
        models.save(self.net, self.out, dataset=settings.dataset, settings=self.record)
        if not self.keep:
            self.checkpoint.unlink(missing_ok=True)
        return history


_ANOTHER_PLACE = "choose another out (--out), or start over with --no-resume, which replaces it"


def _short(value: object) -> str:
    return "" if value is True else f"{value:g}" if isinstance(value, float) else str(value)


def _check_distinct(*paths: Path) -> None:
    """The data, the model, the checkpoint and the history must not overwrite each other."""
    places = [path.absolute() for path in paths]
    for place in places:
        if places.count(place) > 1:
            raise HardwireError(f"{place} is named twice; data, model, checkpoint and history need a file each")


def _make_room(path: Path) -> None:
    """The folder of a file that will be written, made now: a wrong path should not cost a training run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HardwireError(f"cannot write {path}: {path.parent} is not a folder") from None
    if path.is_dir():
        raise HardwireError(f"cannot write {path}: it is a folder; name a file in it")
