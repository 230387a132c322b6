"""What a circuit is made of: gates by type, or tables by their inputs, depth, fan-out and dead gates."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.table_netlist import AnyNetlist, TableNetlist
from hardwire.gates import GATE_NAMES, GATES, algebra


@dataclass(frozen=True)
class Statistics:
    """Counts of a circuit, as `Circuit.statistics` returns them; `dataclasses.asdict` makes a plain dictionary.

    Attributes:
        inputs: Input bits.
        outputs: Output bits.
        classes: Classes the outputs are divided into.
        gates: All gates, dead ones included; of a circuit of look-up tables, its tables.
        by_type: Gate name -> count, most frequent first; or "table of 6 inputs" -> count, most inputs first.
        depth: Gates or tables on the longest path to an output.
        dead: Gates or tables no output depends on.
        unused_inputs: Input bits no output depends on.
        mean_fan_out: Mean number of readers of a live node.
        max_fan_out: Largest number of readers of a live node.
        made_of: "gates" or "tables".
        two_input: Gates of the two-input view of its tables; all gates where it has no tables.
        thresholds: Distinct thresholds on which some output depends, each a comparison in hardware; None without an
            encoder.
        registers: Bits of state; 0 for a circuit without. They count as inputs and as outputs too.

    Example:
        >>> import hardwire as hw
        >>> counts = hw.load("digits-1k").statistics()
        >>> counts.inputs, counts.classes, counts.made_of
        (320, 10, 'gates')
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
    made_of: str
    two_input: int
    thresholds: int | None
    registers: int = 0


def live_nodes(netlist: AnyNetlist) -> npt.NDArray[np.bool_]:
    """Returns bool [nodes]: whether some output depends on the node structurally."""
    live = bytearray(netlist.nodes)
    for node in netlist.outputs.tolist():
        live[node] = 1
    for node, reads in reversed(list(enumerate(netlist.reads(), start=netlist.inputs))):
        if live[node]:
            for read in reads:
                live[read] = 1
    return np.frombuffer(live, np.uint8).astype(bool)


def fan_out(netlist: AnyNetlist) -> npt.NDArray[np.intp]:
    """Returns int64 [nodes]: how many operands and outputs read each node."""
    if isinstance(netlist, TableNetlist):
        operands = [node for nodes in netlist.reads() for node in nodes]
        return np.bincount(np.concatenate([np.array(operands, np.intp), netlist.outputs]), minlength=netlist.nodes)
    reads_first = np.array(algebra.READS_FIRST)[netlist.gate]
    reads_second = np.array(algebra.READS_SECOND)[netlist.gate]
    readers = np.concatenate([netlist.first[reads_first], netlist.second[reads_second], netlist.outputs])
    return np.bincount(readers, minlength=netlist.nodes)


def statistics(circuit: Circuit) -> Statistics:
    """Counts what a circuit is made of."""
    netlist = circuit.netlist
    live, readers = live_nodes(netlist), fan_out(netlist)
    used = readers[live]
    return Statistics(
        inputs=netlist.inputs,
        outputs=len(netlist.outputs),
        classes=circuit.classes,
        gates=netlist.size,
        by_type=_by_type(netlist),
        depth=netlist.depth,
        dead=int((~live[netlist.inputs :]).sum()),
        unused_inputs=int((~live[: netlist.inputs]).sum()),
        mean_fan_out=float(used.mean()),
        max_fan_out=int(used.max()),
        made_of=netlist.made_of,
        two_input=circuit.gates.size,
        thresholds=None if circuit.encoder is None else len(used_thresholds(circuit)),
        registers=0 if circuit.state is None else circuit.state.bits,
    )


def used_thresholds(circuit: Circuit) -> set[tuple[int, float]]:
    """Returns (raw value, threshold) of every comparison that some output depends on; equal ones count once."""
    assert circuit.encoder is not None
    live = np.flatnonzero(live_nodes(circuit.netlist)[: circuit.inputs])
    features, levels = np.divmod(live, circuit.encoder.levels)
    return set(zip(features.tolist(), circuit.encoder.thresholds[features, levels].tolist(), strict=True))


def _by_type(netlist: AnyNetlist) -> dict[str, int]:
    if isinstance(netlist, TableNetlist):
        inputs = np.bincount(netlist.arity)
        return {f"table of {n} inputs": int(inputs[n]) for n in reversed(range(len(inputs))) if inputs[n]}
    counts = np.bincount(netlist.gate, minlength=len(GATES))
    order = sorted(np.flatnonzero(counts), key=lambda gate: -counts[gate])
    return {GATE_NAMES[gate]: int(counts[gate]) for gate in order}
