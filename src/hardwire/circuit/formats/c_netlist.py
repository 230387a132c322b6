"""The gates of an exported C file as a netlist: the reverse of c_gates.py, one function for each form.

A file's gates are executed symbolically: a slot holds a node of the netlist where C has a word of bits. Anything that
would be undefined in C, such as a slot that is read before it is written, is a ValueError with the reason. Each
function also returns the template values that write the same gates again.
"""

import re
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.builder import Builder
from hardwire.circuit.formats.c_gates import (
    ALL_ONES,
    TRUTH_BITS,
    code_words,
    gate_line,
    single_image_words,
    table_words,
)
from hardwire.circuit.formats.c_text import Line
from hardwire.circuit.netlist import Netlist
from hardwire.gates import algebra

Numbers = npt.NDArray[np.int64]
Result = tuple[Netlist, dict[str, Any]]
_OPERAND = re.compile(r"n\d{1,9}|v\[\d{1,9}\]")
_GATE = re.compile(r"const word n(\d{1,9}) = \(word\)\((.*)\);")
_STORE = re.compile(r"v\[(\d{1,9})\] = n(\d{1,9});")
# an expression with @ for its operands -> the gate; for a wire or an inverter the one of its first operand
_GATES = {algebra.expression(gate, "@", "@", one=ALL_ONES): gate for gate in reversed(range(16))}
_GATES |= {"@": algebra.A, "~@": algebra.NOT_A}


def read_tables(inputs: int, rows: Numbers, runs: Numbers, slots: int, outputs: list[int]) -> Result:
    """Reads rows of (target, first, second) and runs of (gate, count)."""
    operations, pairs = _table(rows, 3), _table(runs, 2)
    memory, builder = _memory(inputs, slots, len(operations)), Builder(inputs)
    _check(operations, 0, slots)
    gates = _repeated(pairs[:, 0], pairs[:, 1], len(operations))
    for gate, (target, first, second) in zip(gates, operations.tolist(), strict=True):
        a = _value(memory, first) if algebra.READS_FIRST[gate] else 0
        b = _value(memory, second) if algebra.READS_SECOND[gate] else 0
        memory[target] = builder.gate(gate, a, b)
    words = table_words(operations.tolist(), pairs.tolist(), slots, outputs)
    return builder.netlist([_value(memory, slot) for slot in outputs]), words


def read_single_image(inputs: int, rows: Numbers, runs: Numbers, outputs: list[int]) -> Result:
    """Reads rows of (first, second) and runs of (count, truth table)."""
    operands, pairs = _table(rows, 2), _table(runs, 2)
    nodes = inputs + len(operands)
    _check(operands, 0, inputs + np.arange(len(operands))[:, None])
    gate_of = {truth: gate for gate, truth in enumerate(TRUTH_BITS)}
    if set(pairs[:, 1].tolist()) - gate_of.keys():
        raise ValueError("it has a gate that is none of the 16")
    gates = np.array([gate_of[truth] for truth in pairs[:, 1].tolist()], np.int64)
    numbers = np.array(list(_repeated(gates, pairs[:, 0], len(operands))), np.uint8)
    _check(np.array(outputs), 0, nodes)
    words = single_image_words(inputs, operands.tolist(), pairs.tolist(), outputs)
    return Netlist(inputs, numbers, operands[:, 0], operands[:, 1], np.array(outputs)), words


def read_code(inputs: int, parts: list[list[Line]], slots: int, outputs: list[int]) -> Result:
    """Reads functions of straight-line code."""
    memory, builder = _memory(inputs, slots, sum(map(len, parts))), Builder(inputs)
    for part in parts:
        variables: dict[str, int] = {}
        for number, line in part:
            try:
                _run(line, variables, memory, builder)
            except ValueError as error:
                raise ValueError(f"line {number} {error}: {line!r:.60}") from None
    words = code_words([[line for _, line in part] for part in parts], slots, outputs)
    return builder.netlist([_value(memory, slot) for slot in outputs]), words


def _run(line: str, variables: dict[str, int], memory: list[int], builder: Builder) -> None:
    """Executes one line of code."""
    if store := _STORE.fullmatch(line):
        if f"n{store[2]}" not in variables or int(store[1]) >= len(memory):
            raise ValueError("stores what does not exist, or outside of the slots")
        memory[int(store[1])] = variables[f"n{store[2]}"]
        return
    match = _GATE.fullmatch(line)
    gate = None if match is None else _GATES.get(_OPERAND.sub("@", match[2]))
    if match is None or gate is None:
        raise ValueError("is not what this version of hardwire writes")
    operands = _OPERAND.findall(match[2])
    operands *= 2 if len(operands) == 1 else 1
    if f"n{match[1]}" in variables or line != gate_line(int(match[1]), gate, *(operands or ["", ""])):
        raise ValueError("defines a variable twice, or writes a number in another way")
    nodes = [variables.get(text, -1) if text[0] == "n" else _value(memory, int(text[2:-1])) for text in operands]
    if -1 in nodes:
        raise ValueError("reads a variable before it is defined")
    variables[f"n{match[1]}"] = builder.gate(gate, *(nodes or (0, 0)))


def _table(numbers: Numbers, columns: int) -> Numbers:
    if not numbers.any() and len(numbers) < 3:  # what stands for no gates, as C has no empty tables
        return np.zeros((0, columns), np.int64)
    if len(numbers) % columns:
        raise ValueError("one of its tables ends inside a row")
    return numbers.reshape(-1, columns)


def _memory(inputs: int, slots: int, written: int) -> list[int]:
    """Returns the node in each slot, inputs first; -1 where nothing was written yet."""
    if not inputs <= slots <= inputs + written:
        raise ValueError(f"it has {slots} slots for {inputs} inputs and {written} values")
    return [*range(inputs), *repeat(-1, slots - inputs)]


def _check(numbers: Numbers, low: int, high: int | Numbers) -> None:
    if ((numbers < low) | (numbers >= high)).any():
        raise ValueError("one of its tables reaches outside of the values")


def _value(memory: list[int], slot: int) -> int:
    if not 0 <= slot < len(memory) or memory[slot] < 0:
        raise ValueError(f"reads slot {slot} before anything is written there")
    return memory[slot]


def _repeated(values: Numbers, counts: Numbers, total: int) -> Iterable[int]:
    """Returns each value as often as its count says, `total` in all."""
    if (counts < 1).any() or counts.sum() != total or (values < 0).any() or (values > 15).any():
        raise ValueError("the runs of its gates do not fit its table of gates")
    return chain.from_iterable(map(repeat, values.tolist(), counts.tolist()))
