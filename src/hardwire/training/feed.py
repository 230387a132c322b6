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
from hardwire.data.dataset import Rows
from hardwire.errors import HardwireError
from hardwire.training.history import VALIDATION
from hardwire.training.order import BatchOrder

SHARE = 1 / 6  # of the training rows that validation takes where no number is given: 10,000 of MNIST's 60,000


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


def feed(data: Any, validation: Any, batch_size: int, seed: int) -> Feed:
    """The batches and measured rows of `data`, as `fit` documents them."""
    if isinstance(data, DataLoader):
        return _from_loader(data, validation)
    train, test = _train_and_test(data)
    train, rows, split = _measured(train, test, validation)
    _check_any(train, rows)
    order = BatchOrder(len(train), batch_size, seed)
    epoch = len(train) / batch_size
    return Feed(lambda number: train.batch(order.indices(number)), train, rows, split, epoch, _encoder(data))


def _train_and_test(data: Any) -> tuple[Rows, Rows | None]:
    if hasattr(data, "train") and hasattr(data, "test"):
        return _rows(data.train), _rows(data.test)
    if isinstance(data, Rows):
        return data, None
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise HardwireError(
            f"fit takes a dataset, a pair (X, y), two such pairs, or a DataLoader, not {type(data).__name__}"
        )
    if all(isinstance(part, tuple | Rows) for part in data):
        return _rows(data[0]), _rows(data[1])
    return _rows(data), None


def _measured(train: Rows, test: Rows | None, validation: Any) -> tuple[Rows, Rows, str]:
    """The rows to train on, the rows to measure, and the name of these."""
    if validation is None or validation is False:
        return (train, train, "train") if test is None else (train, test, "test")
    if validation is True:
        validation = SHARE
    if not isinstance(validation, float):
        rows = _rows(validation)
        if test is not None and rows.x is test.x:
            raise HardwireError("the test set is not for validation; use validation=True for a part of train")
        return train, rows, VALIDATION
    if not 0 < validation < 1:
        raise HardwireError(f"validation={validation} is not a share of the training rows; use one such as 0.2")
    start = len(train) - max(1, int(len(train) * validation))
    first, last = (Rows(*train.batch(part)) for part in (slice(start), slice(start, None)))
    return first, last, VALIDATION


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


def _rows(pair: Any) -> Rows:
    if isinstance(pair, Rows):
        return pair
    x, y = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (pair.x, pair.y)
    return Rows(x if isinstance(x, Bits) else _tensor(x), _tensor(y))


def _tensor(values: Any) -> torch.Tensor:
    tensor = values if isinstance(values, torch.Tensor) else torch.as_tensor(np.asarray(values))
    if tensor.dtype == torch.float64:
        return tensor.float()  # numpy's default; networks are float32
    return tensor


def _check_any(*splits: Rows) -> None:
    for rows in splits:
        if len(rows.x) != len(rows.y):
            raise HardwireError(f"{len(rows.x)} rows of x but {len(rows.y)} of y; each row needs one target")
        if len(rows) == 0:
            raise HardwireError("the dataset is empty; training and evaluation need at least one row each")


def _encoder(data: Any) -> Encoder | None:
    return getattr(data, "encoder", None)
