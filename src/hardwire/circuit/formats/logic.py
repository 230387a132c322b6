"""Reading back what is logic all the way: a netlist from the bits of raw values to the bits of the class."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, Reader
from hardwire.circuit.formats.header import interface
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.reading import Reading, described, reading_of
from hardwire.errors import HardwireError

PORTS = "Inputs x[k]: the bits of the values, lowest first; outputs label[k]: those of the answer."


def read_back(read: Callable[[Path], Netlist], lut_of: Callable[[str], int] = lambda text: 6) -> Reader:
    """The reader of a format whose files `read` turns into netlists; lut_of: the tables that a file's class sums are
    made for."""

    def reader(circuit: Circuit, path: Path, raw: str | None) -> Readback:
        netlist = read(path)
        text = path.read_text(errors="replace")
        said = interface(text)
        reading = reading_of(circuit, raw) if said is None else described(circuit, said)
        if netlist.inputs != reading.width:
            raise HardwireError(
                f"{path} has {netlist.inputs} inputs; an image has {reading.width} bits of {reading.kind}"
            )
        expected = complete(circuit, reading, lut_of(text))
        if len(netlist.outputs) != len(expected.outputs):
            raise HardwireError(
                f"{path} has {len(netlist.outputs)} outputs; a label of this model has {len(expected.outputs)}"
            )
        labels = labels_of(netlist, signed=circuit.number is not None)

        def answers(reading: Reading, rows: npt.NDArray[Any]) -> Answers:
            return Answers(labels(reading.to_bits(rows)))

        return Readback((reading,), answers, (expected, netlist))

    return reader


def labels_of(netlist: Netlist, signed: bool = False) -> Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.int64]]:
    """The function of a completed netlist from bits [n, inputs] to answers [n]; signed: the highest bit is the sign."""
    outputs = Circuit(netlist, classes=len(netlist.outputs))
    weights = 1 << np.arange(len(netlist.outputs), dtype=np.int64)
    weights[-1] *= -1 if signed else 1
    return lambda bits: outputs.scores(bits).astype(np.int64) @ weights
