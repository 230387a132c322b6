"""`TrainingJob`: settings with their data, network and files, ready to run."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire import models
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Callback
from hardwire.training.curriculum import length_checkpoint
from hardwire.training.history import History
from hardwire.training.identity import data_identity
from hardwire.training.loops import check_loop
from hardwire.training.run_settings import train_network

if TYPE_CHECKING:
    from hardwire.training.settings import Settings

_NOT_RECORDED = ("engine", "cage", "kind")  # the engine does not change the result, and the method's name includes CAGE
_WAY_OUT = "choose another out (--out), or start over with --no-resume, which replaces it"


@dataclass
class TrainingJob:
    """A training run with its data, network and files, ready to run.

    Attributes:
        settings: The settings it was prepared from.
        data: The dataset.
        net: The untrained network.
        out: The model file.
        checkpoint: The checkpoint file.
        keep: Whether the checkpoint stays when the run is done.

    Example:
        >>> job = hw.training.Settings("digits", iterations=500).prepare()  # doctest: +SKIP
        >>> if not job.finished():  # doctest: +SKIP
        ...     job.run()
    """

    settings: "Settings"
    data: Dataset
    net: LogicNetwork
    out: Path
    checkpoint: Path
    keep: bool = False

    @property
    def record(self) -> dict[str, Any]:
        """What the model file records about its run: settings and data, as JSON values."""
        left_out = _NOT_RECORDED if self.settings.selects else (*_NOT_RECORDED, "evaluate_every")
        settings = {name: value for name, value in asdict(self.settings).items() if name not in left_out}
        plain: dict[str, Any] = json.loads(json.dumps(settings))  # as the file will give it back: tuples are lists
        return plain | {"rows": data_identity(self.data.train)}

    @property
    def checkpoints(self) -> list[Path]:
        """The files of the checkpoint: one, or one for each length of a curriculum."""
        loop = None if self.settings.loop is None else check_loop(self.settings.loop)
        if loop is None or not loop.curriculum:
            return [self.checkpoint]
        return [length_checkpoint(self.checkpoint, n) for n in loop.lengths(loop.steps_in(self.data))]

    def finished(self) -> bool:
        """Whether the model file already exists; the model of another run at that path is an error."""
        if not self.out.exists():
            return False
        recorded = models.settings_of(self.out)
        if recorded is None:
            raise HardwireError(f"{self.out} already exists and does not record how it was made; {_WAY_OUT}")
        for name, value in self.record.items():
            if recorded.get(name) != value:
                raise HardwireError(
                    f"{self.out} already exists and belongs to another run: its {name} is {recorded.get(name)}, here "
                    f"it is {value}; {_WAY_OUT}"
                )
        return True

    def run(self, resume: bool = True, callbacks: Sequence[Callback] = (), progress: bool | None = None) -> History:
        """Trains, or resumes from the checkpoint, and saves the model.

        Args:
            resume: False starts over although there is a checkpoint.
            callbacks: Passed on to `fit`.
            progress: Passed on to `fit`.
        """
        history = train_network(
            self.settings,
            self.net,
            self.data,
            checkpoint=self.checkpoint,
            resume=resume,
            callbacks=callbacks,
            progress=progress,
        )
        models.save(self.net, self.out, dataset=self.settings.dataset, settings=self.record)
        if not self.keep:
            for path in self.checkpoints:
                path.unlink(missing_ok=True)
        return history


def check_distinct(*paths: Path) -> None:
    """Raises where the data, the model, the checkpoint or the history would overwrite each other."""
    absolute = [path.absolute() for path in paths]
    for path in absolute:
        if absolute.count(path) > 1:
            raise HardwireError(f"{path} is named twice; data, model, checkpoint and history need a file each")


def make_folder(path: Path) -> None:
    """Makes the folder of a file before the training, so that a wrong path fails at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HardwireError(f"cannot write {path}: {path.parent} is not a folder") from None
    if path.is_dir():
        raise HardwireError(f"cannot write {path}: it is a folder; name a file in it")
