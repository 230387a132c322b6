"""Reads AIGER files into netlists: what other tools say an exported file computes.

Latches are read through where they form a pipeline: every path from the inputs to a gate passes equally many, so that
the file computes the same function some cycles later. Anything else with latches is refused.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError
from hardwire.gates import algebra

MOST_INPUTS = 1 << 20  # in binary files they take no bytes, and a few bytes must not ask for gigabytes
ALWAYS = -1  # the stage of a constant, which is there in every cycle
Place = dict[int, tuple[int | None, int]]  # variable -> its literal in the netlist (None for false) and its stage


@dataclass
class Aiger:
    """A parsed file: literals as in the format; names by position where the file gives any."""

    inputs: list[int] = field(default_factory=list)
    latches: dict[int, int] = field(default_factory=dict)  # variable -> literal of the next state
    outputs: list[int] = field(default_factory=list)
    ands: dict[int, tuple[int, int]] = field(default_factory=dict)  # variable -> two literals
    input_names: dict[int, str] = field(default_factory=dict)
    output_names: dict[int, str] = field(default_factory=dict)


def read_aiger(path: str | os.PathLike[str]) -> tuple[Netlist, int]:
    """The netlist of an AIGER file, inputs and outputs in the order of their names x[k] and label[k] where it names
    them so, and its latency in cycles."""
    try:
        aiger = parse(Path(path).read_bytes())
        return _netlist(aiger)
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror}") from None
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None
    except (ValueError, IndexError, KeyError):
        raise HardwireError(f"cannot read {path}: truncated or not an AIGER file") from None


def parse(data: bytes) -> Aiger:
    header, _, rest = data.partition(b"\n")
    kind, *numbers = header.split()
    if kind not in (b"aig", b"aag"):
        raise HardwireError("it does not start as an AIGER file does, with aig or aag")
    _, inputs, latches, outputs, ands, *properties = map(int, numbers)
    if min(inputs, latches, outputs, ands) < 0 or inputs > MOST_INPUTS or latches + outputs + ands > len(rest):
        raise HardwireError("its header promises more than the file holds")
    if any(properties):
        raise HardwireError("it holds properties to check, which a circuit does not have")
    lines = _Lines(rest)
    aiger = Aiger()
    binary = kind == b"aig"
    aiger.inputs = [i + 1 for i in range(inputs)] if binary else [lines.numbers()[0] // 2 for _ in range(inputs)]
    for i in range(latches):
        variable, following = (inputs + i + 1, lines.numbers()[0]) if binary else _latch(lines.numbers())
        aiger.latches[variable] = following
    aiger.outputs = [lines.numbers()[0] for _ in range(outputs)]
    for i in range(ands):
        variable = inputs + latches + i + 1
        if binary:
            left = 2 * variable - lines.delta()
            aiger.ands[variable] = (left, left - lines.delta())
        else:
            result, left, right = lines.numbers()
            aiger.ands[result // 2] = (left, right)
    _symbols(lines.rest(), aiger)
    return aiger


class _Lines:
    """A cursor over the bytes of a file: lines of numbers, or packed differences."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def numbers(self) -> list[int]:
        end = self.data.index(b"\n", self.at)
        line, self.at = self.data[self.at : end], end + 1
        return [int(number) for number in line.split()]

    def delta(self) -> int:
        value = shift = 0
        while self.data[self.at] & 0x80:
            value |= (self.data[self.at] & 0x7F) << shift
            shift += 7
            self.at += 1
        value |= self.data[self.at] << shift
        self.at += 1
        return value

    def rest(self) -> list[str]:
        return self.data[self.at :].decode(errors="replace").splitlines()


def _latch(numbers: list[int]) -> tuple[int, int]:
    return numbers[0] // 2, numbers[1]


def _symbols(lines: list[str], aiger: Aiger) -> None:
    for line in lines:
        if line.startswith("c"):
            return
        position, _, name = line.partition(" ")
        if position[:1] == "i":
            aiger.input_names[int(position[1:])] = name
        elif position[:1] == "o":
            aiger.output_names[int(position[1:])] = name


