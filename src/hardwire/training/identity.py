"""What identifies a run: everything that decides its course, as plain JSON values, so that two runs can be compared.

A checkpoint carries it and is only continued by a run of the same identity. Surprising: functions (a loss, the lambda
of a schedule) are part of it, by their own compiled code and the values they close over, but not by the functions that
they call in turn. The number of iterations is no part of it: a run can be prolonged.
"""

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader

from hardwire import models
from hardwire.bits import Bits
from hardwire.data.rows import Rows
from hardwire.errors import shown
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Callback, TrainingRun

_DEPTH = 6  # of objects within objects; deeper ones count by their type
# what a scheduler changes as it goes, or does not own
_SCHEDULER_STATE = {
    "optimizer", "last_epoch", "best", "num_bad_epochs", "cooldown_counter", "T_cur", "T_i", "_step_count",
    "_last_lr", "_is_initial", "_get_lr_called_within_step", "verbose",
}  # fmt: skip


def run_identity(
    run: TrainingRun, train: "Rows | DataLoader[Any]", rows: Rows, callbacks: Sequence[Callback], **settings: Any
) -> dict[str, Any]:
    """The identity of a run that is about to start.

    Args:
        run: The run, with the optimizer and the scheduler as they were given.
        train: The training rows, or the DataLoader.
        rows: The evaluation rows.
        callbacks: Those that influence the training say so (`Callback.identity`).
        **settings: Further arguments of `fit`; None is left out.
    """
    identity = {
        "network": models.config_of(run.net) if isinstance(run.net, LogicNetwork) else repr(run.net),
        "frozen": [name for name, parameter in run.net.named_parameters() if not parameter.requires_grad],
        "optimizer": _optimizer(run.optimizer, run.net),
        "scheduler": describe(run.scheduler),
        "training data": _loader(train) if isinstance(train, DataLoader) else data_identity(train),
        "evaluation data": data_identity(rows),
        "callbacks": {type(each).__qualname__: own for each in callbacks if (own := each.identity(run)) is not None},
        **{name: describe(value) for name, value in settings.items()},
    }
    given = {name: value for name, value in identity.items() if value not in (None, {}, [])}
    plain: dict[str, Any] = json.loads(json.dumps(given))
    return plain


def first_difference(saved: Any, current: Any) -> str | None:
    """Names the first entry in which two identities differ, with both values; None if they are the same."""
    theirs, ours = _flat(saved), _flat(current)
    for name in dict.fromkeys([*ours, *theirs]):
        if theirs.get(name) != ours.get(name):
            return f"its {name} is {_short(theirs.get(name))}, here it is {_short(ours.get(name))}"
    return None


def data_identity(rows: Rows) -> dict[str, Any]:
    """The size of a split, a digest of all its values and labels, and its augmentation if it has one."""
    x = rows.x.words if isinstance(rows.x, Bits) else rows.x
    features = rows.x.shape[1] if len(rows.x.shape) == 2 else list(rows.x.shape[1:])
    identity = {"rows": len(rows), "features": features, "digest": _digest(x, rows.y)}
    augmentation = getattr(rows, "augmentation", None)
    return identity if augmentation is None else {**identity, "augmentation": augmentation}


def describe(value: Any, depth: int = 0) -> Any:
    """Any argument as JSON values that are the same in another process."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, torch.Tensor):
        return value.item() if value.ndim == 0 else f"{value.dtype} {list(value.shape)} {_digest(value)}"
    if isinstance(value, np.ndarray):
        return describe(torch.from_numpy(value)) if value.dtype.kind in "biuf" else repr(value)
    if isinstance(value, FunctionType):
        return _function(value, depth)
    if depth >= _DEPTH:
        return type(value).__qualname__
    if isinstance(value, MethodType):
        return {"method": _function(value.__func__, depth), "of": describe(value.__self__, depth + 1)}
    if isinstance(value, functools.partial):
        return {"partial": describe([value.func, *value.args], depth + 1), **describe(value.keywords, depth + 1)}
    if isinstance(value, list | tuple):
        return [describe(entry, depth + 1) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): describe(entry, depth + 1) for name, entry in value.items()}
    if hasattr(value, "__dict__") and not isinstance(value, type):
        own = {name: entry for name, entry in vars(value).items() if name not in _SCHEDULER_STATE and entry}
        return {"class": type(value).__qualname__, **describe(own, depth + 1)}
    return getattr(value, "__qualname__", type(value).__qualname__)


def _optimizer(optimizer: optim.Optimizer, net: nn.Module) -> dict[str, Any]:
    names = {id(parameter): name for name, parameter in net.named_parameters()}
    groups = []
    for group in optimizer.param_groups:
        settings = {name: describe(value) for name, value in group.items() if name not in ("params", "initial_lr")}
        settings["lr"] = describe(group.get("initial_lr", group["lr"]))  # a scheduler has changed the other one
        own = [names.get(id(parameter), "not of this network") for parameter in group["params"]]
        groups.append(settings | {"parameters": "all" if own == list(names.values()) else own})
    return {"class": type(optimizer).__qualname__, "groups": groups}


def _loader(loader: "DataLoader[Any]") -> dict[str, Any]:
    """A DataLoader's rows cannot be looked at without reading them all, so it counts by its settings."""
    kinds = {name: type(getattr(loader, name)).__qualname__ for name in ("dataset", "sampler", "batch_sampler")}
    return {"batches": len(loader), "batch_size": loader.batch_size, "drop_last": loader.drop_last, **kinds}


def _function(function: Any, depth: int) -> Any:
    code = getattr(function, "__code__", None)
    package = (function.__module__ or "").partition(".")[0]
    if code is None or depth >= _DEPTH or package in ("torch", "hardwire"):  # their code changes with their version
        return function.__qualname__
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    values = {"defaults": function.__defaults__, "keywords": function.__kwdefaults__, "closure": cells}
    described = {name: describe(value, depth + 1) for name, value in values.items() if value}
    digest = hashlib.blake2b(_code(code), digest_size=8).hexdigest()
    return {"function": function.__qualname__, "code": digest, **described}


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _code(code: CodeType) -> bytes:
    constants = [_code(each) if isinstance(each, CodeType) else repr(each).encode() for each in code.co_consts]
    return b"|".join([code.co_code, repr(code.co_names).encode(), *constants])


def _digest(*tensors: torch.Tensor) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for tensor in tensors:
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _flat(nested: Any, prefix: str = "") -> dict[str, Any]:
    """Nested dicts and lists as one dict of dotted names."""
    if not isinstance(nested, dict | list) or not nested:
        return {prefix: nested}
    entries = nested.items() if isinstance(nested, dict) else enumerate(nested)
    flat: dict[str, Any] = {}
    for name, value in entries:
        flat |= _flat(value, f"{prefix}.{name}" if prefix else str(name))
    return flat


def _short(value: Any) -> str:
    if isinstance(value, str) and value.isprintable() and len(value) <= 80:
        return value
    return "not set" if value is None else shown(value)
