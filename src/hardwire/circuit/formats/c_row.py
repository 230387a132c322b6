"""One image at a time as straight-line C: each value is a variable that is 0 or -1, for which compilers find registers.

A threshold costs two or three instructions where its bit is read, a gate one, an output one; what nothing reads is not
computed. Surprising: a threshold is stored as its complement, "below", since the sign of a difference is just that, and
gates take complements for free (see `hardwire.circuit.literals`). c_row_read.py reads the lines back.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits.units import RANGES
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.input_format import InputFormat
from hardwire.circuit.literals import CONSTANT, Literals, literals

PIECE = 512  # gates of a function: compilers take a few seconds for it, and find what is shared within it
NARROW = ("bits", "bytes", "int8", "int16")  # kinds whose differences int32_t holds whatever the values are
SPAN = (1 << 31) - 1  # values that are less apart than this have a difference that int32_t holds
EXPRESSIONS = {8: "{a} & {b}", 14: "{a} | {b}", 6: "{a} ^ {b}", 4: "{a} & ~{b}", 2: "{b} & ~{a}"}  # by truth table
# of Thumb code at -Os, about, by kind of line; measured by benchmarks/microcontroller.py
BYTES = {"value": 5, "clip": 30, "BELOW": 6, "LESS": 12, "constant": 6, "gate": 6, "sum": 2, "memory": 4}
_VARIABLES = re.compile(r"\b[nx]\d+")


def row_words(circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns the template values of straight-line code for one image."""
    return row_code_words(*row_parts(circuit, input_format), circuit, input_format)


def row_parts(circuit: Circuit, input_format: InputFormat, piece: int | None = None) -> tuple[list[list[str]], int]:
    """Returns the lines of each function, of at most `piece` gates, and the number of slots they share."""
    writer = _Writer(literals(circuit.gates), circuit, input_format, piece or PIECE)
    return writer.parts(), writer.slots


def row_code_words(parts: list[list[str]], slots: int, circuit: Circuit, input_format: InputFormat) -> dict[str, Any]:
    """Returns the template values for functions of these lines."""
    kind = input_format.kind
    return {
        "form": "row",
        "parts": parts,
        "slots": slots,
        "functions": len(parts),
        "value": "int" if kind in ("bits", "bytes", "int8") else "int32_t",
        "unsigned": "unsigned" if kind in ("bits", "bytes", "int8") else "uint32_t",
        "sum": "int" if circuit.group < 1 << 15 else "int32_t",
        "wide": kind not in NARROW,
        "clips": any("clip(" in line for part in parts for line in part),
        "keys": any("key(" in line for part in parts for line in part),
        "code_bytes": 100 + sum(map(_code_bytes, parts)),
        "stack_bytes": 4 * (max(map(_most_live, parts), default=0) + slots + circuit.classes),
    }


def column_keys(input_format: InputFormat) -> npt.NDArray[np.int64]:
    """Returns the thresholds as signed whole numbers [columns, levels]; for bits 0, since any other byte is true."""
    if input_format.thresholds is None:
        return np.zeros((input_format.inputs, 1), np.int64)
    return input_format.keys - ((1 << 31) if input_format.kind == "floats" else 0)


def limits(kind: str) -> tuple[int, int]:
    """Returns the lowest and highest value of a kind; for floats of their keys."""
    return (-SPAN - 1, SPAN) if kind == "floats" else RANGES[kind]


