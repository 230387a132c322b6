"""The gates of a circuit in C, in one of three forms: short functions of straight-line code, tables and a loop, or
tables for single images, whose values are single bits.

Tables have the order of the native engine, grouped by gate, so that the loop branches once per group. All forms return
the values of their template, among them the number of slots, the slot of each output (input i starts in slot i), and
the bytes of their tables.
"""

from typing import Any

import numpy as np

from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule
from hardwire.circuit.straight_line import straight_line
from hardwire.gates import GATES, algebra

ALL_ONES = "(word)~(word)0"
TRUTH_BITS = [sum(value << place for place, value in enumerate(gate.truth_table)) for gate in GATES]  # by gate


def smallest_type(lowest: int, highest: int) -> str:
    """Returns the smallest C type that holds everything from the lowest to the highest."""
    names = ("uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "int64_t")
    ranges = ((name, np.iinfo(name.removesuffix("_t"))) for name in names)
    return next(name for name, held in ranges if held.min <= lowest and highest <= held.max)


def type_size(name: str) -> int:
    """Returns the bytes of a C type."""
    return 4 if name == "float" else np.dtype(name.removesuffix("_t")).itemsize


def code(netlist: Netlist) -> dict[str, Any]:
    """Returns the template values of straight-line code."""
    plan = straight_line(netlist)
    parts = [_function(netlist, piece, plan.slot) for piece in plan.pieces]
    return code_words(parts, plan.slots, [plan.slot[node] for node in netlist.outputs.tolist()])


def code_words(parts: list[list[str]], slots: int, outputs: list[int]) -> dict[str, Any]:
    """Returns the template values for functions of these lines."""
    names = [f"part_{number}" for number in range(len(parts))] or ["0"]  # a circuit of wires has no part
    return {"form": "code", "parts": parts, "part_names": names, "slots": slots, "outputs": outputs, "gate_bytes": 0}


def tables(netlist: Netlist) -> dict[str, Any]:
    """Returns the template values of tables and a loop."""
    plan = schedule(netlist)
    return table_words(plan.operations.tolist(), plan.runs.tolist(), plan.slots, plan.outputs.tolist())


def table_words(rows: list[Any], runs: list[Any], slots: int, outputs: list[int]) -> dict[str, Any]:
    """Returns the template values for rows of (target, first, second) and runs of (gate, count)."""
    present = sorted({gate for gate, _ in runs})
    expressions = [(gate, algebra.expression(gate, "v[(*g)[1]]", "v[(*g)[2]]", one=ALL_ONES)) for gate in present]
    return _tables(rows, runs, slots) | {"expressions": expressions, "slots": slots, "outputs": outputs}


def single_image(netlist: Netlist) -> dict[str, Any]:
    """Returns the template values for single images: every value has its own bit, in the order of the table."""
    plan, number = schedule(netlist), list(range(netlist.inputs))
    number += [0] * (plan.slots - netlist.inputs)  # by slot: the value it holds now
    rows = []
    for target, first, second in plan.operations.tolist():
        rows.append((number[first], number[second]))
        number[target] = netlist.inputs + len(rows) - 1
    runs = [(count, TRUTH_BITS[gate]) for gate, count in plan.runs.tolist()]
    return single_image_words(netlist.inputs, rows, runs, [number[slot] for slot in plan.outputs.tolist()])


def single_image_words(inputs: int, rows: list[Any], runs: list[Any], outputs: list[int]) -> dict[str, Any]:
    """Returns the template values for rows of (first, second) and runs of (count, truth table)."""
    values = inputs + len(rows)
    return _tables(rows, runs, values) | {"slots": -(-values // 8), "outputs": outputs}


def _tables(rows: list[Any], runs: list[Any], values: int) -> dict[str, Any]:
    index = smallest_type(0, values - 1)
    run_type = smallest_type(0, max((max(run) for run in runs), default=0))
    return {
        "form": "tables",
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
        lines.append(gate_line(node, int(netlist.gate[index]), a, b))
        if node in slot:
            lines.append(f"v[{slot[node]}] = n{node};")
        here.add(node)
    return lines


def gate_line(node: int, gate: int, a: str, b: str) -> str:
    """Returns the line of code that computes a gate; C widens words of 8 bits, so the result is cast."""
    return f"const word n{node} = (word)({algebra.expression(gate, a, b, one=ALL_ONES)});"


FORMS = {"code": code, "tables": tables}
