"""Reading back what is logic all the way: a netlist from the bits of raw values to the bits of the class."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, Reader
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.raw import RAW_BITS, raw_kind, raw_width, row_bits
from hardwire.errors import HardwireError


def read_back(read: Callable[[Path], Netlist]) -> Reader:
    """The reader of a format whose files `read` turns into netlists."""

    def reader(circuit: Circuit, path: Path, raw: str | None) -> Readback:
        netlist = read(path)
        kind = _kind(circuit, netlist.inputs, raw)
        expected = complete(circuit, kind)
        if len(netlist.outputs) != len(expected.outputs):
            raise HardwireError(
                f"{path} has {len(netlist.outputs)} outputs; a label of this model has {len(expected.outputs)}"
            )
        labels = labels_of(netlist)

        def answers(kind: str, rows: npt.NDArray[Any]) -> Answers:
            return Answers(labels(row_bits(kind, rows)))

        return Readback((kind,), answers, (expected, netlist))

    return reader


def labels_of(netlist: Netlist) -> Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.int64]]:
    """The function of a completed netlist from bits [n, inputs] to classes [n]."""
    outputs = Circuit(netlist, classes=len(netlist.outputs))
    weights = 1 << np.arange(len(netlist.outputs), dtype=np.int64)
    return lambda bits: outputs.scores(bits).astype(np.int64) @ weights


def _kind(circuit: Circuit, inputs: int, raw: str | None) -> str:
    kinds = [raw] if raw else [raw_kind(circuit, None), *RAW_BITS]
    for kind in kinds:
        if (kind == "bits" or circuit.encoder is not None) and raw_width(circuit, kind) == inputs:
            return kind
    raise HardwireError(f"the file has {inputs} inputs, which fits neither the bits nor the raw values of this model")
