"""A user's own arrays as network inputs; their values decide how they are read (docs/data.md has the rules).

Surprising: all splits are read the same way, so a test split that happens to hold only 0 and 1 does not become bits
when the training split is continuous.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from hardwire.bits import Bits, Encoder
from hardwire.bits.units import kind_of
from hardwire.data.dataset import Dataset
from hardwire.data.rows import SequenceSplit, Split
from hardwire.errors import HardwireError


def from_arrays(
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    validation: tuple[Any, Any] | None = None,
    thresholds: Any = None,
    name: str = "arrays",
) -> Dataset:
    """Makes a dataset of your own arrays, read exactly as an .npz file of the same arrays.

    Args:
        train: Pair (x, y) of arrays, or anything that numpy turns into them. x is [rows, features] or [rows, height,
            width] and holds 0 and 1, floats in [0, 1], uint8 images, or any numbers if `thresholds` are given; y is
            one integer per row, counted from 0; or for sequences [rows, steps, bits] one after each step, [rows,
            steps], of which the last is the label of the row.
        test: The same for the test set.
        validation: The same for validation rows of your own.
        thresholds: Numbers [features, levels] in the units of x. Bit r * levels + l of a row is
            x[r] > thresholds[r, l].
        name: Name of the dataset in messages and model files.

    Returns:
        The dataset.

    Raises:
        HardwireError: If shapes do not fit, or the values need thresholds.

    Example:
        >>> import numpy as np
        >>> import hardwire as hw
        >>> x = np.random.default_rng(0).integers(0, 2, (100, 8))
        >>> data = hw.data.from_arrays((x[:80], x[:80, 0]), (x[80:], x[80:, 0]))
        >>> data.inputs, data.classes
        (8, 2)
    """
    pairs = {"train": train, "test": test} | ({} if validation is None else {"validation": validation})
    reader = ArrayReader({split: x for split, (x, _) in pairs.items()}, thresholds)
    splits = {split: reader.split(split, y) for split, (_, y) in pairs.items()}
    return Dataset(
        name=name,
        train=splits["train"],
        test=splits["test"],
        held_out=splits.get("validation"),
        classes=1 + max(int(getattr(split, "step_labels", split.y).max()) for split in splits.values()),
        encoder=reader.encoder,
        image_shape=reader.image_shape,
        read_raw=reader.raw,
    )


class ArrayReader:
    """Reads the x of all splits in the same way.

    raws: numbers [rows, ...] by split. encoder: thresholds in their units. image_shape: the shape of a row, if it has
    more than one axis.
    """

    def __init__(self, raws: Mapping[str, Any], thresholds: Any = None):
        self.raws = {split: flat_rows(x, f"x_{split}") for split, x in raws.items()}
        shapes = {split: np.shape(x)[1:] for split, x in raws.items()}
        (first, shape), *others = shapes.items()
        for split, other in others:
            if other != shape:
                raise HardwireError(f"rows of x_{first} are {shape} and of x_{split} {other}, not the same")
        self.image_shape = shape if len(shape) > 1 else None
        self.encoder, self._maximum = self._choose(None if thresholds is None else np.asarray(thresholds))

    def raw(self, split: str) -> np.ndarray:
        """The values as they were given, [rows, features]."""
        return self.raws[split]

    def split(self, split: str, y: Any) -> Split:
        """The rows of a split with their labels."""
        labels = _labels(y, f"y_{split}", self.image_shape)
        try:
            inputs = self._inputs(self.raws[split])
            if labels.ndim == 2:
                return SequenceSplit(inputs, labels[:, -1].contiguous(), labels)
            return Split(inputs, labels)
        except HardwireError as error:
            raise HardwireError(f"x_{split}: {error}") from error

    def _inputs(self, raw: np.ndarray) -> Bits | torch.Tensor:
        """The inputs of the network: bits, or floats in [0, 1]."""
        if self._maximum is None:
            raw = raw.view(np.uint8) if raw.dtype == np.bool_ else raw  # no detour over floats
            if not np.isfinite(raw).all():
                raise HardwireError("raw values must be finite numbers, without NaN or infinity")
            return Bits.from_numpy(self.encoder.encode(raw), self.encoder.features)
        return torch.from_numpy(raw.astype(np.float32) / np.float32(self._maximum))

    def _choose(self, thresholds: np.ndarray | None) -> tuple[Encoder, float | None]:
        """The encoder, and the value that becomes 1.0 if x is continuous (None: x becomes bits)."""
        all_x = list(self.raws.values())
        features = all_x[0].shape[1]
        if thresholds is not None:
            return _own_encoder(thresholds, features, all_x), None
        if all(_only_0_and_1(x) for x in all_x):
            return Encoder.uniform(features, 1, 1, "bits"), None
        if all(x.dtype.kind == "f" for x in all_x):
            return Encoder.uniform(features, 1, 1), 1
        if all(x.dtype == np.uint8 for x in all_x) and all_x[0].max() > 127:
            return Encoder.uniform(features, 1, 255), 255
        contents = ", ".join(f"x_{split} is {x.dtype} up to {x.max()}" for split, x in self.raws.items())
        raise HardwireError(
            f"{contents}; give all as 0 and 1, as floats in [0, 1], as uint8 images up to 255, or add an array "
            "`thresholds` [features, levels]"
        )


def flat_rows(x: Any, name: str) -> np.ndarray:
    """An array of two or more axes as numbers [rows, features]; it must not be empty."""
    x = np.ascontiguousarray(x)
    if x.ndim < 2 or x.dtype.kind not in "buif":
        raise HardwireError(
            f"{name} must be numbers [rows, features] or [rows, height, width], not {x.dtype} {list(x.shape)}"
        )
    if x.size == 0:
        raise HardwireError(f"{name} of shape {list(x.shape)} is empty; give at least one row and one feature")
    rows: np.ndarray = x.reshape(len(x), -1)
    return rows


def _labels(y: Any, name: str, shape: tuple[int, ...] | None) -> torch.Tensor:
    """Whole numbers as labels, int64 [rows], or [rows, steps] where a row of x has the shape [steps, ...]."""
    y = np.asarray(y)
    of_steps = shape is not None and y.ndim == 2 and y.shape[1] == shape[0]
    if not (y.ndim == 1 or of_steps) or y.dtype.kind not in "bui" or y.size == 0:
        steps = "" if shape is None else f", or one after each of the {shape[0]} steps of a row"
        raise HardwireError(f"{name} must be one integer per row, counted from 0{steps}, not {y.dtype} {list(y.shape)}")
    low, high = int(y.min()), int(y.max())
    if low < 0 or high > np.iinfo(np.int32).max:
        raise HardwireError(f"label {low if low < 0 else high} of {name} is out of range; labels are counted from 0")
    return torch.from_numpy(y.astype(np.int64))


def _own_encoder(thresholds: np.ndarray, features: int, all_x: list[np.ndarray]) -> Encoder:
    if thresholds.dtype.kind not in "buif" or thresholds.ndim != 2 or thresholds.shape[0] != features:
        raise HardwireError(
            f"thresholds must be numbers [{features}, levels], one row for each feature of x, "
            f"not {thresholds.dtype} {list(thresholds.shape)}"
        )
    kinds = {kind_of(x) for x in all_x}
    return Encoder(thresholds, kinds.pop() if len(kinds) == 1 else "floats")


def _only_0_and_1(x: np.ndarray) -> bool:
    return x.dtype == np.bool_ or bool(((x == 0) | (x == 1)).all())
