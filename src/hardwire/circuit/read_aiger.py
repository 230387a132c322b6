"""Reads AIGER files into netlists.

Latches that form a pipeline are treated as wires: every path from the inputs to a gate passes equally many, so that the
file computes the same function some cycles later. Any other use of latches is refused. Files may come from strangers:
every number is checked, and time and memory are proportional to the size of the file, which is bounded.
"""

import os
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hardwire.circuit.builder import Builder
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError
from hardwire.gates import algebra

MOST_BYTES = 1 << 25  # a million gates take 4 MB
MOST_INPUTS = 1 << 20  # in binary files they take no bytes, so a few bytes could ask for gigabytes
ALWAYS = -1  # the stage of a constant, which is available in every cycle
UNKNOWN, FALSE = -2, -1  # literals in the netlist of a variable that was not added yet, and of the constant
_HEADER = re.compile(rb"(aig|aag)((?: \d{1,9}){5,9})\r?\n")


@dataclass
class Aiger:
    """A parsed file: literals as in the format, and names by position, if the file has any."""

    variables: int
    inputs: list[int] = field(default_factory=list)
    latches: dict[int, int] = field(default_factory=dict)  # variable -> literal of the next state
    resets: dict[int, int] = field(default_factory=dict)  # variable -> literal after reset, where the file says it
    outputs: list[int] = field(default_factory=list)
    left: "array[int]" = field(default_factory=lambda: array("q"))  # literals by variable; -1 if it is not an AND
    right: "array[int]" = field(default_factory=lambda: array("q"))
    input_names: dict[int, str] = field(default_factory=dict)
    output_names: dict[int, str] = field(default_factory=dict)


def read_aiger(path: str | os.PathLike[str]) -> tuple[Netlist, int]:
    """Reads an AIGER file; see `netlist_and_latency`."""
    with reading(path):
        if Path(path).stat().st_size > MOST_BYTES:
            raise HardwireError(f"it has more than {MOST_BYTES:,} bytes")
        return netlist_and_latency(parse(Path(path).read_bytes()))


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what goes wrong while a file is read and parsed into one error that names the file."""
    try:
        yield
    except OSError as error:
        raise HardwireError(f"cannot read {path}: {error.strerror}") from None
    except HardwireError as error:
        raise HardwireError(f"cannot read {path}: {error}") from None
    except (ValueError, IndexError):
        raise HardwireError(f"cannot read {path}: truncated or not an AIGER file") from None


def netlist_and_latency(aiger: Aiger) -> tuple[Netlist, int]:
    """Returns the netlist of a parsed file, and its latency in cycles.

    Inputs and outputs are in the order of their names x[k] and label[k] if the file has such names.
    """
    return _Resolver(aiger).netlist()


def parse(data: bytes) -> Aiger:
    """Parses the bytes of a file, binary or ASCII."""
    header = _HEADER.match(data)
    if header is None:
        raise HardwireError("it does not start as an AIGER file does, with aig or aag and five numbers")
    variables, inputs, latches, outputs, ands, *properties = map(int, header[2].split())
    if any(properties):
        raise HardwireError("it holds properties to check, which a circuit does not have")
    if inputs > MOST_INPUTS or variables > inputs + len(data) or latches + outputs + ands > len(data):
        raise HardwireError("its header promises more than the file holds")
    if variables < inputs + latches + ands:
        raise HardwireError(f"its header numbers {variables} variables for {inputs + latches + ands} values")
    aiger = Aiger(variables, left=array("q", [-1]) * (variables + 1), right=array("q", [-1]) * (variables + 1))
    cursor = _Cursor(data, header.end(), 2 * variables + 1)
    (_parse_binary if header[1] == b"aig" else _parse_ascii)(cursor, aiger, inputs, latches, outputs, ands)
    _symbols(cursor.rest(), aiger)
    return aiger


def _parse_binary(cursor: "_Cursor", aiger: Aiger, inputs: int, latches: int, outputs: int, ands: int) -> None:
    aiger.inputs = list(range(1, inputs + 1))
    for variable in range(inputs + 1, inputs + latches + 1):
        aiger.latches[variable], *reset = cursor.literals()
        aiger.resets.update({variable: reset[0]} if reset else {})
    aiger.outputs = [cursor.literals()[0] for _ in range(outputs)]
    for variable in range(inputs + latches + 1, inputs + latches + ands + 1):
        left = 2 * variable - cursor.delta()
        right = left - cursor.delta()
        if right < 0:
            raise ValueError
        aiger.left[variable], aiger.right[variable] = left, right


def _parse_ascii(cursor: "_Cursor", aiger: Aiger, inputs: int, latches: int, outputs: int, ands: int) -> None:
    defined = bytearray(aiger.variables + 1)

    def define(literal: int) -> int:
        variable = literal // 2
        if literal < 2 or literal % 2 or defined[variable]:
            raise HardwireError(f"literal {literal} is defined twice, or cannot be defined")
        defined[variable] = 1
        return variable

    aiger.inputs = [define(cursor.literals()[0]) for _ in range(inputs)]
    for _ in range(latches):
        state, following, *reset = cursor.literals()
        aiger.latches[define(state)] = following
        aiger.resets.update({state // 2: reset[0]} if reset else {})
    aiger.outputs = [cursor.literals()[0] for _ in range(outputs)]
    for _ in range(ands):
        result, left, right = cursor.literals()
        variable = define(result)
        aiger.left[variable], aiger.right[variable] = left, right


class _Cursor:
    """A position in the bytes of a file: lines of literals, or packed differences."""

    def __init__(self, data: bytes, at: int, highest: int):
        self.data, self.at, self.highest = data, at, highest

    def literals(self) -> list[int]:
        """Reads a line of literals."""
        end = self.data.index(b"\n", self.at)
        line, self.at = self.data[self.at : end], end + 1
        if len(line) > 64:  # a line has up to three numbers
            raise ValueError
        literals = [int(number) for number in line.split()]
        if not literals or min(literals) < 0 or max(literals) > self.highest:
            raise ValueError
        return literals

    def delta(self) -> int:
        """Reads a packed number of at most 35 bits."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError

    def rest(self) -> list[str]:
        """Returns the lines that are left."""
        return self.data[self.at :].decode(errors="replace").splitlines()


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
    """Returns the positions of stem[0], stem[1], ..., leaving out others, such as a clock; all positions if the file
    has no such names."""
    numbered = {i: re.fullmatch(rf"{stem}\[(\d{{1,9}})\]", name) for i, name in names.items()}
    places = {int(match[1]): i for i, match in numbered.items() if match}
    if not places:  # a single bit may have no number
        places = dict(enumerate(i for i, name in names.items() if name == stem))
    if not places or sorted(places) != list(range(len(places))):
        return list(range(count))
    return [places[k] for k in range(len(places))]


