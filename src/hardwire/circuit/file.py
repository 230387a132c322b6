"""Circuit files: safetensors with a versioned JSON header, read and written without torch.

Loading runs no code, and a file is checked before it is believed: its format and version, every array's type and
range, the order that rules out cycles, and that the classes divide the outputs.
"""

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from hardwire.bits import Encoder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError
from hardwire.files import write_whole

FORMAT, VERSION = "hardwire-circuit", 1
MODEL_FORMAT = "hardwire-network"
ARRAYS = {"gate": np.uint8, "first": np.int32, "second": np.int32, "outputs": np.int32}


def save(circuit: Circuit, path: str | os.PathLike[str]) -> None:
    """Writes `circuit` to `path`."""
    netlist = circuit.netlist
    arrays = {name: getattr(netlist, name) for name in ARRAYS}
    if circuit.encoder is not None:
        arrays["thresholds"] = circuit.encoder.thresholds
    header = {"version": VERSION, "inputs": netlist.inputs, "classes": circuit.classes}
    write_whole(path, to_bytes(arrays, {"format": FORMAT, "circuit": json.dumps(header)}))


def is_circuit_file(path: str | os.PathLike[str]) -> bool:
    """Whether `path` says that it is a circuit; a model file or anything else is not."""
    try:
        with safe_open(path, framework="np") as file:
            return (file.metadata() or {}).get("format") == FORMAT
    except (OSError, SafetensorError):
        return False


def load(path: str | os.PathLike[str]) -> Circuit:
    """Reads and checks the circuit in `path`, a circuit file or a model file."""
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") == MODEL_FORMAT:
                return _circuit_of_model(path)
            if metadata.get("format") != FORMAT:
                raise HardwireError("it is not a circuit file; make one with `hardwire circuit build`")
            header = _header(metadata)
            known = set(ARRAYS) | {"thresholds"}
            arrays = {name: file.get_tensor(name) for name in file.keys() if name in known}  # noqa: SIM118, no dict
        return _circuit(header, arrays)
    except FileNotFoundError:
        raise HardwireError(f"cannot read {path}: no such file") from None
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise HardwireError(f"cannot read {path}: truncated or not a circuit file ({error})") from None
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None


def _circuit_of_model(path: str | os.PathLike[str]) -> Circuit:
    from hardwire.models import load as load_model

    return Circuit.from_network(load_model(path))


def _header(metadata: dict[str, str]) -> dict[str, int]:
    try:
        header: dict[str, int] = json.loads(metadata["circuit"])
        version = header["version"]
        if version != VERSION:
            raise HardwireError(f"it has version {version!r} and this program reads version {VERSION}; update hardwire")
        if not all(type(header[name]) is int for name in ("inputs", "classes")):
            raise ValueError
    except HardwireError:
        raise
    except (KeyError, ValueError, TypeError):
        raise HardwireError("its header is damaged; write the file again") from None
    return header


def _circuit(header: dict[str, int], arrays: dict[str, npt.NDArray[Any]]) -> Circuit:
    for name, dtype in ARRAYS.items():
        if name not in arrays:
            raise HardwireError(f"its array {name!r} is missing")
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise HardwireError(f"its array {name!r} is {arrays[name].dtype}, not a list of {np.dtype(dtype)}")
    thresholds = arrays.get("thresholds")
    encoder = None if thresholds is None else Encoder(thresholds)
    netlist = Netlist(header["inputs"], **{name: arrays[name] for name in ARRAYS})
    return Circuit(netlist, header["classes"], encoder)
