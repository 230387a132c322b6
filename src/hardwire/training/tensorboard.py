"""Logging to TensorBoard, as a callback. The package is an extra: it is imported when a `TensorBoard` is made."""

from hardwire.errors import HardwireError
from hardwire.training.callbacks import Callback

_SCALARS = {
    "loss/train": "loss",
    "accuracy/method": "method",
    "accuracy/argmax": "argmax",
    "accuracy/deploy": "deploy",
    "gap/selection": "selection",
    "gap/computation": "computation",
    "gap/total": "total",
    "temperature/tau": "tau",
    "temperature/confidence": "confidence",
}


class TensorBoard(Callback):
    """Writes every evaluation to an event folder; look at it with `tensorboard --logdir FOLDER`."""

    def __init__(self, folder):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise HardwireError("TensorBoard is not installed; run: pip install 'hardwire[tensorboard]'") from None
        self._writer = SummaryWriter(str(folder))

    def on_evaluation(self, run, record) -> None:
        for tag, name in _SCALARS.items():
            self._writer.add_scalar(tag, getattr(record, name), record.iteration)
        for layer, value in enumerate(record.commitment):
            self._writer.add_scalar(f"commitment/layer {layer}", value, record.iteration)
        for layer, (actual, bound) in enumerate(zip(record.node_actual, record.node_bound, strict=True)):
            self._writer.add_scalar(f"node gap/layer {layer}", actual, record.iteration)
            self._writer.add_scalar(f"node bound/layer {layer}", bound, record.iteration)

    def on_end(self, run) -> None:
        self._writer.close()
