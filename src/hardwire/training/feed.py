"""Turns what `fit` is given (a dataset, arrays, or a DataLoader) into training batches and evaluation rows.

Surprising: the evaluation rows have a name, because a selection (of the best evaluation, of when to stop) may be made
on validation rows and never on the test set.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from hardwire.bits import Bits, Encoder
from hardwire.data.arrays import ArrayReader
from hardwire.data.dataset import Dataset
from hardwire.data.rows import VALIDATION_SHARE, Rows
from hardwire.errors import HardwireError
from hardwire.training.history import VALIDATION
from hardwire.training.order import BatchOrder


@dataclass
class Feed:
    """Training batches and evaluation rows.

    Attributes:
        batch: Function from the number of a batch to its (x, y).
        train: The training rows; None for a DataLoader.
        rows: The evaluation rows.
        split: Name of the evaluation rows: "validation", "test" or "train".
        epoch: Batches in one pass over the training rows.
        encoder: How raw values become bits, if that is known.
    """

    batch: Callable[[int], tuple[Any, Any]]
    train: Rows | None
    rows: Rows
    split: str
    epoch: float
    encoder: Encoder | None = None


def make_feed(data: Any, validation: Any, batch_size: int, seed: int, encode: bool) -> Feed:
    """The batches and evaluation rows of `data`, as `fit` documents them; with `encode` arrays are turned into bits."""
    if isinstance(data, DataLoader):
        return _from_loader(data, validation)
    splits, encoder = _splits(data, validation, encode)
    train, rows, split = _evaluation_rows(splits, validation)
    order = BatchOrder(len(train), batch_size, seed)
    epoch = len(train) / batch_size
    return Feed(lambda number: train.batch(order.indices(number)), train, rows, split, epoch, encoder)


def _splits(data: Any, validation: Any, encode: bool) -> tuple[dict[str, Rows], Encoder | None]:
    """The rows by name: "train", and "test" and "validation" if they were given."""
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
    if encode and not any(isinstance(_x(part), Bits) or isinstance(part, Rows) for part in given.values()):
        pairs = {name: (_array(x), _array(y)) for name, (x, y) in given.items()}
        reader = ArrayReader({name: x for name, (x, _) in pairs.items()})
        return {name: reader.split(name, y) for name, (_, y) in pairs.items()}, reader.encoder
    return {name: _rows(part) for name, part in given.items()}, encoder


def _arrays(data: Any) -> dict[str, Any]:
    if isinstance(data, Rows):
        return {"train": data}
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise HardwireError(
            f"fit trains on a dataset, a pair (X, y), two such pairs, or a DataLoader, not on a {type(data).__name__}"
        )
    if all(isinstance(part, tuple | Rows) for part in data):
        return {"train": data[0], "test": data[1]}
    return {"train": data}


def _evaluation_rows(splits: dict[str, Rows], validation: Any) -> tuple[Rows, Rows, str]:
    """The training rows, the evaluation rows, and the name of the latter."""
    train = splits["train"]
    if validation is None or validation is False:
        name = "test" if "test" in splits else "train"
        return train, splits[name], name
    if VALIDATION in splits and not isinstance(validation, float):
        return train, splits[VALIDATION], VALIDATION
    return *train.hold_out(VALIDATION_SHARE if validation is True else validation), VALIDATION


def _from_loader(loader: "DataLoader[Any]", validation: Any) -> Feed:
    if validation is None or isinstance(validation, bool | float):
        raise HardwireError("a DataLoader has no evaluation rows; give them, for example validation=data.validation")
    batches = _endless(loader)
    return Feed(lambda number: next(batches), None, _rows(validation), VALIDATION, len(loader))


def _endless(loader: "DataLoader[Any]") -> Iterator[tuple[Any, Any]]:
    while True:
        empty = True
        for x, y in loader:
            empty = False
            yield x, y
        if empty:
            raise HardwireError("the DataLoader is empty; it must yield at least one batch")


def _x(part: Any) -> Any:
    """The x of rows or of a pair; for anything else an object that equals no other."""
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
    if not isinstance(values, torch.Tensor):
        return values
    values = values.detach().cpu()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()  # numpy has no bfloat16


def _tensor(values: Any) -> torch.Tensor:
    tensor = values if isinstance(values, torch.Tensor) else torch.as_tensor(np.asarray(values))
    return tensor.float() if tensor.dtype == torch.float64 else tensor  # numpy's default; networks are float32
