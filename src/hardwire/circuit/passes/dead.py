"""Dead-gate removal: gates that reach no output go, and the rest close ranks."""

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.circuit.statistics import live_nodes
from hardwire.gates import algebra


def remove_dead(netlist: Netlist) -> Netlist:
    live = live_nodes(netlist)
    live[: netlist.inputs] = True  # inputs stay, used or not: they are the interface
    number = np.cumsum(live) - 1
    kept = live[netlist.inputs :]
    gate = netlist.gate[kept]
    # an operand that the gate ignores may be dead; it reads input 0 instead
    first = np.where(np.array(algebra.READS_FIRST)[gate], number[netlist.first[kept]], 0)
    second = np.where(np.array(algebra.READS_SECOND)[gate], number[netlist.second[kept]], 0)
    return Netlist(netlist.inputs, gate, first, second, number[netlist.outputs])
