"""The gates of a circuit as straight-line code in short pieces, for C and WebAssembly.

Compilers are worse than linear in the length of a function, so gates are taken cone by cone (each after what it reads)
and cut every few dozen; most values then live and die inside one piece, where a compiler keeps them in registers, and
only what another piece reads has a slot in memory.
"""

from dataclasses import dataclass

from hardwire.circuit.netlist import Netlist

PIECE = 64  # gates: short enough to compile fast, long enough that calls cost nothing


@dataclass(frozen=True)
class StraightLine:
    """pieces: gates as nodes, in order; slot: of every input (input i has slot i) and of every node that another piece
    or an output reads; slots: how many there are."""

    pieces: list[list[int]]
    slot: dict[int, int]
    slots: int


def straight_line(netlist: Netlist) -> StraightLine:
    order = cone_order(netlist)
    pieces = [order[start : start + PIECE] for start in range(0, len(order), PIECE)]
    return StraightLine(pieces, *_slots(netlist, pieces))


def cone_order(netlist: Netlist) -> list[int]:
    """Live gates (as nodes), each after what it reads, output cone by output cone."""
    reads, order = netlist.reads(), []
    done = bytearray(netlist.nodes)
    done[: netlist.inputs] = b"\1" * netlist.inputs
    for output in netlist.outputs.tolist():
        stack = [output]
        while stack:
            node = stack[-1]
            waiting = [] if done[node] else [child for child in reads[node - netlist.inputs] if not done[child]]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if not done[node]:
                done[node] = 1
                order.append(node)
    return order


def _slots(netlist: Netlist, pieces: list[list[int]]) -> tuple[dict[int, int], int]:
    """The slot of every input and of every value that leaves its piece. A slot is taken again by a later piece than the
    last one that reads it, so within a piece no slot changes its meaning."""
    reads = netlist.reads()
    last = {node: -1 for node in range(netlist.inputs)}
    for number, piece in enumerate(pieces):
        for node in piece:
            last[node] = number
            last.update(dict.fromkeys(reads[node - netlist.inputs], number))
    last.update(dict.fromkeys(netlist.outputs.tolist(), len(pieces)))
    free_after: list[list[int]] = [[] for _ in range(len(pieces) + 2)]
    slot = {node: node for node in range(netlist.inputs)}
    for node in range(netlist.inputs):
        free_after[last[node]].append(node)  # an unused input goes to the end of the list, which nobody takes from
    free: list[int] = []
    slots = netlist.inputs
    for number, piece in enumerate(pieces):
        for node in piece:
            if last[node] > number:
                slot[node] = free.pop() if free else slots
                slots += slot[node] == slots
                free_after[last[node]].append(slot[node])
        free += free_after[number]
    return slot, slots
