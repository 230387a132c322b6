"""AIGER, the and-inverter format of logic synthesis, written and read, binary (.aig) and ASCII (.aag).

A literal is twice a variable, plus one where it is negated; literal 0 is false. Surprising: the reader also takes
latches, as long as they form a pipeline (every path to a gate passes equally many), and reads through them, which is
how a pipelined Verilog export is compared with the circuit it came from.
"""

import os
from pathlib import Path

from hardwire.circuit import algebra
from hardwire.circuit.lower import complete
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.files import write_whole

# gates that are one AND: negate first, negate second, negate the result
AND_FORMS = {
    1: (0, 0, 0),
    2: (0, 1, 0),
    4: (1, 0, 0),
    8: (1, 1, 0),
    14: (0, 0, 1),
    13: (0, 1, 1),
    11: (1, 0, 1),
    7: (1, 1, 1),
}


def write_circuit(circuit: Circuit, path: str | os.PathLike, *, raw: str | None = None) -> None:
    """raw: what the inputs are, bits, bytes or floats; not given, bytes where the circuit has an encoder."""
    write_aiger(complete(circuit, raw), path)


def write_aiger(netlist: Netlist, path: str | os.PathLike) -> None:
    """ASCII where `path` ends in .aag, binary otherwise; inputs are named x[k] and outputs label[k]."""
    content = to_aiger(netlist, ascii=Path(path).suffix == ".aag")
    write_whole(path, content)


def to_aiger(netlist: Netlist, ascii: bool = False) -> bytes:
    ands, outputs = and_inverter_graph(netlist)
    count = netlist.inputs
    lines = [f"{'aag' if ascii else 'aig'} {count + len(ands)} {count} 0 {len(outputs)} {len(ands)}"]
    if ascii:
        lines += [str(2 * (i + 1)) for i in range(count)]
    lines += map(str, outputs)
    if ascii:
        lines += [f"{2 * (count + i + 1)} {left} {right}" for i, (left, right) in enumerate(ands)]
        body = b""
    else:
        body = b"".join(
            _delta(2 * (count + i + 1) - left) + _delta(left - right) for i, (left, right) in enumerate(ands)
        )
    symbols = [f"i{i} x[{i}]" for i in range(count)] + [f"o{i} label[{i}]" for i in range(len(outputs))]
    return "\n".join([*lines, ""]).encode() + body + "\n".join([*symbols, "c", "hardwire", ""]).encode()


def and_inverter_graph(netlist: Netlist) -> tuple[list[tuple[int, int]], list[int]]:
    """The ANDs, as two literals with the larger first, and the outputs as literals."""
    literal = [2 * (i + 1) for i in range(netlist.inputs)]
    ands: list[tuple[int, int]] = []

    def both(a: int, b: int) -> int:
        ands.append((a, b) if a >= b else (b, a))
        return 2 * (netlist.inputs + len(ands))

    for gate, first, second in zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True):
        a, b = literal[first], literal[second]
        if gate in AND_FORMS:
            not_a, not_b, not_out = AND_FORMS[gate]
            result = both(a ^ not_a, b ^ not_b) ^ not_out
        elif gate in (algebra.XOR, 15 - algebra.XOR):
            result = both(both(a, b) ^ 1, both(a ^ 1, b ^ 1) ^ 1) ^ (gate != algebra.XOR)
        elif gate in algebra.CONSTANTS:
            result = int(gate == algebra.TRUE)
        else:
            result = {algebra.A: a, algebra.NOT_A: a ^ 1, algebra.B: b, algebra.NOT_B: b ^ 1}[gate]
        literal.append(result)
    return ands, [literal[node] for node in netlist.outputs.tolist()]


def _delta(value: int) -> bytes:
    """Seven bits a byte, lowest first, the top bit saying that more follow."""
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
