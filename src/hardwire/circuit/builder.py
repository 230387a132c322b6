"""`Builder`: makes a netlist gate by gate, or by copying other netlists into it."""

from array import array
from collections.abc import Sequence

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


class Builder:
    """Numbers nodes as in the finished netlist: inputs first, then gates in the order they were added."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.gates, self.first, self.second = array("q"), array("q"), array("q")

    def gate(self, number: int, a: int, b: int) -> int:
        """Adds a gate and returns its node."""
        self.gates.append(number)
        self.first.append(a)
        self.second.append(b)
        return self.inputs + len(self.gates) - 1

    def constant(self, value: bool) -> int:
        """Adds a constant and returns its node."""
        return self.gate(algebra.TRUE if value else algebra.FALSE, 0, 0)

    def choose(self, condition: int, yes: int, no: int) -> int:
        """Adds a multiplexer and returns its node."""
        return self.gate(algebra.OR, self.gate(algebra.AND, condition, yes), self.gate(algebra.LESS, condition, no))

    def embed(self, netlist: Netlist, inputs: Sequence[int]) -> list[int]:
        """Copies `netlist`, reading the nodes `inputs`, and returns the nodes of its outputs."""
        own = self.inputs + len(self.gates) + np.arange(len(netlist.gate))
        place = np.concatenate([np.asarray(inputs, np.int64), own])
        for column, values in (
            (self.gates, netlist.gate),
            (self.first, place[netlist.first]),
            (self.second, place[netlist.second]),
        ):
            column.frombytes(values.astype(np.int64).tobytes())
        outputs: list[int] = place[netlist.outputs].tolist()
        return outputs

    def netlist(self, outputs: Sequence[int]) -> Netlist:
        """Returns the netlist made so far with these outputs."""
        columns = (np.array(column, np.int64) for column in (self.gates, self.first, self.second, outputs))
        return Netlist(self.inputs, *columns)
