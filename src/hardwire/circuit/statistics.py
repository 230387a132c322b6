"""What a circuit is made of: gates by type, depth, fan-out and dead gates."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.gates import GATE_NAMES, GATES, algebra


@dataclass(frozen=True)
class Statistics:
    """Counts of a circuit, as `Circuit.statistics` returns them; `dataclasses.asdict` makes a plain dictionary.

    Attributes:
        inputs: Input bits.
        outputs: Output bits.
        classes: Classes the outputs are divided into.
        gates: All gates, dead ones included.
        by_type: Gate name -> count, most frequent first.
        depth: Gates on the longest path to an output.
        dead: Gates no output depends on.
        unused_inputs: Input bits no output depends on.
        mean_fan_out: Mean number of readers of a live node.
        max_fan_out: Largest number of readers of a live node.
    """

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
    """Returns bool [nodes]: whether some output depends on the node structurally."""
    live = bytearray(netlist.nodes)
    for node in netlist.outputs.tolist():
        live[node] = 1
    for node, reads in reversed(list(enumerate(netlist.reads(), start=netlist.inputs))):
        if live[node]:
            for read in reads:
                live[read] = 1
    return np.frombuffer(live, np.uint8).astype(bool)


def fan_out(netlist: Netlist) -> npt.NDArray[np.intp]:
    """Returns int64 [nodes]: how many gate operands and outputs read each node."""
    reads_first = np.array(algebra.READS_FIRST)[netlist.gate]
    reads_second = np.array(algebra.READS_SECOND)[netlist.gate]
    readers = np.concatenate([netlist.first[reads_first], netlist.second[reads_second], netlist.outputs])
    return np.bincount(readers, minlength=netlist.nodes)


def statistics(circuit: Circuit) -> Statistics:
    """Counts what a circuit is made of."""
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
