"""Circuit files: the format of `hardwire.files.arrays` with a JSON header, read and written without torch.

Loading runs no code, and everything is checked before use: the digest, format and version, the type and range of every
array, that gates and tables read earlier nodes only, and that the classes divide the outputs. Surprising: the digest
only detects damage, since anybody can compute one; the other checks are what protects from a hostile file."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns, Encoder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.number import Number
from hardwire.circuit.provenance import Provenance
from hardwire.circuit.sequential.state import Grid, State
from hardwire.circuit.table_netlist import MOST_INPUTS as MOST_READS
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.errors import HardwireError
from hardwire.files import arrays as arrayfile
from hardwire.files import parse_json

FORMAT, VERSION = "hardwire-circuit", 3
MODEL_FORMAT = "hardwire-network"
ARRAYS = {"gate": np.uint8, "first": np.int32, "second": np.int32, "outputs": np.int32}
TABLE_ARRAYS = {"table": np.uint64, "arity": np.uint8, "reads": np.int32, "outputs": np.int32}  # reads: table by table
MOST_INPUTS = 1 << 20  # inputs take no space in a file, so a few bytes could ask for gigabytes
_Path = str | os.PathLike[str]


def save(circuit: Circuit, path: _Path) -> None:
    """Writes `circuit` to `path`, whole or not at all; the same circuit always makes the same bytes."""
    arrays, fields = _parts(circuit)
    header = {"inputs": circuit.inputs, "classes": circuit.classes, "about": asdict(circuit.provenance)}
    fields |= {"circuit": json.dumps(header)}
    fields |= {} if circuit.columns is None else {"columns": circuit.columns.to_json()}
    arrayfile.write(path, FORMAT, VERSION, arrays, fields)


def function_digest(circuit: Circuit) -> str:
    """Returns the digest of what a circuit computes: gates, wires, outputs, classes and encoder."""
    arrays, metadata = _parts(circuit)
    return arrayfile.digest_of(arrays, metadata | {"sizes": f"{circuit.inputs} {circuit.classes}"})


def _parts(circuit: Circuit) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    netlist = circuit.netlist
    arrays: dict[str, npt.NDArray[Any]]
    if isinstance(netlist, Netlist):
        arrays = {name: getattr(netlist, name) for name in ARRAYS}
    else:
        reads = netlist.wires[np.arange(MOST_READS) < netlist.arity[:, None]]
        arrays = {"table": netlist.table, "arity": netlist.arity, "reads": reads, "outputs": netlist.outputs}
    metadata = {} if circuit.number is None else {"number": json.dumps(asdict(circuit.number))}
    metadata |= {} if circuit.state is None else {"state": json.dumps(_state_fields(circuit.state))}
    if circuit.encoder is None:
        return arrays, metadata
    return arrays | {"thresholds": circuit.encoder.thresholds}, metadata | {"units": circuit.encoder.units()}


def is_circuit_file(path: _Path) -> bool:
    """Whether `path` is marked as a circuit file; a model file or anything else is not."""
    return arrayfile.kind_of(path) == FORMAT


def is_model_file(path: _Path) -> bool:
    """Whether `path` is marked as a model file, whose circuit is not simplified yet."""
    return os.path.isfile(path) and arrayfile.kind_of(path) == MODEL_FORMAT


def load(path: _Path) -> Circuit:
    """Reads and checks the circuit in `path`: a circuit file, or a model file."""
    if arrayfile.kind_of(path) == MODEL_FORMAT:
        return _circuit_of_model(path)
    arrays, fields = arrayfile.read(path, FORMAT, VERSION)
    try:
        return _circuit(_header(fields.get("circuit", "")), fields, arrays)
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None


def _circuit_of_model(path: _Path) -> Circuit:
    from hardwire import models

    net = models.load(path)
    _, fields = arrayfile.read(path, models.KIND, models.VERSION)
    return Circuit.from_network(net, Provenance(model=fields["digest"], dataset=fields.get("dataset")))


def _header(text: str) -> dict[str, Any]:
    header = parse_json(text, "its header")
    try:
        if not all(type(header[name]) is int for name in ("inputs", "classes")):
            raise TypeError
        header["about"] = Provenance(**header["about"])
    except (KeyError, TypeError):
        raise HardwireError("its header is damaged; write the file again") from None
    if header["inputs"] > MOST_INPUTS:
        raise HardwireError(f"its header says {header['inputs']:,} inputs; a circuit has at most {MOST_INPUTS:,}")
    return dict(header)


def _circuit(header: dict[str, Any], metadata: Mapping[str, str], arrays: dict[str, npt.NDArray[Any]]) -> Circuit:
    wanted = TABLE_ARRAYS if "table" in arrays else ARRAYS
    for name, dtype in wanted.items():
        if name not in arrays:
            raise HardwireError(f"its array {name!r} is missing")
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise HardwireError(f"its array {name!r} is {arrays[name].dtype}, not a list of {np.dtype(dtype)}")
    thresholds = arrays.get("thresholds")
    encoder = None if thresholds is None else Encoder.restored(thresholds, metadata.get("units"))
    netlist: AnyNetlist
    if wanted is ARRAYS:
        netlist = Netlist(header["inputs"], **{name: arrays[name] for name in ARRAYS})
    else:
        netlist = _tables(header["inputs"], arrays)
    columns = Columns.from_json(metadata["columns"]) if "columns" in metadata else None
    number, state = _number(metadata.get("number")), _state(metadata.get("state"))
    return Circuit(netlist, header["classes"], encoder, header["about"], number, columns, state)


def _state_fields(state: State) -> dict[str, Any]:
    """The fields of a state; that of a grid only where there is one."""
    return {name: value for name, value in asdict(state).items() if name != "grid" or value is not None}


def _state(text: str | None) -> State | None:
    if text is None:
        return None
    given = parse_json(text, "its state")
    try:
        if not isinstance(given["initial"], list) or given["bits"] != len(given["initial"]):
            raise TypeError
        grid = None if "grid" not in given else Grid(**given["grid"])
        return State(given["bits"], tuple(given["initial"]), given["steps"], bool(given["given"]), grid)
    except (KeyError, TypeError, ValueError):
        raise HardwireError("its state is damaged; write the file again") from None


def _tables(inputs: int, arrays: dict[str, npt.NDArray[Any]]) -> TableNetlist:
    arity, reads = arrays["arity"], arrays["reads"]
    if len(arity) and arity.max() > MOST_READS:
        raise HardwireError(f"a table has {arity.max()} inputs; the most are {MOST_READS}")
    if len(reads) != arity.sum(dtype=np.int64):
        raise HardwireError(f"its tables have {arity.sum(dtype=np.int64):,} inputs in all, and it lists {len(reads):,}")
    wires = np.zeros((len(arity), MOST_READS), np.int32)
    wires[np.arange(MOST_READS) < arity[:, None]] = reads
    return TableNetlist(inputs, arrays["table"], arity, wires, arrays["outputs"])


def _number(text: str | None) -> Number | None:
    if text is None:
        return None
    try:
        return Number(**parse_json(text, "its number"))
    except TypeError:
        raise HardwireError("its number is damaged; write the file again") from None
