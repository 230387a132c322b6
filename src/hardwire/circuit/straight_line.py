"""The gates of a circuit as straight-line code in short pieces, for C and WebAssembly.

Compile time grows faster than the length of a function, so gates are ordered cone by cone (each after its operands) and
divided every few dozen. Most values are then used within one piece only, where a compiler keeps them in registers; only
values that another piece reads have a slot in memory.
"""

from dataclasses import dataclass

from hardwire.circuit.netlist import Netlist

PIECE = 64  # gates: short enough to compile fast, long enough for the calls to cost nothing


@dataclass(frozen=True)
class StraightLine:
    """Gates divided into pieces.

    Attributes:
        pieces: Gates, as nodes, in the order they run.
        slot: The slot of every input (input i has slot i) and of every node that another piece or an output reads.
        slots: How many slots there are.
    """

    pieces: list[list[int]]
    slot: dict[int, int]
    slots: int


def straight_line(netlist: Netlist) -> StraightLine:
    """Divides the live gates into pieces and assigns slots."""
    order = cone_order(netlist)
    pieces = [order[start : start + PIECE] for start in range(0, len(order), PIECE)]
    return StraightLine(pieces, *_slots(netlist, pieces))


def cone_order(netlist: Netlist) -> list[int]:
    """Returns the live gates as nodes, output cone by output cone, each after its operands."""
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
    """Assigns a slot to every input and to every value read outside its piece; returns them and their number.

    A slot is reused only by pieces after the last one that reads it, so a slot holds one value throughout a piece.
    """
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
        free_after[last[node]].append(node)  # an unused input lands in the last list, which is never reused
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
