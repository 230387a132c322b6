"""A user's own data in a file: an .npz with x_train, y_train, x_test and y_test, and optionally x_validation,
y_validation and thresholds. Surprising: the arrays are not kept; raw values are read again from the file."""

import zipfile
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from hardwire.data.arrays import flat_rows, from_arrays
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError

_NEEDED = ("x_train", "y_train", "x_test", "y_test")
_OPTIONAL = ("x_validation", "y_validation", "thresholds")
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
    arrays = _read(path, (*_NEEDED, *_OPTIONAL))
    train, test = ((arrays[f"x_{split}"], arrays[f"y_{split}"]) for split in ("train", "test"))
    validation = (arrays["x_validation"], arrays["y_validation"]) if "x_validation" in arrays else None
    try:
        data = from_arrays(train, test, validation, arrays.get("thresholds"), path.stem)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None
    return replace(data, read_raw=partial(_read_raw, path))


def _read(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Those arrays of the file that it has; the four that every file needs must be there if asked for."""
    try:
        with np.load(path, allow_pickle=False) as file:
            needed = (*_NEEDED, *(("y_validation",) if "x_validation" in file else ()))
            missing = [name for name in names if name in needed and name not in file]
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
        raise HardwireError(f"{path} lacks {', '.join(missing)}; it needs {', '.join(needed)}")
    return arrays


def _read_raw(path: Path, split: str) -> np.ndarray:
    name = f"x_{split}"
    return flat_rows(_read(path, (name,))[name], name)
