"""Checkpoints: the whole state of a run in one file, so that a resumed run ends with the same bits.

State is the network's (wiring, temperature and step counts included), the optimizer's, the scheduler's, torch's
generator, and the history. A checkpoint knows what run it belongs to (`hardwire.training.identity`): restoring it into
another one is an error, never a silent mixture. Surprising: any optimizer works, because its nested state is taken
apart into tensors and plain JSON; what comes back is compared with the state that this optimizer would make itself.
"""

import copy
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import optim

from hardwire import models
from hardwire.errors import HardwireError
from hardwire.files import parse_json
from hardwire.files import tensors as tensorfile
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import TrainingRun
from hardwire.training.history import History
from hardwire.training.identity import first_difference

KIND = "hardwire-checkpoint"
VERSION = 2
_FIELDS = ("identity", "state", "optimizer", "scheduler")
_HISTORY, _GENERATOR = "history", "generator"  # the history is a tensor because a header has to stay small
_NET, _BEST = "net.", "best."
_COUNTERS = {"iteration": int, "loss": float, "loss_sum": float, "loss_steps": int, "seconds": float}
_Tensors = dict[str, torch.Tensor]


class Checkpoint:
    """The checkpoint file of one run.

    Args:
        path: The file.
        identity: What identifies the run, as `run_identity` returns it.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]):
        self.path, self.identity = Path(path).expanduser(), identity

    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    def write(self, run: TrainingRun) -> None:
        """Saves the current state of the run; if that fails, the previous checkpoint stays."""
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

    def restore(self, run: TrainingRun) -> None:
        """Brings the run to the state that was saved.

        Raises:
            HardwireError: The file is damaged, or belongs to another run; the error names what differs.
        """
        tensors, texts = tensorfile.read(self.path, KIND, VERSION)
        try:
            fields = {name: parse_json(texts[name], f"its {name}") for name in _FIELDS if name in texts}
            if difference := first_difference(fields["identity"], self.identity):
                raise HardwireError(
                    f"{self.path} belongs to another run: {difference}; use another checkpoint path, or resume=False "
                    "(--no-resume) to start over"
                )
            _check_counters(fields["state"])
            self._check_iteration(fields["state"]["iteration"], run.iterations)
        except (KeyError, TypeError, ValueError) as error:  # a HardwireError is a ValueError
            raise self._refusal(error) from None
        try:
            _load(run, fields, tensors)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> HardwireError:
        if isinstance(error, HardwireError) and str(self.path) in str(error):
            return error
        reason = error if isinstance(error, HardwireError) else repr(error)
        return HardwireError(f"{self.path} is not a checkpoint of this run: {reason!s:.300}")

    def _check_iteration(self, reached: int, wanted: int) -> None:
        if reached > wanted:
            raise HardwireError(
                f"{self.path} is already at iteration {reached}, past the {wanted} asked for; "
                "ask for more, or use resume=False (--no-resume) to start over"
            )


def _check_counters(state: Any) -> None:
    if not isinstance(state, dict) or set(state) != set(_COUNTERS):
        raise HardwireError(f"its state has the entries {', '.join(_COUNTERS)}")
    for name, kind in _COUNTERS.items():
        value = state[name]
        right = type(value) is int and value >= 0 if kind is int else type(value) in (int, float)
        if not right or (name == "seconds" and not 0 <= value < math.inf):
            raise HardwireError(f"its {name} is {value!r:.40}")


def _load(run: TrainingRun, fields: dict[str, Any], tensors: _Tensors) -> None:
    """Checks every part of the saved state, then loads it."""
    history = History.from_json(tensors[_HISTORY].numpy().tobytes())
    if any(record.iteration > fields["state"]["iteration"] for record in history):
        raise HardwireError("its history goes on after its own iteration")
    net, best = _with_prefix(tensors, _NET), _with_prefix(tensors, _BEST)
    for state in [net, best] if best else [net]:
        _check_network(run, state)
    optimizer = unflatten(fields["optimizer"], tensors)
    _check_optimizer(optimizer, run.optimizer)
    scheduler = unflatten(fields["scheduler"], tensors) if run.scheduler is not None else {}
    _check_alike(scheduler, {} if run.scheduler is None else run.scheduler.state_dict(), "scheduler")
    torch.set_rng_state(tensors[_GENERATOR])
    run.net.load_state_dict(net)
    run.best = best or None
    run.optimizer.load_state_dict(optimizer)
    if run.scheduler is not None:
        run.scheduler.load_state_dict(scheduler)
    for name in _COUNTERS:
        setattr(run, name, fields["state"][name])
    run.history.records[:] = history.records


def _check_network(run: TrainingRun, state: _Tensors) -> None:
    if isinstance(run.net, LogicNetwork):
        models.check_state(state, run.net)
    else:
        _check_alike(state, {name: tensor for name, tensor in run.net.state_dict().items()}, "network")


def _check_optimizer(saved: Any, optimizer: optim.Optimizer) -> None:
    """Raises unless the saved state has the form that this optimizer gives its state."""
    if not isinstance(saved, dict) or set(saved) != {"param_groups", "state"} or not isinstance(saved["state"], dict):
        raise HardwireError("its optimizer has no state and param_groups")
    _check_alike(saved["param_groups"], optimizer.state_dict()["param_groups"], "optimizer.param_groups")
    expected = _state_after_a_step(optimizer)
    for index, entry in saved["state"].items():
        if expected is not None:
            _check_alike(entry, expected.get(index), f"optimizer.state.{index}")


def _state_after_a_step(optimizer: optim.Optimizer) -> dict[int, Any] | None:
    """The state that a copy of the optimizer has after a step without gradients; None where it cannot make one."""
    twin = copy.deepcopy(optimizer)
    for group in twin.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    try:
        type(twin).step(twin)  # not twin.step: a scheduler has replaced that by a method of the original
    except RuntimeError:  # such as SparseAdam, which wants sparse gradients
        return None
    state: dict[int, Any] = twin.state_dict()["state"]
    return state


def _check_alike(saved: Any, current: Any, name: str) -> None:
    """Raises unless two nested states have the same form: keys, lengths, types, and shapes of tensors."""
    if isinstance(current, torch.Tensor):
        dtype = torch.float32 if current.dtype == torch.bfloat16 else current.dtype
        right = isinstance(saved, torch.Tensor) and (saved.shape, saved.dtype) == (current.shape, dtype)
    elif isinstance(current, dict):
        right = isinstance(saved, dict) and set(saved) == set(current)
    elif isinstance(current, list | tuple):
        right = isinstance(saved, list | tuple) and len(saved) == len(current)
    elif current is None or isinstance(current, int | float):  # a counter that starts as None or 0 may be a float later
        right = saved is None or isinstance(saved, int | float | list)
    else:
        right = type(saved) is type(current)
    if not right:
        raise HardwireError(f"its {name} does not have the form that it has here")
    if isinstance(current, dict | list | tuple):
        for key in current if isinstance(current, dict) else range(len(current)):
            _check_alike(saved[key], current[key], f"{name}.{key}")


def flatten(value: Any, tensors: _Tensors, name: str) -> dict[str, Any]:
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


def unflatten(node: Any, tensors: _Tensors) -> Any:
    """The nested state that `flatten` took apart."""
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: unflatten(entry, tensors) for key, entry in content}
    if kind == "value" and not isinstance(content, dict | list):
        return content
    if kind not in ("list", "tuple"):
        raise HardwireError(f"its state has an entry {kind!r:.40}")
    entries = [unflatten(entry, tensors) for entry in content]
    return entries if kind == "list" else tuple(entries)


def _with_prefix(tensors: _Tensors, prefix: str) -> _Tensors:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
