"""Checkpoints: the whole state of a run in one file, so that a resumed run ends with the same bits.

State is the network's (wiring, temperature and step counts included), the optimizer's, the scheduler's, torch's
generator, and the history. A checkpoint knows what run it belongs to: restoring it into another one is an error, never
a silent mixture. Surprising: any optimizer fits, because its nested state is taken apart into tensors and plain JSON.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn, optim

from hardwire import models
from hardwire.bits import Bits
from hardwire.data.dataset import Rows
from hardwire.errors import HardwireError
from hardwire.files import tensors as tensorfile
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Run
from hardwire.training.history import History

KIND = "hardwire-checkpoint"
VERSION = 1
_HISTORY, _GENERATOR = "history", "generator"  # the history is a tensor because headers must stay below 100 MB
_NET, _BEST = "net.", "best."
_COUNTERS = ("iteration", "loss", "loss_sum", "loss_steps", "seconds")


class Checkpoint:
    """The checkpoint file of one run; `identity` says which run that is."""

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]):
        self.path, self.identity = Path(path).expanduser(), identity

    def exists(self) -> bool:
        return self.path.exists()

    def write(self, run: Run) -> None:
        """Puts the run as it stands on disk; a failure leaves the checkpoint before."""
        tensors = {_NET + name: tensor for name, tensor in run.net.state_dict().items()}
        tensors |= {_BEST + name: tensor for name, tensor in (run.best or {}).items()}
        fields = {
            "identity": self.identity,
            "state": {name: getattr(run, name) for name in _COUNTERS},
            "optimizer": flatten(run.optimizer.state_dict(), tensors, "optimizer"),
        }
        if run.scheduler is not None:
            fields["scheduler"] = flatten(run.scheduler.state_dict(), tensors, "scheduler")
        tensors[_HISTORY] = torch.from_numpy(np.frombuffer(run.history.to_json().encode(), np.uint8).copy())
        tensors[_GENERATOR] = torch.get_rng_state()
        texts = {name: json.dumps(value) for name, value in fields.items()}
        tensorfile.write(self.path, KIND, VERSION, tensors, texts)

    def restore(self, run: Run) -> None:
        """Brings the run to where the checkpoint was written."""
        tensors, texts = tensorfile.read(self.path, KIND, VERSION)
        try:
            fields = {name: json.loads(texts[name]) for name in ("identity", "state", "optimizer")}
            self._check_identity(fields["identity"])
            self._check_iteration(fields["state"]["iteration"], run.iterations)
            if run.scheduler is not None:
                fields["scheduler"] = json.loads(texts["scheduler"])
            self._load(run, fields, tensors)
        except HardwireError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise HardwireError(f"{self.path} is not a checkpoint of this run: {error!r}") from None

    @staticmethod
    def _load(run: Run, fields: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        history = History.from_json(bytes(tensors[_HISTORY].numpy()).decode())
        run.net.load_state_dict(_named(tensors, _NET))
        run.best = _named(tensors, _BEST) or None
        run.optimizer.load_state_dict(unflatten(fields["optimizer"], tensors))
        if run.scheduler is not None:
            run.scheduler.load_state_dict(unflatten(fields["scheduler"], tensors))
        torch.set_rng_state(tensors[_GENERATOR])
        for name in _COUNTERS:
            setattr(run, name, fields["state"][name])
        run.history.records[:] = history.records

    def _check_iteration(self, reached: int, wanted: int) -> None:
        if reached > wanted:
            raise HardwireError(
                f"{self.path} is already at iteration {reached}, past the {wanted} asked for; "
                "ask for more, or use resume=False (--no-resume) to start over"
            )

    def _check_identity(self, read: dict[str, Any]) -> None:
        found, wanted = _dotted(read), _dotted(json.loads(json.dumps(self.identity)))
        for name in [*wanted, *found]:
            if found.get(name) != wanted.get(name):
                raise HardwireError(
                    f"{self.path} belongs to another run: its {name} is {found.get(name)}, here it is "
                    f"{wanted.get(name)}; use another checkpoint path, or resume=False (--no-resume) to start over"
                )


def identity_of(
    net: nn.Module, optimizer: optim.Optimizer, train: Rows | None, rows: Rows, **settings: Any
) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued: all that decides the course of a run.

    train: None where batches come from a DataLoader, whose order nobody knows. settings: those that are not None.
    """
    return {
        "network": models.config_of(net) if isinstance(net, LogicNetwork) else repr(net),
        "optimizer": {"class": type(optimizer).__name__, **{k: str(v) for k, v in optimizer.defaults.items()}},
        "training data": "a DataLoader" if train is None else data_identity(train),
        "evaluation data": data_identity(rows),
        **{name: value for name, value in settings.items() if value is not None},
    }


def data_identity(rows: Rows) -> dict[str, Any]:
    """Its size and a digest of all labels and of up to 1,000 rows spread over it: enough to tell datasets apart."""
    spread = torch.linspace(0, len(rows) - 1, min(len(rows), 1000), dtype=torch.float64).long()
    x, y = rows.x[spread], rows.y if rows.y.ndim == 1 else rows.y[spread]
    digest = hashlib.blake2b(digest_size=8)
    for tensor in (y, x.words if isinstance(x, Bits) else x):
        digest.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    features = x.shape[1] if len(x.shape) == 2 else list(x.shape[1:])
    identity = {"rows": len(rows), "features": features, "digest": digest.hexdigest()}
    augmentation = getattr(rows, "augmentation", None)
    return identity if augmentation is None else {**identity, "augmentation": augmentation}


def flatten(value: Any, tensors: dict[str, torch.Tensor], name: str) -> dict[str, Any]:
    """A nested state as JSON values; its tensors go to `tensors` under names that begin with `name`."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[key, flatten(entry, tensors, f"{name}.{key}")] for key, entry in value.items()]}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [flatten(entry, tensors, f"{name}.{place}") for place, entry in enumerate(value)]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    raise HardwireError(f"{name} is a {type(value).__name__}, which a checkpoint cannot hold; train without one")


def unflatten(node: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Any:
    """What `flatten` took apart."""
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: unflatten(entry, tensors) for key, entry in content}
    if kind == "value":
        return content
    entries = [unflatten(entry, tensors) for entry in content]
    return entries if kind == "list" else tuple(entries)


def _named(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _dotted(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        flat.update(_dotted(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value})
    return flat
