"""Files of named tensors and a few strings, in safetensors: the one way models and checkpoints reach the disk.

A file says what kind it is and in which version, and carries a digest of all it holds, because safetensors itself would
not notice a flipped bit. It is written whole or not at all. Nothing in it is ever executed.
"""

import hashlib
import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from hardwire.errors import HardwireError
from hardwire.files import write_whole


def write(
    path: str | os.PathLike[str], kind: str, version: int, tensors: dict[str, torch.Tensor], fields: dict[str, str]
) -> None:
    """Puts tensors and fields into the file `path`, replacing what was there only when all is safely on disk."""
    # copies, because safetensors refuses tensors that share memory
    tensors = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
    metadata = {**fields, "format": kind, "version": str(version)}
    metadata["digest"] = _digest(tensors, metadata)
    write_whole(path, save(tensors, metadata))


def read(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and fields of a file of this kind, of this version or an older one, unharmed."""
    path = Path(path).expanduser()
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            _check_kind(path, metadata, kind, version)
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise HardwireError(f"there is no file {path}") from None
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise HardwireError(f"{path} is not a {kind} file, or it was cut short ({error})") from None
    if metadata.pop("digest", None) != _digest(tensors, metadata):
        raise HardwireError(f"{path} is damaged: its contents do not match its digest; restore it from a copy")
    return tensors, metadata


def _check_kind(path: Path, metadata: dict[str, str], kind: str, version: int) -> None:
    found = metadata.get("format")
    if found != kind:
        raise HardwireError(f"{path} is a {found or 'safetensors file of another program'}, not a {kind}")
    number = metadata.get("version", "")
    if not number.isdecimal():
        raise HardwireError(f"{path} has no readable version ({number!r}); it is damaged")
    if int(number) > version:
        raise HardwireError(
            f"{path} is version {number} of {kind} and this hardwire reads up to {version}; upgrade hardwire"
        )


def _digest(tensors: dict[str, torch.Tensor], metadata: dict[str, str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, text in sorted(metadata.items()):
        digest.update(f"{name}={len(text)}:{text}".encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name}:{tensor.dtype}{list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data if tensor.numel() else b"")
    return digest.hexdigest()
