"""Tables, .csv and .parquet, as datasets: one column is the target, fitted thresholds turn the others into bits.

Surprising: the rows are shuffled, always in the same order, because tables are often sorted; a fifth of them is the
test set.
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from hardwire.bits import Bits, Columns, Encoder
from hardwire.data.dataset import Dataset
from hardwire.data.frames import Where, raw_values, read_frame, warn_of_numbers
from hardwire.data.rows import NumberSplit, Split
from hardwire.data.table_options import DEFAULT_OPTIONS, TableOptions
from hardwire.data.targets import Range, Values, as_written, labels_of, read_target
from hardwire.errors import HardwireError, unknown_name

LEVELS = 16  # thresholds per column
TEST = 0.2  # share of the rows


class TableModel(Protocol):
    """A network or a circuit that was trained on a table."""

    encoder: Encoder | None
    columns: Columns | None


def load_table(
    path: Path,
    target: str | None = None,
    levels: int | None = None,
    like: TableModel | None = None,
    whole: bool = False,
    options: TableOptions = DEFAULT_OPTIONS,
) -> Dataset:
    """Loads the dataset of a table.

    target: the column to predict. levels: thresholds of each other column. like: a model whose thresholds, columns and
    labels are used instead of new ones. whole: use all rows as the test set. options: how the file is read.
    """
    known = None if like is None else like.columns
    options = options if known is None else options.after(known.reading)
    frame = read_frame(path, options)
    target = target or (known.target if known else None)
    if target is None:
        raise HardwireError(
            f"{path} is a table, so it needs the column to predict: {path}#COLUMN, or --target COLUMN; its columns are "
            f"{_listed(frame.columns)}"
        )
    if target not in frame.columns:
        raise unknown_name(f"column of {path}", target, map(str, frame.columns))
    if len(frame.columns) < 2:
        raise HardwireError(f"{path} has no column besides {target}, so there is nothing to predict it from")
    x, y, where = frame.drop(columns=target), frame[target], Where(path, options)
    try:
        if known is not None and like is not None and like.encoder is not None:
            known = known.with_policies(options.missing, options.unknown)
            return _dataset(
                path, known, raw_values(known, x, where), labels_of(y, known, where), like.encoder, None, whole
            )
        values, labels, number = read_target(y, where)
        labels = as_written(path, target, options, labels)
        policies = {name: value for name in ("missing", "unknown") if (value := getattr(options, name)) is not None}
        columns = Columns.of(x, target=target, labels=labels, reading=options.written(), **policies)
        warn_of_numbers(columns, x)
        return _dataset(path, columns, raw_values(columns, x, where), values, levels or LEVELS, number, whole)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def _dataset(
    path: Path, columns: Columns, x: Values, y: Values, code: Encoder | int, number: Range | None, whole: bool
) -> Dataset:
    """code: the encoder, or the number of thresholds to fit."""
    order = np.random.default_rng(0).permutation(len(x))
    count = max(1, round(len(x) * TEST))
    rows = {"train": order[count:], "test": order if whole else order[:count]}
    if not len(rows["train"]):
        raise HardwireError("one row is too few to train and to test on")
    encoder = code
    if not isinstance(encoder, Encoder):
        encoder = Encoder.fit(x[rows["train"]], encoder, **columns.encoding(), names=columns.names)
    kind = Split if columns.labels is not None else NumberSplit
    splits = {name: kind(_bits(encoder, x[part]), torch.from_numpy(y[part])) for name, part in rows.items()}
    return Dataset(
        name=path.stem,
        train=splits["train"],
        test=splits["test"],
        classes=1 if columns.labels is None else len(columns.labels),
        encoder=encoder,
        columns=columns,
        number=number or (None if columns.labels is not None else (float(y.min()), float(y.max()) + 1)),
        read_raw=lambda split: x[rows[split]],
    )


def _bits(encoder: Encoder, x: npt.NDArray[Any]) -> Bits:
    return Bits.from_numpy(encoder.encode(x), encoder.features)


def _listed(names: Any, most: int = 20) -> str:
    """Names in words, not more than fit on a few lines."""
    texts = [str(name)[:80] for name in names]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most:,} more" if len(texts) > most else "")
