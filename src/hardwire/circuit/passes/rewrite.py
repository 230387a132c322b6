"""AIG rewriting by aigverse, an optional dependency: cut rewriting and resubstitution on the and-inverter graph.

The graph has only ANDs, so on the way back three ANDs that form an exclusive or become one XOR gate again.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.errors import HardwireError
from hardwire.gates import algebra

AND_GATES = {gate: form[:2] for gate, form in algebra.AS_AND.items() if not form[2]}  # negate first, negate second


def rewrite_aig(netlist: Netlist) -> Netlist:
    """Rewrites the netlist as an and-inverter graph with fewer ANDs."""
    try:
        from aigverse import algorithms, io
    except ImportError:
        raise HardwireError(
            "AIG rewriting needs aigverse, which is not installed; run: pip install 'hardwire[circuit]'"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "netlist.aig")
        write_aiger(netlist, path)
        graph = algorithms.aig_cut_rewriting(io.read_aiger_into_aig(path))
        algorithms.aig_resubstitution(graph, inplace=True)
        io.write_aiger(algorithms.cleanup_dangling(graph), path)
        rewritten, _ = read_aiger(path)
    return find_exclusive_ors(rewritten)


def find_exclusive_ors(netlist: Netlist) -> Netlist:
    """AND(NOT AND(x, y), NOT AND(NOT x, NOT y)) becomes XOR(x, y); the inner ANDs stay for their other readers."""
    gate, first, second = netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist()

    def operands(node: int) -> tuple[int, int, int, int] | None:
        index = node - netlist.inputs
        if index < 0 or gate[index] not in AND_GATES:
            return None
        return first[index], second[index], *AND_GATES[gate[index]]

    for index, number in enumerate(netlist.gate.tolist()):
        if number != algebra.NOR:
            continue
        left, right = operands(first[index]), operands(second[index])
        if left is None or right is None or {left[0], left[1]} != {right[0], right[1]} or left[0] == left[1]:
            continue
        if left[0] != right[0]:
            right = right[1], right[0], right[3], right[2]
        if left[2] != right[2] and left[3] != right[3]:
            gate[index] = algebra.XOR if left[2] == left[3] else algebra.XNOR
            first[index], second[index] = left[0], left[1]
    return replace(netlist, gate=np.array(gate), first=np.array(first), second=np.array(second))
