"""What `fit` is fed with: a dataset, arrays, or a DataLoader, as batches to train on and rows to measure on.

Surprising: which rows are measured is told by name, because a choice (the best evaluation, when to stop) may be made on
validation rows and never on the test set.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from hardwire.bits import Bits, Encoder
from hardwire.data.arrays import Reading
from hardwire.data.dataset import SHARE, Dataset, Rows
from hardwire.errors import HardwireError
from hardwire.training.history import VALIDATION
from hardwire.training.order import BatchOrder


@dataclass
class Feed:
    """batch: number -> (x, y), the training batches in order. train: their rows, None of a DataLoader. rows: measured,
    under the name `split`. epoch: batches that make up one pass over the training rows."""

    batch: Callable[[int], tuple[Any, Any]]
    train: Rows | None
    rows: Rows
    split: str
    epoch: float
    encoder: Encoder | None = None


def feed(data: Any, validation: Any, batch_size: int, seed: int, gates: bool) -> Feed:
    """The batches and measured rows of `data`, as `fit` documents them. gates: arrays are read as files of them are."""
    if isinstance(data, DataLoader):
        return _from_loader(data, validation)
    splits, encoder = _splits(data, validation, gates)
    train, rows, split = _measured(splits, validation)
    order = BatchOrder(len(train), batch_size, seed)
    epoch = len(train) / batch_size
    return Feed(lambda number: train.batch(order.indices(number)), train, rows, split, epoch, encoder)


def _splits(data: Any, validation: Any, gates: bool) -> tuple[dict[str, Rows], Encoder | None]:
    """The rows that are there: "train", "test" and "validation" if they were given."""
    if hasattr(data, "train") and hasattr(data, "test"):
        data = data.with_validation() if validation is True and isinstance(data, Dataset) else data
        given = {"train": data.train, "test": data.test, "validation": getattr(data, "held_out", None)}
    else:
        given = _arrays(data)
    if not (validation is None or isinstance(validation, bool | float)):
        given["validation"] = validation
        if _x(validation) is _x(given.get("test")):
            raise HardwireError("the test set is not for validation; use validation=True for a part of train")
    given = {name: part for name, part in given.items() if part is not None}
    encoder = getattr(data, "encoder", None)
    if gates and not any(isinstance(_x(part), Bits) or isinstance(part, Rows) for part in given.values()):
        pairs = {name: (_array(x), _array(y)) for name, (x, y) in given.items()}
        reading = Reading({name: x for name, (x, _) in pairs.items()})
        return {name: reading.split(name, y) for name, (_, y) in pairs.items()}, reading.encoder
    return {name: _rows(part) for name, part in given.items()}, encoder


def _arrays(data: Any) -> dict[str, Any]:
    if isinstance(data, Rows):
        return {"train": data}
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise HardwireError(
            f"fit takes a dataset, a pair (X, y), two such pairs, or a DataLoader, not {type(data).__name__}"
        )
    if all(isinstance(part, tuple | Rows) for part in data):
        return {"train": data[0], "test": data[1]}
    return {"train": data}


def _measured(splits: dict[str, Rows], validation: Any) -> tuple[Rows, Rows, str]:
    """The rows to train on, the rows to measure, and the name of these."""
    train = splits["train"]
    if validation is None or validation is False:
        name = "test" if "test" in splits else "train"
        return train, splits[name], name
    if VALIDATION in splits and not isinstance(validation, float):
        return train, splits[VALIDATION], VALIDATION
    return *train.hold_out(SHARE if validation is True else validation), VALIDATION


def _from_loader(loader: "DataLoader[Any]", validation: Any) -> Feed:
    if validation is None or isinstance(validation, bool | float):
        raise HardwireError("a DataLoader has no rows to measure on; give them, for example validation=data.validation")
    batches = _endless(loader)
    return Feed(lambda number: next(batches), None, _rows(validation), VALIDATION, len(loader))


def _endless(loader: "DataLoader[Any]") -> Iterator[tuple[Any, Any]]:
    while True:
        empty = True
        for x, y in loader:
            empty = False
            yield x, y
        if empty:
            raise HardwireError("the DataLoader gives no batch")


def _x(part: Any) -> Any:
    """The x of rows or of a pair, or an object that is like no other."""
    return part.x if hasattr(part, "x") else part[0] if isinstance(part, tuple | list) else object()


def _rows(part: Any) -> Rows:
    x, y = part if isinstance(part, tuple | list) and len(part) == 2 else (part.x, part.y)
    rows = part if isinstance(part, Rows) else Rows(x if isinstance(x, Bits) else _tensor(x), _tensor(y))
    if len(rows.x) != len(rows.y):
        raise HardwireError(f"{len(rows.x)} rows of x but {len(rows.y)} of y; each row needs one target")
    if len(rows) == 0:
        raise HardwireError("the dataset is empty; training and evaluation need at least one row each")
    return rows


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values


def _tensor(values: Any) -> torch.Tensor:
    tensor = values if isinstance(values, torch.Tensor) else torch.as_tensor(np.asarray(values))
    return tensor.float() if tensor.dtype == torch.float64 else tensor  # numpy's default; networks are float32
