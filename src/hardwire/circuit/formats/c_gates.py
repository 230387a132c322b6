"""The gates of a circuit in C, in one of three forms: short functions of straight-line code, tables and a loop, or
tables for one image alone, whose values are single bits.

Tables have the order of the native engine, grouped by gate, so that the loop branches once a group. All forms give the
words of their template, among them the number of slots and the slot of each output (input i starts in slot i), and
the bytes of their tables.
"""

from typing import Any

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule
from hardwire.circuit.straight_line import straight_line
from hardwire.gates import GATES, algebra

ALL_ONES = "(word)~(word)0"


def smallest_type(lowest: int, highest: int) -> str:
    """The C type of fewest bytes that holds all from the lowest to the highest."""
    names = ("uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "int64_t")
    ranges = ((name, np.iinfo(name.removesuffix("_t"))) for name in names)
    return next(name for name, held in ranges if held.min <= lowest and highest <= held.max)


def type_size(name: str) -> int:
    return 4 if name == "float" else np.dtype(name.removesuffix("_t")).itemsize


def code(netlist: Netlist) -> dict[str, Any]:
    plan = straight_line(netlist)
    return {
        "parts": [_function(netlist, piece, plan.slot) for piece in plan.pieces],
        "part_names": [f"part_{number}" for number in range(len(plan.pieces))] or ["0"],  # wires alone have no part
        "slots": plan.slots,
        "outputs": [plan.slot[node] for node in netlist.outputs.tolist()],
        "gate_bytes": 0,
    }


def tables(netlist: Netlist) -> dict[str, Any]:
    plan = schedule(netlist)
    present = sorted(set(plan.runs[:, 0].tolist()))
    expressions = [(gate, algebra.expression(gate, "v[(*g)[1]]", "v[(*g)[2]]", one=ALL_ONES)) for gate in present]
    words = _tables(plan.operations.tolist(), plan.runs.tolist(), plan.slots)
    return words | {"expressions": expressions, "slots": plan.slots, "outputs": plan.outputs.tolist()}


def one_image(netlist: Netlist) -> dict[str, Any]:
    """Every value has a bit of its own, in the order of the table, so that a row need not say where it goes."""
    plan, number = schedule(netlist), list(range(netlist.inputs))
    number += [0] * (plan.slots - netlist.inputs)  # by slot: whose value it holds now
    rows = []
    for target, first, second in plan.operations.tolist():
        rows.append((number[first], number[second]))
        number[target] = netlist.inputs + len(rows) - 1
    truth = [sum(output << place for place, output in enumerate(gate.truth_table)) for gate in GATES]
    values = netlist.inputs + len(rows)
    words = _tables(rows, [(count, truth[gate]) for gate, count in plan.runs.tolist()], values)
    return words | {"slots": -(-values // 8), "outputs": [number[slot] for slot in plan.outputs.tolist()]}


def _tables(rows: list[Any], runs: list[Any], values: int) -> dict[str, Any]:
    index = smallest_type(0, values - 1)
    run_type = smallest_type(0, max((max(run) for run in runs), default=0))
    return {
        "index": index,
        "rows": [f"{{{', '.join(map(str, row))}}}" for row in rows] or ["{0}"],
        "run_type": run_type,
        "runs": [f"{{{first}, {second}}}" for first, second in runs] or ["{0, 0}"],
        "run_count": len(runs),
        "gate_bytes": sum(map(len, rows)) * type_size(index) + 2 * len(runs) * type_size(run_type),
    }


def _function(netlist: Netlist, piece: list[int], slot: dict[int, int]) -> list[str]:
    here: set[int] = set()
    lines = []
    for node in piece:
        index = node - netlist.inputs
        a, b = (
            f"n{operand}" if operand in here else f"v[{slot.get(operand, 0)}]"
            for operand in (int(netlist.first[index]), int(netlist.second[index]))
        )
        expression = algebra.expression(int(netlist.gate[index]), a, b, one=ALL_ONES)
        lines.append(f"const word n{node} = (word)({expression});")  # which C widens where a word has 8 bits
        if node in slot:
            lines.append(f"v[{slot[node]}] = n{node};")
        here.add(node)
    return lines


FORMS = {"code": code, "tables": tables}
