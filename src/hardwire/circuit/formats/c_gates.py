"""The gates of a circuit in C, in one of two forms: short functions of straight-line code, or tables and a loop.

Tables have the order and the slots of the native engine, grouped by gate, so that the loop branches once a group. Both
give the words of their template, among them the number of slots and the slot of each output; input i starts in slot i.
"""

from typing import Any

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule
from hardwire.circuit.straight_line import straight_line
from hardwire.gates import GATES

ALL_ONES = "~(uint64_t)0"


def code(netlist: Netlist) -> dict[str, Any]:
    plan = straight_line(netlist)
    return {
        "parts": [_function(netlist, piece, plan.slot) for piece in plan.pieces],
        "part_names": [f"part_{number}" for number in range(len(plan.pieces))] or ["0"],  # wires alone have no part
        "slots": plan.slots,
        "outputs": [plan.slot[node] for node in netlist.outputs.tolist()],
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
