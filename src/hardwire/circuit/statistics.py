"""What a circuit is made of: gates by type, depth, fan-out, and how many gates nothing reads in the end."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.gates import GATE_NAMES, GATES, algebra


@dataclass(frozen=True)
class Statistics:
    """gates: all of them; by_type: name -> count, most frequent first; dead: gates that reach no output."""

    inputs: int
    outputs: int
    classes: int
    gates: int
    by_type: dict[str, int]
    depth: int
    dead: int
    unused_inputs: int
    mean_fan_out: float
    max_fan_out: int


def live_nodes(netlist: Netlist) -> npt.NDArray[np.bool_]:
    """bool [nodes]: whether some output depends on the node (structurally)."""
    live = bytearray(netlist.nodes)
    for node in netlist.outputs.tolist():
        live[node] = 1
    for node, reads in reversed(list(enumerate(netlist.reads(), start=netlist.inputs))):
        if live[node]:
            for read in reads:
                live[read] = 1
    return np.frombuffer(live, np.uint8).astype(bool)


def fan_out(netlist: Netlist) -> npt.NDArray[np.intp]:
    """int64 [nodes]: how many gate operands and outputs read each node."""
    reads_first = np.array(algebra.READS_FIRST)[netlist.gate]
    reads_second = np.array(algebra.READS_SECOND)[netlist.gate]
    readers = np.concatenate([netlist.first[reads_first], netlist.second[reads_second], netlist.outputs])
    return np.bincount(readers, minlength=netlist.nodes)


def statistics(circuit: Circuit) -> Statistics:
    netlist = circuit.netlist
    counts = np.bincount(netlist.gate, minlength=len(GATES))
    order = sorted(np.flatnonzero(counts), key=lambda gate: -counts[gate])
    live, readers = live_nodes(netlist), fan_out(netlist)
    used = readers[live]
    return Statistics(
        inputs=netlist.inputs,
        outputs=len(netlist.outputs),
        classes=circuit.classes,
        gates=len(netlist.gate),
        by_type={GATE_NAMES[gate]: int(counts[gate]) for gate in order},
        depth=netlist.depth,
        dead=int((~live[netlist.inputs :]).sum()),
        unused_inputs=int((~live[: netlist.inputs]).sum()),
        mean_fan_out=float(used.mean()),
        max_fan_out=int(used.max()),
    )
