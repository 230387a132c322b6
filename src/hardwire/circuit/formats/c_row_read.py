"""Reads straight-line C for one image back as a netlist: the reverse of c_row.py, one line at a time.

A line means what it says and nothing else: it matches one of nine patterns, numbers are written in the one way that C
reads as decimal, and a variable is defined once, before it is read. Surprising: thresholds come from the text too, by
the number of their variable, so that another threshold in a file is answered with a value between the two.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.fixed_point import FixedPoint
from hardwire.circuit.formats.c_row import NARROW, SPAN, column_keys, limits, row_code_words, value_line
from hardwire.circuit.formats.c_text import Line
from hardwire.circuit.input_format import InputFormat
from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra

_GATES = {"&": algebra.AND, "|": algebra.OR, "^": algebra.XOR, "& ~": algebra.NEGATED_SECOND[algebra.AND]}


def read_row(
    circuit: Circuit, own: InputFormat, parts: list[list[Line]], slots: int, group: int | None = None
) -> tuple[Netlist, InputFormat, dict[str, Any]]:
    """Returns the gates, the input format with the file's thresholds, and the template values that write them again.

    group: how many outputs of each class the lines compute, if not all.
    """
    reader = _Reader(circuit, own, slots, group or circuit.group)
    for part in parts:
        reader.part(part)
    words = row_code_words([[line for _, line in part] for part in parts], slots, circuit, own)
    return reader.netlist(), reader.input_format(), words


class _Reader:
    """Runs the lines on nodes of a netlist in place of values."""

    def __init__(self, circuit: Circuit, own: InputFormat, slots: int, group: int):
        if slots > circuit.gates.size:
            raise ValueError(f"it has {slots} slots for {circuit.gates.size} gates")
        self.own, self.builder, self.kind = own, Builder(circuit.inputs), own.kind
        self.low, self.high = limits(own.kind)
        self.keys = column_keys(own)
        self.memory: dict[int, int] = {}
        self.slots = slots
        self.stated: dict[int, int] = {}  # by input bit: the key of its threshold in the file
        self.outputs: list[list[int]] = [[] for _ in range(circuit.classes)]
        self.group = group

    def part(self, lines: list[Line]) -> None:
        """Reads one function."""
        self.names: dict[int, int] = {}  # by number of a variable: its node
        self.values: dict[int, tuple[int, int, str]] = {}  # by column: what it lies between, and how it is compared
        self.sums: dict[int, int] = {}  # by class: complements that its start has counted and that are still to come
        ended: set[int] = set()
        for number, line in lines:
            try:
                self._line(line, ended)
            except ValueError as error:
                raise ValueError(f"line {number} {error}: {line!r:.60}") from None
        if ended != set(self.sums) or any(self.sums.values()):
            raise ValueError("the sums of a function do not fit its outputs")

    def netlist(self) -> Netlist:
        """Returns the gates that were read."""
        if {len(outputs) for outputs in self.outputs} != {self.group}:
            raise ValueError(f"a class does not have {self.group} outputs")
        return self.builder.netlist([node for outputs in self.outputs for node in outputs])

    def input_format(self) -> InputFormat:
        """Returns the input format with the thresholds that were read; those that no line has are the model's."""
        if self.own.thresholds is None:
            return self.own
        keys = self.keys.copy()
        np.put(keys, list(self.stated), list(self.stated.values()))
        if self.kind != "floats":
            point = FixedPoint(self.kind, np.ones(1), np.zeros(1))
            return replace(self.own, thresholds=keys.astype(np.float64), point=point)
        pattern = np.where(keys >= 0, keys, keys ^ SPAN) & 0xFFFFFFFF
        thresholds = pattern.astype(np.uint32).view(np.float32)
        if not np.isfinite(thresholds).all():
            raise ValueError("its thresholds are not numbers")
        return replace(self.own, thresholds=thresholds.astype(np.float64))

    def _line(self, line: str, ended: set[int]) -> None:
        for pattern, act in _LINES:
            if match := pattern.fullmatch(line):
                numbers = [int(text) for text in match.groups() if text and text.lstrip("-").isdigit()]
                label = numbers[0] if line.startswith("s") else -1
                if label in ended or label >= len(self.outputs):
                    raise ValueError("adds to a sum that has ended, or to none")
                act(self, line, match, numbers)
                if line.startswith("s["):
                    ended.add(label)
                return
        raise ValueError("is not what this version of hardwire writes")

    def _start(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        label, start = numbers
        if label in self.sums:
            raise ValueError("defines a sum twice")
        self.sums[label] = start

    def _end(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        if numbers[0] not in self.sums or numbers[0] != numbers[1]:
            raise ValueError("adds a sum that does not exist")

    def _constant_output(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        self._output(numbers[0], self.builder.constant(numbers[1] == 1))

    def _add(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        label, node = numbers[0], self._node(numbers[1])
        if match[2] == "-":
            return self._output(label, node)
        self._output(label, self._not(node))
        self.sums[label] -= 1
        return None

    def _output(self, label: int, node: int) -> None:
        if label not in self.sums:
            raise ValueError("adds to a sum that does not exist")
        if len(self.outputs[label]) >= self.group:
            raise ValueError(f"is one more than the {self.group} outputs of a class")
        self.outputs[label].append(node)

    def _value(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        column = numbers[0]
        clip = (numbers[-2], numbers[-1]) if len(numbers) > 2 else None
        if column >= len(self.keys) or column in self.values or line != value_line(column, self.kind, clip):
            raise ValueError("loads a value twice, or in another way")
        low, high = clip or (self.low, self.high)
        wide = self.kind not in NARROW
        if clip and not (wide and self.low < low < high <= self.high and high - low < SPAN):
            raise ValueError("clips to more than a difference can hold")
        self.values[column] = low, high, "LESS" if wide and not clip else "BELOW"

    def _threshold(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        bit, column, limit = numbers
        if column not in self.values or bit >= self.keys.size or column != bit // self.keys.shape[1]:
            raise ValueError("compares a value that is not there, or not that of its bit")
        low, high, compare = self.values[column]
        if not low < limit <= high or match[2] != compare:
            raise ValueError("compares with a number outside of its type")
        if (self.kind == "bits" and limit != 1) or (self.kind == "floats" and limit == 0):
            raise ValueError("compares with a number that no export has")  # 0 would lie between -0.0 and 0.0
        self._input(bit, limit - 1)

    def _fixed(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        bit, value = numbers
        if self.kind in ("bits", "floats") or bit >= self.keys.size:
            raise ValueError("is a bit that cannot be constant")
        self._input(bit, self.high if value else self.low - 1)

    def _input(self, bit: int, key: int) -> None:
        if self.stated.setdefault(bit, key) != key:
            raise ValueError("gives a bit a second threshold")
        self._define(bit, self._not(bit))

    def _gate(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        node, a, b = numbers
        self._define(node, self.builder.gate(_GATES[match[3]], self._node(a), self._node(b)))

    def _store(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        if numbers[0] >= self.slots:
            raise ValueError("stores outside of the slots")
        self.memory[numbers[0]] = self._node(numbers[1])

    def _load(self, line: str, match: re.Match[str], numbers: list[int]) -> None:
        if numbers[1] not in self.memory:
            raise ValueError("reads a slot before anything is written there")
        self._define(numbers[0], self.memory[numbers[1]])

    def _define(self, name: int, node: int) -> None:
        if name in self.names:
            raise ValueError("defines a variable twice")
        self.names[name] = node

    def _node(self, name: int) -> int:
        if name not in self.names:
            raise ValueError("reads a variable before it is defined")
        return self.names[name]

    def _not(self, node: int) -> int:
        return self.builder.gate(algebra.NOT_A, node, node)


_N, _Z = r"(0|[1-9]\d{0,9})", r"(0|-?[1-9]\d{0,9})"  # numbers that C and Python read alike
_Act = Callable[[_Reader, str, re.Match[str], list[int]], None]
_LINES: list[tuple[re.Pattern[str], _Act]] = [
    (re.compile(pattern), act)
    for pattern, act in (
        (rf"const word n{_N} = \(word\)\(n{_N} (& ~|[&|^]) ?n{_N}\);", _Reader._gate),
        (rf"const word n{_N} = (BELOW|LESS)\(x{_N}, {_Z}\);", _Reader._threshold),
        (rf"s{_N} ([+-])= n{_N};", _Reader._add),
        (rf"const value x{_N} = (?:clip\()?(?:key\()?raw\[{_N}\]\)?(?:, {_Z}, {_Z}\))?;", _Reader._value),
        (rf"const word n{_N} = (0|-1);", _Reader._fixed),
        (rf"v\[{_N}\] = n{_N};", _Reader._store),
        (rf"const word n{_N} = v\[{_N}\];", _Reader._load),
        (rf"sum s{_N} = {_N};", _Reader._start),
        (rf"s\[{_N}\] \+= s{_N};", _Reader._end),
        (rf"s{_N} \+= ([01]);", _Reader._constant_output),
    )
]