class _Writer:
    """Writes the lines of the functions; a variable has the number of its node."""

    def __init__(self, plan: Literals, circuit: Circuit, input_format: InputFormat, piece: int):
        self.plan, self.circuit, self.kind, self.piece = plan, circuit, input_format.kind, piece
        keys = column_keys(input_format)
        self.levels, self.limit = keys.shape[1], (keys.ravel() + 1).tolist()  # below which an input bit is false
        self.stored = dict.fromkeys(range(plan.inputs), True)  # by node: whether its variable is its complement
        self.clips = {} if self.kind in NARROW else self._clips()
        self.slot: dict[int, int] = {}
        self.slots = 0

    def parts(self) -> list[list[str]]:
        """Returns the lines of each function."""
        steps = self._steps()
        self._assign_slots(steps)
        return [self._part(number, piece) for number, piece in enumerate(steps)]

    def _clips(self) -> dict[int, tuple[int, int]]:
        """Returns by column what its values are clipped to, so that all differences fit; not where nothing does."""
        read = {node for gate in self.plan.gates.values() for node in gate[:2]} | {
            node for node, _ in self.plan.outputs
        }
        used: dict[int, list[int]] = {}
        for node in sorted(node for node in read if 0 <= node < self.plan.inputs):
            if self._fixed(node) is None:
                used.setdefault(node // self.levels, []).append(self.limit[node])
        ends = {column: (min(limits) - 1, max(limits)) for column, limits in used.items()}
        return {column: (low, high) for column, (low, high) in ends.items() if low > -SPAN and high - low < SPAN}

    def _fixed(self, node: int) -> int | None:
        """Returns the variable of an input bit that is the same for all values."""
        low, high = limits(self.kind)
        return 0 if self.limit[node] <= low else -1 if self.limit[node] > high else None

    def _steps(self) -> list[list[tuple[int, int]]]:
        """Returns pieces of steps: (node, -1) computes a gate, (output, class) adds to a sum."""
        pieces: list[list[tuple[int, int]]] = [[]]
        gates = 0
        for output, cone in enumerate(self.plan.order()):
            for node in cone:
                if gates == self.piece:
                    pieces.append([])
                    gates = 0
                pieces[-1].append((node, -1))
                gates += 1
            pieces[-1].append((output, output // self.circuit.group))
        return pieces

    def _assign_slots(self, pieces: list[list[tuple[int, int]]]) -> None:
        """Gives a slot of memory to every gate that a later piece reads; it is free again after its last reader."""
        made: dict[int, int] = {}
        last: dict[int, int] = {}
        for number, piece in enumerate(pieces):
            for step, label in piece:
                reads = self.plan.gates[step][:2] if label < 0 else (self.plan.outputs[step][0],)
                last.update(dict.fromkeys(reads, number))
                if label < 0:
                    made[step] = number
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for number, piece in enumerate(pieces):
            for node in (step for step, label in piece if label < 0 and last[step] > number):
                self.slot[node] = free.pop() if free else self.slots
                self.slots += self.slot[node] == self.slots
                ending.setdefault(last[node], []).append(self.slot[node])
            free += ending.get(number, [])

    def _part(self, number: int, steps: list[tuple[int, int]]) -> list[str]:
        names: set[str] = set()
        body: list[str] = []
        starts: dict[int, int] = {}  # by class: the complements among its outputs, each of which adds one
        for step, label in steps:
            if label < 0:
                a, b, truth = self.plan.gates[step]
                body += [*self._needed(a, names), *self._needed(b, names), self._gate(step, a, b, truth)]
                names.add(f"n{step}")
                if step in self.slot:
                    body.append(f"v[{self.slot[step]}] = n{step};")
                continue
            node, complement = self.plan.outputs[step]
            if node == CONSTANT:
                body.append(f"s{label} += {int(complement)};")
                starts.setdefault(label, 0)
                continue
            inverse = complement ^ self.stored[node]
            body += [*self._needed(node, names), f"s{label} {'+' if inverse else '-'}= n{node};"]
            starts[label] = starts.get(label, 0) + inverse
        return [
            *(f"sum s{label} = {start};" for label, start in starts.items()),
            *body,
            *(f"s[{label}] += s{label};" for label in starts),
        ]

    def _gate(self, node: int, a: int, b: int, truth: int) -> str:
        """Returns the line of a gate, and decides whether its complement is stored."""
        swap = 2 * self.stored[a] + self.stored[b]
        truth = sum((truth >> (place ^ swap) & 1) << place for place in range(4))
        self.stored[node] = truth not in EXPRESSIONS
        return gate_line(node, EXPRESSIONS[truth ^ 15 if self.stored[node] else truth], a, b)

    def _needed(self, node: int, names: set[str]) -> list[str]:
        """Returns the lines that define the variable of a node, if this function does not have it yet."""
        if f"n{node}" in names:
            return []
        names.add(f"n{node}")
        if node >= self.plan.inputs:
            return [f"const word n{node} = v[{self.slot[node]}];"]
        fixed = self._fixed(node)
        if fixed is not None:
            return [f"const word n{node} = {fixed};"]
        column = node // self.levels
        known, clip = f"x{column}" in names, self.clips.get(column)
        names.add(f"x{column}")
        compare = "BELOW" if clip or self.kind in NARROW else "LESS"
        line = f"const word n{node} = {compare}(x{column}, {self.limit[node]});"
        return [line] if known else [value_line(column, self.kind, clip), line]


def gate_line(node: int, expression: str, a: int, b: int) -> str:
    """Returns the line that computes a gate."""
    return f"const word n{node} = (word)({expression.format(a=f'n{a}', b=f'n{b}')});"


def value_line(column: int, kind: str, clip: tuple[int, int] | None) -> str:
    """Returns the line that loads a value."""
    value = f"key(raw[{column}])" if kind == "floats" else f"raw[{column}]"
    return f"const value x{column} = {value if clip is None else f'clip({value}, {clip[0]}, {clip[1]})'};"


def _code_bytes(lines: list[str]) -> int:
    """Estimates the bytes of a function on a Cortex-M0+."""
    total = 40
    for line in lines:
        if "(word)" in line:
            total += BYTES["gate"]
        elif "BELOW" in line or "LESS" in line:
            limit = abs(int(line.rpartition(" ")[2].rstrip(");")))
            total += BYTES["BELOW" if "BELOW" in line else "LESS"] + BYTES["constant"] * (limit > 255)
        elif line.startswith("const value"):
            total += BYTES["clip" if "clip(" in line else "value"]
        else:
            total += BYTES["memory" if "v[" in line else "sum"]
    return total


def _most_live(lines: list[str]) -> int:
    """Returns how many variables hold a value that is still needed, at most."""
    last = {name: number for number, line in enumerate(lines) for name in _VARIABLES.findall(line)}
    live, most = 0, 0
    seen: set[str] = set()
    for number, line in enumerate(lines):
        here = set(_VARIABLES.findall(line))
        live += len(here - seen)
        seen |= here
        most = max(most, live)
        live -= sum(last[name] == number for name in here)
    return most
