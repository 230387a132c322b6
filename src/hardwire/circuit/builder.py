"""`Builder`: grows a netlist gate by gate, or by copying others into it."""

from collections.abc import Sequence

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


class Builder:
    """Nodes are numbered as in the netlist that comes out: inputs first, then gates in the order they were added."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.gates: list[int] = []
        self.first: list[int] = []
        self.second: list[int] = []

    def gate(self, number: int, a: int, b: int) -> int:
        self.gates.append(number)
        self.first.append(a)
        self.second.append(b)
        return self.inputs + len(self.gates) - 1

    def constant(self, value: bool) -> int:
        return self.gate(algebra.TRUE if value else algebra.FALSE, 0, 0)

    def choose(self, condition: int, yes: int, no: int) -> int:
        return self.gate(algebra.OR, self.gate(algebra.AND, condition, yes), self.gate(algebra.LESS, condition, no))

    def embed(self, netlist: Netlist, inputs: Sequence[int]) -> list[int]:
        """Copies `netlist` in, reading `inputs`; its outputs."""
        own = self.inputs + len(self.gates) + np.arange(len(netlist.gate))
        place = np.concatenate([np.asarray(inputs, np.int64), own])
        self.gates += netlist.gate.tolist()
        self.first += place[netlist.first].tolist()
        self.second += place[netlist.second].tolist()
        outputs: list[int] = place[netlist.outputs].tolist()
        return outputs

    def netlist(self, outputs: Sequence[int]) -> Netlist:
        columns = (np.array(column, np.int64) for column in (self.gates, self.first, self.second, outputs))
        return Netlist(self.inputs, *columns)