def _by_name(names: dict[int, str], count: int, stem: str) -> list[int]:
    """Positions in the order of stem[0], stem[1], ...; others, such as a clock, are left out. As they are, where the
    file has no such names."""
    places = {int(name[len(stem) + 1 : -1]): i for i, name in names.items() if re.fullmatch(rf"{stem}\[\d+\]", name)}
    if not places:  # one bit may go without its number
        places = dict(enumerate(i for i, name in names.items() if name == stem))
    if not places or sorted(places) != list(range(len(places))):
        return list(range(count))
    return [places[k] for k in range(len(places))]


def _netlist(aiger: Aiger) -> tuple[Netlist, int]:
    inputs = [aiger.inputs[i] for i in _by_name(aiger.input_names, len(aiger.inputs), "x")]
    outputs = [aiger.outputs[i] for i in _by_name(aiger.output_names, len(aiger.outputs), "label")]
    builder = Builder(len(inputs))
    place: Place = {variable: (2 * node, 0) for node, variable in enumerate(inputs)}
    place[0] = (None, ALWAYS)
    for literal in outputs:
        _resolve(aiger, literal // 2, builder, place)
    stages = {place[literal // 2][1] for literal in outputs} - {ALWAYS}
    if len(stages) > 1:
        raise HardwireError(f"its outputs come in different cycles: {sorted(stages)}")
    nodes = [_node(builder, place[literal // 2][0], literal & 1) for literal in outputs]
    return builder.netlist(nodes), max(stages, default=0)


def _node(builder: Builder, literal: int | None, negated: int) -> int:
    if literal is None:
        return builder.constant(bool(negated))
    node = literal // 2
    return builder.gate(algebra.NOT_A, node, node) if literal & 1 ^ negated else node


def _resolve(aiger: Aiger, root: int, builder: Builder, place: Place) -> None:
    """Places `root` and everything below it, without recursion: circuits are deep."""
    stack: list[int] = [root]
    open_variables: set[int] = set()
    while stack:
        variable = stack[-1]
        if variable in place:
            stack.pop()
            continue
        below = [literal // 2 for literal in _below(aiger, variable)]
        waiting = [child for child in below if child not in place]
        if waiting:
            if variable in open_variables:
                raise HardwireError(f"variable {variable} depends on itself; only pipelines can be compared")
            open_variables.add(variable)
            stack += waiting
            continue
        place[variable] = _placed(aiger, variable, builder, place)
        open_variables.discard(variable)
        stack.pop()


def _below(aiger: Aiger, variable: int) -> tuple[int, ...]:
    if variable in aiger.latches:
        return (aiger.latches[variable],)
    if variable not in aiger.ands:
        raise HardwireError(f"variable {variable} is used but never defined")
    return aiger.ands[variable]


def _placed(aiger: Aiger, variable: int, builder: Builder, place: Place) -> tuple[int | None, int]:
    if variable in aiger.latches:
        literal = aiger.latches[variable]
        node, stage = place[literal // 2]
        if node is None:  # starts at 0 and stays there, or moves to 1 in the first cycle
            return (2 * builder.constant(True), ALWAYS) if literal & 1 else (None, ALWAYS)
        return node ^ (literal & 1), stage if stage == ALWAYS else stage + 1
    operands: list[int] = []
    stages: set[int] = set()
    for literal in aiger.ands[variable]:
        node, stage = place[literal // 2]
        operands.append(2 * builder.constant(False) if node is None else node)
        operands[-1] ^= literal & 1
        stages.add(stage)
    stages.discard(ALWAYS)
    if len(stages) > 1:
        raise HardwireError(f"variable {variable} mixes cycles {sorted(stages)}: the pipeline is not balanced")
    gate = algebra.AND_OF[operands[0] & 1, operands[1] & 1, 0]
    node = builder.gate(gate, operands[0] // 2, operands[1] // 2)
    return 2 * node, max(stages, default=ALWAYS)
