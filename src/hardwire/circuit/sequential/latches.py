"""Circuits with state as AIGER with latches and as BLIF with `.latch`, and back.

Inputs come before the state in these files, and after it in our netlists. Surprising: AIGER names the value of a latch
after reset only where it is 1, and BLIF is read by ABC, which turns it into AIGER.
"""

import re
import tempfile
from pathlib import Path

import numpy as np

from hardwire.circuit.aiger import and_inverter_graph
from hardwire.circuit.leb128 import unsigned
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import MOST_BYTES, Aiger, netlist_of, parse
from hardwire.circuit.sequential.state import State
from hardwire.circuit.tools import Limits, run_abc
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
    try:
        if len(data) > MOST_BYTES:
            raise HardwireError(f"it has more than {MOST_BYTES:,} bytes")
        aiger = parse(data)
        if not aiger.latches:
            raise HardwireError("it has no latches, so no state")
        latches = list(aiger.latches)
        open_loop = Aiger(aiger.variables, left=aiger.left, right=aiger.right)
        open_loop.inputs = latches + aiger.inputs
        open_loop.outputs = [aiger.latches[latch] for latch in latches] + aiger.outputs
        initial = tuple(aiger.resets.get(latch, 0) for latch in latches)
        if not set(initial) <= {0, 1}:
            raise HardwireError("a latch is neither 0 nor 1 after reset")
        return netlist_of(open_loop), State(len(latches), initial)
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None
    except (ValueError, IndexError):
        raise HardwireError(f"cannot read {path}: truncated or not an AIGER file") from None


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
    for directive in re.findall(r"^[ \t]*(\.\w{0,30})", text, flags=re.MULTILINE):
        if directive not in (".model", ".inputs", ".outputs", ".names", ".latch", ".end"):
            raise HardwireError(f"cannot read {path}: it has {directive}, which a circuit with state does not need")
    with tempfile.TemporaryDirectory() as folder:
        netlist = Path(folder, "netlist.aig")
        Path(folder, "source.blif").write_text(text)
        limits = Limits(memory=(512 << 20) + 1_000 * len(text), seconds=10 + len(text) // 20_000)
        run_abc(f"read_blif source.blif; strash; write_aiger -s {netlist.name}", folder, limits)
        if not netlist.is_file():
            raise HardwireError(f"cannot read {path}: ABC cannot read it as BLIF")
        # where latches start as 1, ABC calls the outputs properties
        data = re.sub(rb"^aig (\d+ \d+ \d+) 0 (\d+) (\d+) 0\n", rb"aig \1 \3 \2\n", netlist.read_bytes())
        return from_aiger(data, path)
