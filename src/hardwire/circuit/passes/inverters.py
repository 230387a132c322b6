"""Pushes an inverter before an output into the gate that drives it, if no output needs that gate as it is.

The driving gate is negated, and so is the operand of every gate that reads it, which costs nothing in a truth table.
"""

from dataclasses import replace

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra


def push_inverters(netlist: Netlist) -> Netlist:
    """Negates gates whose only use as an output is inverted."""
    gate = netlist.gate.astype(np.int64)
    plain = np.zeros(netlist.nodes, bool)
    plain[netlist.outputs] = True
    gate_outputs = netlist.outputs[netlist.outputs >= netlist.inputs] - netlist.inputs
    driven = netlist.first[gate_outputs[gate[gate_outputs] == algebra.NOT_A]]
    flip = np.zeros(netlist.nodes, bool)
    flip[driven[(driven >= netlist.inputs) & ~plain[driven]]] = True
    gate = np.where(flip[netlist.inputs :], np.array(algebra.NEGATED)[gate], gate)
    gate = np.where(flip[netlist.first], np.array(algebra.NEGATED_FIRST)[gate], gate)
    gate = np.where(flip[netlist.second], np.array(algebra.NEGATED_SECOND)[gate], gate)
    return replace(netlist, gate=gate)
