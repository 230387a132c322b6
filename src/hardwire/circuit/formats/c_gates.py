"""The gates of a circuit in C, in one of two forms: short functions of straight-line code, or tables and a loop.

Code: compilers are worse than linear in the length of a function, so gates are taken cone by cone (each after what it
reads) and cut every few dozen; most values then live and die inside one function, as local constants that the compiler
keeps in registers, and only what another function reads has a slot. Tables: the order and the slots of the native
engine, grouped by gate, so that the loop branches once a group. Both give the words of their template, among them the
number of slots and the slot of each output; input i starts in slot i.
"""

from typing import Any

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule
from hardwire.gates import GATES

PART = 64  # gates in a function: short enough to compile fast, long enough that calls cost nothing
ALL_ONES = "~(uint64_t)0"


def code(netlist: Netlist) -> dict[str, Any]:
    order = cone_order(netlist)
    cut = [order[start : start + PART] for start in range(0, len(order), PART)]
    slot, slots = _slots(netlist, cut)
    return {
        "parts": [_function(netlist, part, slot) for part in cut],
        "part_names": [f"part_{number}" for number in range(len(cut))] or ["0"],  # wires alone have no part
        "slots": slots,
        "outputs": [slot[node] for node in netlist.outputs.tolist()],
    }


def tables(netlist: Netlist) -> dict[str, Any]:
    plan = schedule(netlist)
    return {
        "index": "uint16_t" if plan.slots <= 1 << 16 else "uint32_t",
        "rows": [f"{{{t}, {a}, {b}}}" for t, a, b in plan.operations.tolist()] or ["{0, 0, 0}"],
        "runs": [f"{{{gate}, {count}}}" for gate, count in plan.runs.tolist()] or ["{0, 0}"],
        "run_count": len(plan.runs),
        "expressions": [algebra.expression(gate.index, "v[(*g)[1]]", "v[(*g)[2]]", one=ALL_ONES) for gate in GATES],
        "slots": plan.slots,
        "outputs": plan.outputs.tolist(),
    }


FORMS = {"code": code, "tables": tables}


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


def _slots(netlist: Netlist, parts: list[list[int]]) -> tuple[dict[int, int], int]:
    """The slot of every input and of every value that leaves its part. A slot is taken again by a later part than the
    last one that reads it, so within a part no slot changes its meaning."""
    reads = netlist.reads()
    last = {node: -1 for node in range(netlist.inputs)}
    for number, part in enumerate(parts):
        for node in part:
            last[node] = number
            last.update(dict.fromkeys(reads[node - netlist.inputs], number))
    last.update(dict.fromkeys(netlist.outputs.tolist(), len(parts)))
    free_after: list[list[int]] = [[] for _ in range(len(parts) + 2)]
    slot = {node: node for node in range(netlist.inputs)}
    for node in range(netlist.inputs):
        free_after[last[node]].append(node)  # an unused input goes to the end of the list, which nobody takes from
    free: list[int] = []
    slots = netlist.inputs
    for number, part in enumerate(parts):
        for node in part:
            if last[node] > number:
                slot[node] = free.pop() if free else slots
                slots += slot[node] == slots
                free_after[last[node]].append(slot[node])
        free += free_after[number]
    return slot, slots


def _function(netlist: Netlist, part: list[int], slot: dict[int, int]) -> list[str]:
    here: set[int] = set()
    lines = []
    for node in part:
        index = node - netlist.inputs
        a, b = (
            f"n{operand}" if operand in here else f"v[{slot.get(operand, 0)}]"
            for operand in (int(netlist.first[index]), int(netlist.second[index]))
        )
        lines.append(f"const uint64_t n{node} = {algebra.expression(int(netlist.gate[index]), a, b, one=ALL_ONES)};")
        if node in slot:
            lines.append(f"v[{slot[node]}] = n{node};")
        here.add(node)
    return lines
