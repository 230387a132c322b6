"""Dead-gate removal: gates that no output depends on are removed, and the others renumbered."""

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.circuit.statistics import live_nodes
from hardwire.gates import algebra


def remove_dead(netlist: Netlist) -> Netlist:
    """Removes gates that no output depends on."""
    live = live_nodes(netlist)
    live[: netlist.inputs] = True  # inputs are the interface: they stay, used or not
    number = np.cumsum(live) - 1
    kept = live[netlist.inputs :]
    gate = netlist.gate[kept]
    # an operand that the gate ignores may be dead; the gate reads input 0 instead
    first = np.where(np.array(algebra.READS_FIRST)[gate], number[netlist.first[kept]], 0)
    second = np.where(np.array(algebra.READS_SECOND)[gate], number[netlist.second[kept]], 0)
    return Netlist(netlist.inputs, gate, first, second, number[netlist.outputs])
