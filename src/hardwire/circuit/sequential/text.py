"""Circuits with state as Verilog with registers, and as C with a struct of state.

Both are lists of assignments in the same words. A file is read back from these lines, written once more from what was
read, and refused unless that gives the same text: so whatever a reader does not understand cannot hide in it. Comments
may stand at the top only: inside they can take lines away from a compiler (a backslash at their end, "translate_off").
In C a word holds 64 circuits that run side by side.
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from hardwire.circuit.formats.c_text import TRICKS
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.sequential.state import State
from hardwire.errors import HardwireError
from hardwire.gates import algebra

_EXPRESSION = re.compile(r"(~?)\(?(~?)([snx]\[?\d+\]?)(?: ([&|^]) (~?)([snx]\[?\d+\]?)\)?)?")


@dataclass(frozen=True)
class Language:
    """The words of a language: what stands before a gate and an output, and its constants."""

    gate: str
    output: str
    zero: str
    one: str
    comment: str
    template: str
    initial: re.Pattern[str]


VERILOG = Language(
    "  wire ", "  assign ", "1'b0", "1'b1", "// ",
    """module {name} (
  input clk,
  input rst,
  input ce,
  input [{inputs}-1:0] x,
  output [{outputs}-1:0] y
);
  reg [{bits}-1:0] s;
  wire [{bits}-1:0] d;
{body}
  always @(posedge clk)
    if (rst) s <= {bits}'b{reset};
    else if (ce) s <= d;
endmodule
""",
    re.compile(r"if \(rst\) s <= \d+'b([01]+);"),
)  # fmt: skip

C = Language(
    "  const uint64_t ", "  ", "0", "~(uint64_t)0", "/// ",
    """#include <stdint.h>

typedef struct {{
  uint64_t s[{bits}];
}} {name}_state;

void {name}_reset({name}_state *state) {{
  static const char initial[] = "{reset}";
  for (int i = 0; i < {bits}; ++i) state->s[i] = initial[{bits} - 1 - i] == '1' ? ~(uint64_t)0 : 0;
}}

void {name}_step({name}_state *state, const uint64_t x[{inputs}], uint64_t y[{outputs}]) {{
  const uint64_t *s = state->s;
  uint64_t d[{bits}];
  (void)x;
{body}
  for (int i = 0; i < {bits}; ++i) state->s[i] = d[i];
}}
""",
    re.compile(r'initial\[\] = "([01]+)"'),
)  # fmt: skip


def to_text(netlist: Netlist, state: State, name: str, language: Language) -> str:
    """The text of a file, without a comment; netlist: from [state, x] to [next state, answers]."""
    given = netlist.inputs - state.bits
    nodes = [f"s[{i}]" for i in range(state.bits)] + [f"x[{i}]" for i in range(given)]
    lines = []
    for place, (gate, a, b) in enumerate(netlist.rows()):
        nodes.append(f"n{netlist.inputs + place}")
        text = algebra.expression(gate, nodes[a], nodes[b], language.zero, language.one)
        lines.append(f"{language.gate}{nodes[-1]} = {text};")
    names = [f"d[{i}]" for i in range(state.bits)] + [f"y[{i}]" for i in range(len(netlist.outputs) - state.bits)]
    for output, node in zip(names, netlist.outputs.tolist(), strict=True):
        lines.append(f"{language.output}{output} = {nodes[node]};")
    reset = "".join(map(str, reversed(state.initial)))
    sizes = {"bits": state.bits, "inputs": max(1, given), "outputs": len(names) - state.bits}
    return language.template.format(name=name, body="\n".join(lines), reset=reset, **sizes)


def from_text(text: str, path: Path, language: Language) -> tuple[Netlist, State]:
    """The netlist and state of a file that `to_text` wrote, from its own lines."""
    trick = TRICKS.search(text)
    if trick:
        raise HardwireError(f"cannot read {path}: it has {trick[0].strip() or trick[0]!r}, which no export has")
    lines = text.split("\n")  # and not splitlines, to which a form feed ends a line that goes on for a compiler
    lines = list(itertools.dropwhile(lambda line: line.startswith(language.comment.strip()), lines))
    text = "\n".join(lines)
    name, initial = re.search(r"(?:module (\w+) \(|void (\w+)_reset\()", text), language.initial.search(text)
    inputs = re.search(r"(?:input \[(\d{1,9})-1:0\] x|x\[(\d{1,9})\],)", text)
    if name is None or initial is None or inputs is None:
        raise HardwireError(f"cannot read {path}: it is no circuit with state that hardwire wrote")
    state = State(len(initial[1]), tuple(int(bit) for bit in reversed(initial[1])))
    given = int(inputs[1] or inputs[2])
    if given > len(text):
        raise HardwireError(f"cannot read {path}: it promises {given:,} inputs, more than it has characters")
    for width in sorted({given, 0} if given == 1 else {given}, reverse=True):  # no input is written as one
        netlist = _netlist(lines, state.bits, width, path, language)
        if to_text(netlist, state, name[1] or name[2], language) == text:
            return netlist, state
    raise HardwireError(f"cannot read {path}: it holds something other than the gates of a circuit with state")


def _netlist(lines: list[str], bits: int, given: int, path: Path, language: Language) -> Netlist:
    nodes = {f"s[{i}]": i for i in range(bits)} | {f"x[{i}]": bits + i for i in range(given)}
    rows: list[tuple[int, int, int]] = []
    outputs: list[int] = []
    for line in lines:
        place, _, text = line.strip().removeprefix(language.gate.strip()).strip().rstrip(";").partition(" = ")
        target = place.split()[-1] if place else ""
        try:
            if re.fullmatch(r"n\d+", target):
                rows.append(_row(text, nodes, language))
                nodes[target] = bits + given + len(rows) - 1
            elif re.fullmatch(r"[dy]\[\d+\]", target) and text in nodes:
                outputs.append(nodes[text])
        except KeyError:
            raise HardwireError(f"cannot read {path}: the line {line.strip()!r:.80} is none of a gate") from None
    if len(outputs) < bits:
        raise HardwireError(f"cannot read {path}: it has {bits} registers and {len(outputs)} of their next values")
    gates, first, second = zip(*rows, strict=True) if rows else ((), (), ())
    return Netlist(bits + given, list(gates), list(first), list(second), outputs)  # type: ignore[arg-type]


def _row(text: str, nodes: dict[str, int], language: Language) -> tuple[int, int, int]:
    if text in (language.zero, language.one):
        return (algebra.TRUE if text == language.one else algebra.FALSE), 0, 0
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        raise KeyError(text)
    negated, first, a, operator, second, b = match.groups()
    if operator is None:
        return (algebra.NOT_A if negated or first else algebra.A), nodes[a], nodes[a]
    if "(" not in text:  # the first sign belongs to the first operand
        negated, first = "", negated or first
    gate = {"&": algebra.AND, "|": algebra.OR, "^": algebra.XOR}[operator]
    gate = algebra.with_negations(gate, bool(first), bool(second))
    return (algebra.NEGATED[gate] if negated else gate), nodes[a], nodes[b]
