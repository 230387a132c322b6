"""Circuit files: safetensors with a versioned JSON header and a digest, read and written without torch.

Loading runs no code, and a file is checked before it is believed: its digest, its format and version, every array's
type and range, the order that rules out cycles, and that the classes divide the outputs. Surprising: files of version 1
have no digest and do not say the units of their raw values; they still load, and their encoder is of unknown kind.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from hardwire.bits import Columns, Encoder
from hardwire.circuit.circuit import About, Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.number import Number
from hardwire.errors import HardwireError
from hardwire.files import write_whole

FORMAT, VERSION = "hardwire-circuit", 2
MODEL_FORMAT = "hardwire-network"
ARRAYS = {"gate": np.uint8, "first": np.int32, "second": np.int32, "outputs": np.int32}
MOST_INPUTS = 1 << 24  # a few bytes of a file must not ask for gigabytes
_Path = str | os.PathLike[str]


def save(circuit: Circuit, path: _Path) -> None:
    """Writes `circuit` to `path`."""
    arrays, metadata = _parts(circuit)
    header = {"version": VERSION, "inputs": circuit.inputs, "classes": circuit.classes, "about": asdict(circuit.about)}
    metadata |= {"format": FORMAT, "circuit": json.dumps(header)}
    metadata |= {} if circuit.columns is None else {"columns": circuit.columns.to_json()}
    metadata["digest"] = _digest(arrays, metadata)
    write_whole(path, to_bytes(arrays, metadata))


def function_digest(circuit: Circuit) -> str:
    """The digest of what a circuit computes: gates, wires, outputs, classes and encoder."""
    arrays, metadata = _parts(circuit)
    return _digest(arrays, metadata | {"sizes": f"{circuit.inputs} {circuit.classes}"})


def _parts(circuit: Circuit) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    arrays = {name: getattr(circuit.netlist, name) for name in ARRAYS}
    metadata = {} if circuit.number is None else {"number": json.dumps(asdict(circuit.number))}
    if circuit.encoder is None:
        return arrays, metadata
    return arrays | {"thresholds": circuit.encoder.thresholds}, metadata | {"units": circuit.encoder.units()}


def _digest(arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, text in sorted(metadata.items()):
        digest.update(f"{name}={len(text)}:{text}".encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}:{array.dtype.str}{list(array.shape)}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def is_circuit_file(path: _Path) -> bool:
    """Whether `path` says that it is a circuit; a model file or anything else is not."""
    try:
        with safe_open(path, framework="np") as file:
            return (file.metadata() or {}).get("format") == FORMAT
    except (OSError, SafetensorError):
        return False


def load(path: _Path) -> Circuit:
    """Reads and checks the circuit in `path`, a circuit file or a model file."""
    try:
        with safe_open(path, framework="np") as file:
            metadata = dict(file.metadata() or {})
            if metadata.get("format") == MODEL_FORMAT:
                return _circuit_of_model(path, metadata)
            if metadata.get("format") != FORMAT:
                raise HardwireError("it is not a circuit file; make one with `hardwire circuit build`")
            header = _header(metadata)
            known = set(ARRAYS) | {"thresholds"}
            arrays = {name: file.get_tensor(name) for name in file.keys() if name in known}  # noqa: SIM118, no dict
        _check_digest(header["version"], arrays, metadata)
        return _circuit(header, metadata, arrays)
    except FileNotFoundError:
        raise HardwireError(f"cannot read {path}: no such file") from None
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise HardwireError(f"cannot read {path}: truncated or not a circuit file ({error})") from None
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None


def _circuit_of_model(path: _Path, metadata: Mapping[str, str]) -> Circuit:
    from hardwire.models import load as load_model

    about = About(model=metadata.get("digest"), dataset=metadata.get("dataset"))
    return Circuit.from_network(load_model(path), about)


def _check_digest(version: int, arrays: Mapping[str, npt.NDArray[Any]], metadata: dict[str, str]) -> None:
    said = metadata.pop("digest", None)
    if (version > 1 or said is not None) and said != _digest(arrays, metadata):
        raise HardwireError("its contents do not match its digest, so it is damaged; restore it from a copy")


def _header(metadata: Mapping[str, str]) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(metadata["circuit"])
        version = header["version"]
        if type(version) is not int or version > VERSION:
            raise HardwireError(f"it has version {version!r} and this program reads up to {VERSION}; update hardwire")
        if not all(type(header[name]) is int for name in ("inputs", "classes")):
            raise ValueError
        header["about"] = About(**header.get("about", {}))
    except HardwireError:
        raise
    except (KeyError, ValueError, TypeError, RecursionError):
        raise HardwireError("its header is damaged; write the file again") from None
    if header["inputs"] > MOST_INPUTS:
        raise HardwireError(f"its header says {header['inputs']} inputs; more than {MOST_INPUTS} are not believed")
    return header


def _circuit(header: dict[str, Any], metadata: Mapping[str, str], arrays: dict[str, npt.NDArray[Any]]) -> Circuit:
    for name, dtype in ARRAYS.items():
        if name not in arrays:
            raise HardwireError(f"its array {name!r} is missing")
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise HardwireError(f"its array {name!r} is {arrays[name].dtype}, not a list of {np.dtype(dtype)}")
    thresholds = arrays.get("thresholds")
    encoder = None if thresholds is None else Encoder.restored(thresholds, metadata.get("units"))
    netlist = Netlist(header["inputs"], **{name: arrays[name] for name in ARRAYS})
    columns = Columns.from_json(metadata["columns"]) if "columns" in metadata else None
    return Circuit(netlist, header["classes"], encoder, header["about"], _number(metadata.get("number")), columns)


def _number(text: str | None) -> Number | None:
    try:
        return None if text is None else Number(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise HardwireError("its number is damaged; write the file again") from None
