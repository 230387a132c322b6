"""A user's own data: an .npz file with x_train, y_train, x_test and y_test, and optionally thresholds.

The values of x decide how it is read (the table is in docs/data.md). Surprising: both splits decide together, so a
test split that happens to hold only 0 and 1 does not turn into bits when the training split is continuous.
"""

import zipfile
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import torch

from hardwire.bits import Bits, Encoder
from hardwire.data.dataset import Dataset, Split
from hardwire.errors import HardwireError

_NEEDED = ("x_train", "y_train", "x_test", "y_test")
_UNREADABLE = (  # what numpy and zipfile raise on files that are broken, pickled, encrypted or not .npz at all
    OSError,
    ValueError,
    EOFError,
    TypeError,
    RuntimeError,
    MemoryError,
    zlib.error,
    zipfile.BadZipFile,
)


def load_npz(path: Path) -> Dataset:
    """The dataset of an .npz file; nothing in the file can run code."""
    arrays = _read(path, (*_NEEDED, "thresholds"))
    train, test = (_checked_x(path, name, arrays[name]) for name in ("x_train", "x_test"))
    if train.shape[1:] != test.shape[1:]:
        raise HardwireError(
            f"{path}: rows of x_train are {train.shape[1:]} and of x_test {test.shape[1:]}, not the same"
        )
    image_shape = train.shape[1:] if train.ndim > 2 else None
    train, test = _flat(train), _flat(test)
    labels = {name: _checked_y(path, name, arrays[name]) for name in ("y_train", "y_test")}
    encoder, maximum = _reading(path, train, test, arrays.get("thresholds"))
    return Dataset(
        name=path.stem,
        train=_split(path, "x_train", train, labels["y_train"], encoder, maximum),
        test=_split(path, "x_test", test, labels["y_test"], encoder, maximum),
        classes=1 + max(int(y.max()) for y in labels.values()),
        encoder=encoder,
        image_shape=image_shape,
        read_raw=partial(_read_raw, path),
    )


def _read(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Those arrays of the file that it has; the four that every file needs must be there if asked for."""
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name in _NEEDED and name not in file]
            arrays = {name: file[name] for name in names if name in file} if not missing else {}
    except FileNotFoundError as error:
        raise HardwireError(f"there is no file {path}") from error
    except _UNREADABLE as error:
        raise HardwireError(
            f"cannot read {path} as an .npz of plain arrays: {error}; write it with "
            "np.savez(path, x_train=..., y_train=..., x_test=..., y_test=...)"
        ) from error
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise HardwireError(f"{path} holds members that are not numpy arrays; write it with np.savez")
    if missing:
        raise HardwireError(f"{path} lacks {', '.join(missing)}; it needs {', '.join(_NEEDED)}")
    return arrays


def _read_raw(path: Path, split: str) -> np.ndarray:
    name = f"x_{split}"
    return _flat(_checked_x(path, name, _read(path, (name,))[name]))


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1)


def _checked_x(path: Path, name: str, x: np.ndarray) -> np.ndarray:
    if x.ndim < 2 or x.dtype.kind not in "buif":
        raise HardwireError(
            f"{path}: {name} must be numbers [rows, features] or [rows, height, width], not {x.dtype} {list(x.shape)}"
        )
    if x.size == 0:
        raise HardwireError(f"{path}: {name} of shape {list(x.shape)} is empty; give at least one row and one feature")
    return x


def _checked_y(path: Path, name: str, y: np.ndarray) -> torch.Tensor:
    if y.ndim != 1 or y.dtype.kind not in "bui" or y.size == 0:
        raise HardwireError(
            f"{path}: {name} must be one integer for each row, counted from 0, not {y.dtype} {list(y.shape)}"
        )
    low, high = int(y.min()), int(y.max())
    if low < 0 or high > np.iinfo(np.int32).max:
        raise HardwireError(f"{path}: label {low if low < 0 else high} of {name} is out of range; labels count from 0")
    return torch.from_numpy(y.astype(np.int64))


def _reading(path: Path, train: np.ndarray, test: np.ndarray, thresholds) -> tuple[Encoder, float | None]:
    """How x is read: the encoder, and the value that stands for 1 where x is continuous (None: x becomes bits)."""
    features, both = train.shape[1], (train, test)
    if thresholds is not None:
        return _own_encoder(path, thresholds, features), None
    if all(_only_0_and_1(x) for x in both):
        return _halfway(features, 1), None
    if all(x.dtype.kind == "f" for x in both):
        return _halfway(features, 1), 1
    if all(x.dtype == np.uint8 for x in both) and train.max() > 127:
        return _halfway(features, 255), 255
    raise HardwireError(
        f"{path}: x_train is {train.dtype} up to {train.max()}, x_test {test.dtype} up to {test.max()}; give both "
        "as 0 and 1, as floats in [0, 1], as uint8 images up to 255, or add an array `thresholds` [features, levels]"
    )


def _own_encoder(path: Path, thresholds: np.ndarray, features: int) -> Encoder:
    if thresholds.dtype.kind not in "buif" or thresholds.ndim != 2 or thresholds.shape[0] != features:
        raise HardwireError(
            f"{path}: thresholds must be numbers [{features}, levels], one row for each feature of x, "
            f"not {thresholds.dtype} {list(thresholds.shape)}"
        )
    return Encoder(thresholds)


def _halfway(features: int, maximum: float) -> Encoder:
    return Encoder.uniform(features, 1, maximum)


def _only_0_and_1(x: np.ndarray) -> bool:
    return x.dtype == np.bool_ or bool(((x == 0) | (x == 1)).all())


def _split(path: Path, name: str, x: np.ndarray, y: torch.Tensor, encoder: Encoder, maximum: float | None) -> Split:
    try:
        if maximum is None:
            x = x.view(np.uint8) if x.dtype == np.bool_ else x  # bytes are encoded without a detour over floats
            return Split(Bits.from_numpy(encoder.encode(x), encoder.features), y)
        return Split(torch.from_numpy(x.astype(np.float32) / np.float32(maximum)), y)
    except HardwireError as error:
        raise HardwireError(f"{path}: {name}: {error}") from error
