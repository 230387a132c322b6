"""Files of named arrays and a few strings, in safetensors: the one format of models, checkpoints and circuits.

A file states its kind and version, and carries a digest of everything in it, because safetensors itself would not
notice a flipped bit. The digest detects damage, not malice: anybody can compute one. So whoever reads a file must still
check what it says. Surprising: the same content always makes the same bytes, for which the header has to be sorted;
safetensors writes the strings in random order.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hardwire.errors import HardwireError
from hardwire.files.whole import write_whole

Path_: TypeAlias = str | os.PathLike[str]
Arrays: TypeAlias = dict[str, NDArray[Any]]
MOST_TEXT = 1 << 24  # bytes of a header; parsed JSON takes some twenty times as much
_LENGTH = 8  # bytes of the header's length, at the start of a file


def write(path: Path_, kind: str, version: int, arrays: Mapping[str, NDArray[Any]], fields: Mapping[str, str]) -> None:
    """Writes arrays and strings to `path`, whole or not at all; the same content makes the same bytes."""
    contiguous = {name: np.array(array, order="C", copy=None) for name, array in arrays.items()}
    metadata = {**fields, "format": kind, "version": str(version)}
    metadata.pop("digest", None)
    metadata["digest"] = digest_of(contiguous, metadata)
    content = _with_sorted_header(save(contiguous, metadata))
    if int.from_bytes(content[:_LENGTH], "little") > MOST_TEXT:
        raise HardwireError(f"cannot write {path}: its header would be larger than {MOST_TEXT >> 20} MB")
    write_whole(path, content)


def read(path: Path_, kind: str, version: int) -> tuple[Arrays, dict[str, str]]:
    """Reads the arrays and strings of an undamaged file of this kind and version; its digest is one of the strings.

    Raises:
        HardwireError: There is no such file, it is damaged, or it is of another kind or version.
    """
    path = Path(path).expanduser()
    try:
        _check_header_size(path)
        with safe_open(path, framework="np") as file:
            metadata = dict(file.metadata() or {})
            _check_kind(path, metadata, kind, version)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise HardwireError(f"there is no file {path}") from None
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, KeyError, TypeError, AttributeError) as error:  # the latter for types that numpy lacks
        raise HardwireError(f"{path} is not a {kind} file, or it was cut short ({error})") from None
    if metadata.get("digest") != digest_of(arrays, {name: metadata[name] for name in metadata if name != "digest"}):
        raise HardwireError(f"{path} is damaged: its contents do not match its digest; restore it from a copy")
    return arrays, metadata


def kind_of(path: Path_) -> str | None:
    """The kind that a file of this format states; None for any other file."""
    try:
        _check_header_size(Path(path).expanduser())
        with safe_open(Path(path).expanduser(), framework="np") as file:
            return (file.metadata() or {}).get("format")
    except (OSError, SafetensorError, HardwireError):
        return None


def digest_of(arrays: Mapping[str, NDArray[Any]], fields: Mapping[str, str]) -> str:
    """A digest of names, types, shapes and contents: 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for name, text in sorted(fields.items()):
        digest.update(f"{name}={len(text)}:{text}".encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}:{array.dtype.str}{list(array.shape)}".encode())
        digest.update(np.array(array, order="C", copy=None).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _with_sorted_header(content: bytes) -> bytes:
    """A safetensors file with the entries of its header in order, padded to whole words as the format has it."""
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header = json.dumps(json.loads(content[_LENGTH:end]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(_LENGTH, "little") + header + content[end:]


def _check_header_size(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise HardwireError(f"cannot read {path}: it is not a regular file")
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
    if MOST_TEXT < length <= path.stat().st_size:  # a longer one than the file is cut short, and safetensors says so
        raise HardwireError(f"cannot read {path}: its header is larger than {MOST_TEXT >> 20} MB")


def _check_kind(path: Path, metadata: Mapping[str, str], kind: str, version: int) -> None:
    stated = metadata.get("format")
    if stated != kind:
        raise HardwireError(f"{path} is a {stated or 'safetensors file of another program'}, not a {kind}")
    number = metadata.get("version", "")
    if number == str(version):
        return
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise HardwireError(f"{path} has no readable version ({number!r:.40}); it is damaged")
    way_out = "upgrade hardwire" if int(number) > version else "make it again"
    raise HardwireError(f"{path} is version {number} of {kind} and this hardwire reads version {version}; {way_out}")
