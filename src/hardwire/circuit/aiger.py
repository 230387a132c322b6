"""Writes AIGER, the and-inverter format of logic synthesis, binary or ASCII; `read_aiger` reads it.

A literal is twice a variable, plus one if negated; literal 0 is false.
"""

from collections.abc import Sequence
from pathlib import Path

from hardwire.circuit.leb128 import unsigned
from hardwire.circuit.netlist import Netlist
from hardwire.files import write_whole
from hardwire.gates import algebra


def write_aiger(netlist: Netlist, path: Path, comment: Sequence[str] = ()) -> None:
    """Writes ASCII if `path` ends in .aag, else binary; inputs are named x[k] and outputs label[k]."""
    write_whole(path, to_aiger(netlist, path.suffix == ".aag", comment))


def to_aiger(netlist: Netlist, ascii: bool = False, comment: Sequence[str] = ()) -> bytes:
    """Returns the bytes of an AIGER file."""
    ands, outputs = and_inverter_graph(netlist)
    count = netlist.inputs
    lines = [f"{'aag' if ascii else 'aig'} {count + len(ands)} {count} 0 {len(outputs)} {len(ands)}"]
    if ascii:
        lines += [str(2 * (i + 1)) for i in range(count)]
    lines += map(str, outputs)
    body = b""
    if ascii:
        lines += [f"{2 * (count + i + 1)} {left} {right}" for i, (left, right) in enumerate(ands)]
    else:
        body = b"".join(
            unsigned(2 * (count + i + 1) - left) + unsigned(left - right) for i, (left, right) in enumerate(ands)
        )
    symbols = [f"i{i} x[{i}]" for i in range(count)] + [f"o{i} label[{i}]" for i in range(len(outputs))]
    return "\n".join([*lines, ""]).encode() + body + "\n".join([*symbols, "c", *comment, ""]).encode()


def and_inverter_graph(netlist: Netlist) -> tuple[list[tuple[int, int]], list[int]]:
    """Converts a netlist to ANDs, as two literals with the larger first, and outputs as literals."""
    literal = [2 * (i + 1) for i in range(netlist.inputs)]
    ands: list[tuple[int, int]] = []

    def both(a: int, b: int) -> int:
        ands.append((a, b) if a >= b else (b, a))
        return 2 * (netlist.inputs + len(ands))

    for gate, first, second in netlist.rows():
        a, b = literal[first], literal[second]
        if gate in algebra.AS_AND:
            not_a, not_b, not_out = algebra.AS_AND[gate]
            result = both(a ^ not_a, b ^ not_b) ^ not_out
        elif gate in (algebra.XOR, algebra.XNOR):
            result = both(both(a, b) ^ 1, both(a ^ 1, b ^ 1) ^ 1) ^ (gate == algebra.XNOR)
        elif gate in algebra.CONSTANTS:
            result = int(gate == algebra.TRUE)
        else:
            result = {algebra.A: a, algebra.NOT_A: a ^ 1, algebra.B: b, algebra.NOT_B: b ^ 1}[gate]
        literal.append(result)
    return ands, [literal[node] for node in netlist.outputs.tolist()]
