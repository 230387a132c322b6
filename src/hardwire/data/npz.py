"""A user's own data in a file: an .npz with x_train, y_train, x_test and y_test, and optionally x_validation,
y_validation and thresholds.

The file may come from a stranger: what it unpacks to is computed and bounded before anything is read. Surprising: the
arrays are not kept; raw values are read again from the file.
"""

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from hardwire.data.arrays import flat_rows, from_arrays
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError

_NEEDED = ("x_train", "y_train", "x_test", "y_test")
_OPTIONAL = ("x_validation", "y_validation", "thresholds")
_MOST_DIRECTORY = 1 << 20  # bytes of the list of members; each takes ten times as much in memory
_FREE_BYTES = 1 << 28  # what a small file may unpack to
_MOST_RATIO = 100  # what a larger file may unpack to, as a multiple of its size
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def load_npz(path: Path) -> Dataset:
    """Loads the dataset of an .npz file; nothing in the file can run code."""
    arrays = _read(path, (*_NEEDED, *_OPTIONAL))
    train, test = ((arrays[f"x_{split}"], arrays[f"y_{split}"]) for split in ("train", "test"))
    validation = (arrays["x_validation"], arrays["y_validation"]) if "x_validation" in arrays else None
    try:
        data = from_arrays(train, test, validation, arrays.get("thresholds"), path.stem)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None
    return replace(data, read_raw=partial(_read_raw, path))


def _read(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Reads the arrays of these names that are in the file; those that every file needs must be there if asked for."""
    with _opened(path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        needed = (*_NEEDED, *(("y_validation",) if "x_validation" in members else ()))
        if missing := [name for name in names if name in needed and name not in members]:
            raise HardwireError(f"{path} lacks {', '.join(missing)}; it needs {', '.join(needed)}")
        wanted = {name: members[name] for name in names if name in members}
        _check_size(path, list(wanted.values()))
        return {name: _array(archive, member) for name, member in wanted.items()}


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive of a file; whatever zipfile and numpy raise on damaged or hostile bytes is one line."""
    try:
        with path.open("rb") as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                yield archive
    except HardwireError:
        raise
    except FileNotFoundError:
        raise HardwireError(f"there is no file {path}") from None
    except Exception as error:
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise HardwireError(
            f"cannot read {path} as an .npz of plain arrays: {reason}; write it with "
            "np.savez(path, x_train=..., y_train=..., x_test=..., y_test=...)"
        ) from error


def _check_directory(file: IO[bytes]) -> None:
    """Refuses a list of members so long that zipfile would fill the memory with it."""
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # not documented, but there is no other way to know
    if end is not None and end[zipfile._ECD_SIZE] > _MOST_DIRECTORY:  # type: ignore[attr-defined]
        raise ValueError(f"its list of members takes {end[5]:,} bytes")


def _check_size(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuses what unpacks to far more than the file holds."""
    size = path.stat().st_size
    unpacked, limit = sum(member.file_size for member in members), max(_FREE_BYTES, _MOST_RATIO * size)
    if unpacked > limit:
        raise HardwireError(
            f"{path} has {size:,} bytes and unpacks to {unpacked:,}, more than the limit of {limit:,}; if you trust "
            "it, write it again with np.savez instead of np.savez_compressed"
        )


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Reads a member, whose header must agree with its size."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{member.filename} is compressed in a way that numpy does not use")
    with archive.open(member) as file:
        version = npy.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename} has version {version} of the .npy format")
        shape, _, dtype = _HEADERS[version](file)
        header = file.tell()
    if dtype.hasobject:
        raise ValueError(f"{member.filename} holds Python objects")
    if min(shape, default=0) < 0 or header + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(f"{member.filename} declares {dtype} {list(shape)[:8]}, which is not its size")
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def _read_raw(path: Path, split: str) -> np.ndarray:
    name = f"x_{split}"
    return flat_rows(_read(path, (name,))[name], name)
