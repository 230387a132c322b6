"""Checkpoints: the whole state of a run in one file, so that a resumed run ends with the same bits.

State is the network's (wiring, temperature and step counts included), the optimizer's, torch's generator, and the
history. A checkpoint knows what run it belongs to: restoring it into another one is an error, never a silent mixture.
Surprising: any optimizer fits, because its nested state is taken apart into tensors and plain JSON.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from torch import nn, optim

from hardwire import models
from hardwire.bits import Bits
from hardwire.errors import HardwireError
from hardwire.files import tensors as tensorfile
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Run
from hardwire.training.history import History

KIND = "hardwire-checkpoint"
VERSION = 1
_HISTORY, _GENERATOR = "history", "generator"  # the history is a tensor because headers must stay below 100 MB
_COUNTERS = ("iteration", "loss", "loss_sum", "loss_steps", "seconds")


class Checkpoint:
    """The checkpoint file of one run; `identity` says which run that is."""

    def __init__(self, path, identity: dict):
        self.path, self.identity = Path(path).expanduser(), identity

    def exists(self) -> bool:
        return self.path.exists()

    def write(self, run: Run) -> None:
        """Puts the run as it stands on disk; a failure leaves the checkpoint before."""
        tensors = {f"net.{name}": tensor for name, tensor in run.net.state_dict().items()}
        optimizer = flatten(run.optimizer.state_dict(), tensors, "optimizer")
        tensors[_HISTORY] = torch.from_numpy(np.frombuffer(run.history.to_json().encode(), np.uint8).copy())
        tensors[_GENERATOR] = torch.get_rng_state()
        state = {name: getattr(run, name) for name in _COUNTERS}
        fields = {"identity": self.identity, "state": state, "optimizer": optimizer}
        fields = {name: json.dumps(value) for name, value in fields.items()}
        tensorfile.write(self.path, KIND, VERSION, tensors, fields)

    def restore(self, run: Run) -> None:
        """Brings the run to where the checkpoint was written."""
        tensors, fields = tensorfile.read(self.path, KIND, VERSION)
        try:
            identity, state, optimizer = (json.loads(fields[name]) for name in ("identity", "state", "optimizer"))
            self._check_identity(identity)
            self._check_iteration(state["iteration"], run.iterations)
            self._load(run, state, optimizer, tensors)
        except HardwireError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise HardwireError(f"{self.path} is not a checkpoint of this run: {error!r}") from None

    @staticmethod
    def _load(run: Run, state: dict, optimizer: dict, tensors: dict[str, torch.Tensor]) -> None:
        history = History.from_json(bytes(tensors[_HISTORY].numpy()).decode())
        own = {name.removeprefix("net."): tensor for name, tensor in tensors.items() if name.startswith("net.")}
        run.net.load_state_dict(own)
        run.optimizer.load_state_dict(unflatten(optimizer, tensors))
        torch.set_rng_state(tensors[_GENERATOR])
        for name in _COUNTERS:
            setattr(run, name, state[name])
        run.history.records[:] = history.records

    def _check_iteration(self, reached: int, wanted: int) -> None:
        if reached > wanted:
            raise HardwireError(
                f"{self.path} is already at iteration {reached}, past the {wanted} asked for; "
                "ask for more, or use resume=False (--no-resume) to start over"
            )

    def _check_identity(self, found: dict) -> None:
        found, wanted = _dotted(found), _dotted(json.loads(json.dumps(self.identity)))
        for name in [*wanted, *found]:
            if found.get(name) != wanted.get(name):
                raise HardwireError(
                    f"{self.path} belongs to another run: its {name} is {found.get(name)}, here it is "
                    f"{wanted.get(name)}; use another checkpoint path, or resume=False (--no-resume) to start over"
                )


def identity_of(net: nn.Module, optimizer: optim.Optimizer, train, held_out, batch_size: int, seed: int) -> dict:
    """What must be the same for a checkpoint to be continued: all that decides the course of a run."""
    return {
        "network": models.config_of(net) if isinstance(net, LogicNetwork) else repr(net),
        "optimizer": {"class": type(optimizer).__name__, **{k: str(v) for k, v in optimizer.defaults.items()}},
        "training data": _data_identity(train),
        "evaluation data": _data_identity(held_out),
        "batch_size": batch_size,
        "seed": seed,
    }


def _data_identity(split) -> dict:
    """Its size and a digest of all labels and of up to 1,000 rows spread over it: enough to tell datasets apart."""
    rows = torch.linspace(0, len(split.y) - 1, min(len(split.y), 1000), dtype=torch.float64).long()
    x = split.x[rows]
    digest = hashlib.blake2b(digest_size=8)
    for tensor in (split.y, x.words if isinstance(x, Bits) else x):
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()))
    return {"rows": len(split.y), "features": x.shape[1], "digest": digest.hexdigest()}


def flatten(value, tensors: dict[str, torch.Tensor], name: str):
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


def unflatten(node, tensors: dict[str, torch.Tensor]):
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


def _dotted(nested: dict, prefix: str = "") -> dict:
    flat = {}
    for name, value in nested.items():
        flat.update(_dotted(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value})
    return flat
