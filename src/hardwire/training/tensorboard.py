"""Logs a run to TensorBoard, as a callback. The package is an extra: it is imported when a `TensorBoard` is made."""

import os

from hardwire.errors import HardwireError
from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.history import Record

_TAGS = {  # tag of each measure; the others go to "measured/NAME"
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
    """A callback that logs every evaluation to TensorBoard; view it with `tensorboard --logdir FOLDER`.

    Args:
        folder: Folder of the event files; it is created if needed.

    Raises:
        HardwireError: TensorBoard is not installed.

    Example:
        >>> hw.fit(net, data, iterations=5000, callbacks=[hw.training.TensorBoard("runs/first")])
    """

    def __init__(self, folder: str | os.PathLike[str]):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise HardwireError("TensorBoard is not installed; run: pip install 'hardwire[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder))

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        for name, value in vars(record).items():
            tag = _TAGS.get(name, f"measured/{name}")
            if isinstance(value, int | float) and name != "iteration":
                self._writer.add_scalar(tag, value, record.iteration)
            elif isinstance(value, list) and all(isinstance(number, int | float) for number in value):
                for layer, number in enumerate(value):
                    self._writer.add_scalar(f"{tag}/layer {layer}", number, record.iteration)

    def on_end(self, run: TrainingRun) -> None:
        self._writer.close()
