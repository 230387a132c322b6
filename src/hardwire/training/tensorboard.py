"""Logging to TensorBoard, as a callback. The package is an extra: it is imported when a `TensorBoard` is made."""

import os

from hardwire.errors import HardwireError
from hardwire.training.callbacks import Callback, Run
from hardwire.training.history import Record

_TAGS = {  # where a measure goes; one that is not listed goes to "measured"
    "loss": "loss/train",
    "method": "accuracy/method",
    "argmax": "accuracy/argmax",
    "deploy": "accuracy/deploy",
    "selection": "gap/selection",
    "computation": "gap/computation",
    "total": "gap/total",
    "tau": "temperature/tau",
    "confidence": "temperature/confidence",
    "commitment": "commitment",
    "node_actual": "node gap",
    "node_bound": "node bound",
}


class TensorBoard(Callback):
    """Writes every evaluation to an event folder; look at it with `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: str | os.PathLike[str]):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise HardwireError("TensorBoard is not installed; run: pip install 'hardwire[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder))

    def on_evaluation(self, run: Run, record: Record) -> None:
        for name, value in vars(record).items():
            tag = _TAGS.get(name, f"measured/{name}")
            if isinstance(value, int | float) and name != "iteration":
                self._writer.add_scalar(tag, value, record.iteration)
            elif isinstance(value, list) and all(isinstance(number, int | float) for number in value):
                for layer, number in enumerate(value):
                    self._writer.add_scalar(f"{tag}/layer {layer}", number, record.iteration)

    def on_end(self, run: Run) -> None:
        self._writer.close()
