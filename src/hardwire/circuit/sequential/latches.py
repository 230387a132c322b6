"""Circuits with state as AIGER with latches and as BLIF with `.latch`, and back.

Inputs come before the state in these files, and after it in our netlists. Surprising: AIGER names the value of a latch
after reset only where it is 1, and BLIF is read by ABC, which turns it into AIGER.
"""

from pathlib import Path

import numpy as np

from hardwire.circuit.aiger import and_inverter_graph
from hardwire.circuit.leb128 import unsigned
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import MOST_BYTES, Aiger, netlist_and_latency, parse, reading
from hardwire.circuit.read_blif import parse_blif
from hardwire.circuit.sequential.state import State
from hardwire.errors import HardwireError
from hardwire.gates import GATES, algebra


def to_aiger(netlist: Netlist, state: State, ascii: bool, comment: list[str]) -> bytes:
    """The bytes of an AIGER file; netlist: from [state, x] to [next state, answers]."""
    given = netlist.inputs - state.bits
    ands, outputs = and_inverter_graph(_moved(netlist, state.bits))
    following, answers = outputs[: state.bits], outputs[state.bits :]
    count = netlist.inputs
    lines = [f"{'aag' if ascii else 'aig'} {count + len(ands)} {given} {state.bits} {len(answers)} {len(ands)}"]
    if ascii:
        lines += [str(2 * (i + 1)) for i in range(given)]
    for i, (literal, bit) in enumerate(zip(following, state.initial, strict=True)):
        lines.append(f"{2 * (given + i + 1)} " * ascii + f"{literal}" + " 1" * bit)
    lines += map(str, answers)
    body = b""
    if ascii:
        lines += [f"{2 * (count + i + 1)} {left} {right}" for i, (left, right) in enumerate(ands)]
    else:
        body = b"".join(unsigned(2 * (count + i + 1) - a) + unsigned(a - b) for i, (a, b) in enumerate(ands))
    names = [f"i{i} x[{i}]" for i in range(given)] + [f"l{i} s[{i}]" for i in range(state.bits)]
    names += [f"o{i} y[{i}]" for i in range(len(answers))]
    return "\n".join([*lines, ""]).encode() + body + "\n".join([*names, "c", *comment, ""]).encode()


def _moved(netlist: Netlist, bits: int) -> Netlist:
    """The same netlist with the inputs before the state."""
    place = np.arange(netlist.nodes)
    place[: netlist.inputs] = np.concatenate(
        [np.arange(netlist.inputs - bits, netlist.inputs), np.arange(netlist.inputs - bits)]
    )
    return Netlist(netlist.inputs, netlist.gate, place[netlist.first], place[netlist.second], place[netlist.outputs])


def from_aiger(data: bytes, path: Path) -> tuple[Netlist, State]:
    """The netlist and state of an AIGER file with latches."""
    with reading(path):
        if len(data) > MOST_BYTES:
            raise HardwireError(f"it has more than {MOST_BYTES:,} bytes")
        return _open_loop(parse(data))


def _open_loop(aiger: Aiger) -> tuple[Netlist, State]:
    """One step as a netlist from [state, x] to [next state, answers], and the state."""
    if not aiger.latches:
        raise HardwireError("it has no latches, so no state")
    latches = list(aiger.latches)
    step = Aiger(aiger.variables, left=aiger.left, right=aiger.right)
    step.inputs = latches + aiger.inputs
    step.outputs = [aiger.latches[latch] for latch in latches] + aiger.outputs
    initial = tuple(aiger.resets.get(latch, 0) for latch in latches)
    if not set(initial) <= {0, 1}:
        raise HardwireError("a latch is neither 0 nor 1 after reset")
    return netlist_and_latency(step)[0], State(len(latches), initial)


def to_blif(netlist: Netlist, state: State, name: str, comment: list[str]) -> str:
    """The text of a BLIF file; netlist: from [state, x] to [next state, answers]."""
    given, answers = netlist.inputs - state.bits, len(netlist.outputs) - state.bits
    nodes = [f"s[{i}]" for i in range(state.bits)] + [f"x[{i}]" for i in range(given)]
    nodes += [f"n{i}" for i in range(netlist.inputs, netlist.nodes)]
    lines = [*(f"# {line}" for line in comment), f".model {name}"]
    lines += [f".inputs {' '.join(nodes[state.bits : netlist.inputs])}"] if given else []
    lines += [f".outputs {' '.join(f'y[{i}]' for i in range(answers))}"]
    lines += [f".latch d[{i}] s[{i}] {bit}" for i, bit in enumerate(state.initial)]
    for node, (gate, a, b) in enumerate(netlist.rows(), start=netlist.inputs):
        reads = (a,) if a == b else (a, b)  # an input may occur only once in a table
        cover = [
            f"{p}{q}"[: len(reads)] + " 1" for p, q in algebra.PAIRS if GATES[gate].hard(p, q) and (a != b or p == q)
        ]
        if gate == algebra.TRUE:
            cover = ["1"]
        # readers disagree about a table without lines, except that one without inputs is 0
        named = [] if gate == algebra.TRUE or not cover else [nodes[read] for read in reads]
        lines += [f".names {' '.join([*named, nodes[node]])}", *cover]
    outputs = [f"d[{i}]" for i in range(state.bits)] + [f"y[{i}]" for i in range(answers)]
    for output, node in zip(outputs, netlist.outputs.tolist(), strict=True):
        lines += [f".names {nodes[node]} {output}", "1 1"]
    return "\n".join([*lines, ".end", ""])


def from_blif(text: str, path: Path) -> tuple[Netlist, State]:
    """The netlist and state of a BLIF file of one model, read by ABC."""
    aiger = parse_blif(text, path)
    with reading(path):
        return _open_loop(aiger)