class _Resolver:
    """Makes a netlist of a parsed file: the literal in the netlist and the stage of every variable it needs."""

    def __init__(self, aiger: Aiger):
        self.aiger = aiger
        inputs = [aiger.inputs[i] for i in _by_name(aiger.input_names, len(aiger.inputs), "x")]
        self.builder = Builder(len(inputs))
        self.literal = array("q", [UNKNOWN]) * (aiger.variables + 1)
        self.stage = array("q", [ALWAYS]) * (aiger.variables + 1)
        self.literal[0] = FALSE
        for node, variable in enumerate(inputs):
            self.literal[variable], self.stage[variable] = 2 * node, 0

    def netlist(self) -> tuple[Netlist, int]:
        """Returns the netlist and its latency."""
        positions = _by_name(self.aiger.output_names, len(self.aiger.outputs), "label")
        outputs = [self.aiger.outputs[i] for i in positions]
        for literal in outputs:
            self._resolve(literal // 2)
        stages = {self.stage[literal // 2] for literal in outputs} - {ALWAYS}
        if len(stages) > 1:
            raise HardwireError(f"its outputs come in different cycles: {sorted(stages)[:9]}")
        nodes = [self._node(self.literal[literal // 2], literal & 1) for literal in outputs]
        return self.builder.netlist(nodes), max(stages, default=0)

    def _node(self, literal: int, negated: int) -> int:
        if literal == FALSE:
            return self.builder.constant(bool(negated))
        node = literal // 2
        return self.builder.gate(algebra.NOT_A, node, node) if literal & 1 ^ negated else node

    def _resolve(self, root: int) -> None:
        """Adds `root` and everything it depends on to the netlist, without recursion, since circuits are deep."""
        stack: list[int] = [root]
        waiting: set[int] = set()  # variables that wait for those they depend on
        while stack:
            variable = stack[-1]
            if self.literal[variable] != UNKNOWN:
                stack.pop()
                continue
            missing = [literal // 2 for literal in self._below(variable) if self.literal[literal // 2] == UNKNOWN]
            if missing:
                if variable in waiting:
                    raise HardwireError(f"variable {variable} depends on itself; only pipelines can be compared")
                waiting.add(variable)
                stack += missing
                continue
            self.literal[variable], self.stage[variable] = self._added(variable)
            stack.pop()

    def _below(self, variable: int) -> tuple[int, ...]:
        if variable in self.aiger.latches:
            return (self.aiger.latches[variable],)
        if self.aiger.left[variable] < 0:
            raise HardwireError(f"variable {variable} is used but never defined")
        return self.aiger.left[variable], self.aiger.right[variable]

    def _added(self, variable: int) -> tuple[int, int]:
        """Adds one variable, whose operands are there; returns its literal and stage."""
        if variable in self.aiger.latches:
            literal = self.aiger.latches[variable]
            source, stage = self.literal[literal // 2], self.stage[literal // 2]
            if source == FALSE:  # starts at 0 and stays there, or becomes 1 in the first cycle
                return (2 * self.builder.constant(True), ALWAYS) if literal & 1 else (FALSE, ALWAYS)
            return source ^ (literal & 1), stage if stage == ALWAYS else stage + 1
        operands: list[int] = []
        stages: set[int] = set()
        for literal in self._below(variable):
            source = self.literal[literal // 2]
            operands.append((2 * self.builder.constant(False) if source == FALSE else source) ^ (literal & 1))
            stages.add(self.stage[literal // 2])
        stages.discard(ALWAYS)
        if len(stages) > 1:
            raise HardwireError(f"variable {variable} mixes cycles {sorted(stages)}: the pipeline is not balanced")
        gate = algebra.AND_OF[operands[0] & 1, operands[1] & 1, 0]
        return 2 * self.builder.gate(gate, operands[0] // 2, operands[1] // 2), max(stages, default=ALWAYS)
