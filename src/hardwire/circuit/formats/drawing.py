"""Drawings of a small circuit, of the cone of a class or of one output: Graphviz text, or SVG without other programs.

Inputs are on the left, each gate or look-up table one column right of its operands, and the classes on the right.
Surprising: a circuit too large to be readable is refused, stating its number of gates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.netlist import Integers, Netlist
from hardwire.circuit.passes.dead import remove_dead
from hardwire.circuit.passes.tables import remove_dead_tables
from hardwire.circuit.statistics import live_nodes
from hardwire.circuit.table_netlist import GATE_OF_TABLE, MOST_INPUTS, AnyNetlist, TableNetlist
from hardwire.circuit.table_rows import minimal
from hardwire.errors import HardwireError
from hardwire.files import write_whole
from hardwire.gates import GATES

MOST_GATES = 250
COLUMN, ROW, WIDTH, HEIGHT, MARGIN = 175, 40, 118, 26, 24  # pixels
COLOURS = {
    "input": "#e8eef7",
    "and": "#fde8c9",
    "or": "#d9f0d3",
    "xor": "#e7d4f0",
    "table": "#f9dcdc",
    "wire": "#f2f2f2",
    "class": "#cfe2f3",
}
SIGNS = {"∧": "and", "∨": "or", "⊕": "xor"}  # a gate belongs to the family whose sign its formula has


@dataclass(frozen=True)
class Box:
    """One box of the drawing: its column, text and colour, and the keys of the boxes it reads."""

    key: str
    column: int
    text: str
    kind: str
    reads: tuple[str, ...]


def write_svg(circuit: Circuit, path: Path, *, label: int | None = None, output: int | None = None) -> list[Path]:
    """Writes an SVG drawing.

    Args:
        circuit: The circuit.
        path: The file.
        label: Draw the cone of this class only.
        output: Draw the cone of this output of the class only.
    """
    write_whole(path, svg(boxes(circuit, label, output)))
    return [path]


def write_dot(circuit: Circuit, path: Path, *, label: int | None = None, output: int | None = None) -> list[Path]:
    """Writes the same drawing as Graphviz text."""
    write_whole(path, dot(boxes(circuit, label, output)))
    return [path]


def boxes(circuit: Circuit, label: int | None = None, output: int | None = None) -> list[Box]:
    """Lists what is drawn, in the order of the netlist."""
    groups = _chosen(circuit, label, output)
    netlist = replace(circuit.netlist, outputs=np.concatenate([nodes for _, nodes in groups]))
    cone = remove_dead_tables(netlist) if isinstance(netlist, TableNetlist) else remove_dead(netlist)
    if cone.size > MOST_GATES:
        raise HardwireError(
            f"{cone.size:,} {cone.made_of} cannot be drawn readably, at most {MOST_GATES} can; simplify the circuit "
            "first, or draw the cone of one class (label=) or one output (output=)"
        )
    live, levels = live_nodes(cone), cone.levels
    drawn = [
        Box(f"n{i}", 0, _input_text(circuit, i), "input", ()) for i in np.flatnonzero(live[: cone.inputs]).tolist()
    ]
    for node, (text, kind, operands) in enumerate(_texts(cone), start=cone.inputs):
        drawn.append(Box(f"n{node}", int(levels[node]), text, kind, tuple(f"n{a}" for a in operands)))
    last, start = int(levels.max()) + 1, 0
    for number, nodes in groups:
        reads = tuple(f"n{node}" for node in cone.outputs[start : start + len(nodes)].tolist())
        start += len(nodes)
        of = "" if len(nodes) == circuit.group else f", output {output}"
        drawn.append(Box(f"c{number}", last, f"class {number}{of}", "class", reads))
    return drawn


def _texts(cone: AnyNetlist) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yields the text, the kind and the operands of each gate; the text of a larger table is its entries."""
    if isinstance(cone, Netlist):
        for gate, operands in zip(cone.gate.tolist(), cone.reads(), strict=True):
            yield _gate_text(gate, len(operands)), _family(gate), operands
        return
    for row in cone.rows():
        table, reads = minimal(*row)
        if len(reads) > 2:
            yield f"{table:0{(1 << len(reads)) // 4}x}", "table", reads
            continue
        entries = table if len(reads) == 2 else table * (0b0101 if reads else 0b1111)
        gate = GATE_OF_TABLE[entries]
        yield _gate_text(gate, len(reads)), _family(gate), reads


def _gate_text(gate: int, reads: int) -> str:
    return GATES[gate].name if reads < 2 else GATES[gate].boolean


def _chosen(circuit: Circuit, label: int | None, output: int | None) -> list[tuple[int, Integers]]:
    """Returns the classes and their output nodes to draw."""
    if label is not None and not 0 <= label < circuit.classes:
        raise HardwireError(f"class {label} does not exist; this circuit has classes 0 to {circuit.classes - 1}")
    if output is not None and (label is None or not 0 <= output < circuit.group):
        raise HardwireError(f"an output is chosen by its class (label=) and a number from 0 to {circuit.group - 1}")
    groups = circuit.netlist.outputs.reshape(circuit.classes, -1)
    numbers = range(circuit.classes) if label is None else [label]
    return [(number, groups[number] if output is None else groups[number][[output]]) for number in numbers]


def _family(gate: int) -> str:
    return next((family for sign, family in SIGNS.items() if sign in GATES[gate].boolean), "wire")


def _input_text(circuit: Circuit, bit: int) -> str:
    if circuit.encoder is None:
        return f"x{bit}"
    feature, level = divmod(bit, circuit.encoder.levels)
    return f"value {feature} > {circuit.encoder.thresholds[feature, level]:g}"


def dot(drawn: list[Box]) -> str:
    """Returns Graphviz text."""
    lines = ["digraph circuit {", "  rankdir=LR;", '  node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    lines += [f'  {box.key} [label="{box.text}", fillcolor="{COLOURS[box.kind]}"];' for box in drawn]
    for box in drawn:
        named = {"and": "ab", "or": "ab", "xor": "ab", "table": "012345"}.get(box.kind)
        signs = tuple(named[: len(box.reads)]) if named else ("",) * len(box.reads)
        lines += [f'  {read} -> {box.key} [label="{sign}"];' for read, sign in zip(box.reads, signs, strict=True)]
    return "\n".join([*lines, "}", ""])


def _places(drawn: list[Box]) -> dict[str, tuple[float, float]]:
    """Returns the centre of every box: columns by level, rows by the mean row of the neighbours."""
    columns: dict[int, list[Box]] = {}
    readers: dict[str, list[str]] = {}
    for box in drawn:
        columns.setdefault(box.column, []).append(box)
        for read in box.reads:
            readers.setdefault(read, []).append(box.key)
    tallest = max(map(len, columns.values()))
    row = {box.key: 0.0 for box in drawn}

    def settle(column: int, neighbours: Callable[[Box], Iterable[str]]) -> None:
        if columns[column][0].kind != "class":  # classes keep their order
            columns[column].sort(key=lambda box: np.mean([row[key] for key in neighbours(box)] or [0]))
        spread = tallest / len(columns[column])
        row.update({box.key: (i + 0.5) * spread for i, box in enumerate(columns[column])})

    for column in sorted(columns):
        settle(column, lambda box: box.reads)
    for column in sorted(columns, reverse=True):
        settle(column, lambda box: readers.get(box.key, ()))
    return {box.key: (MARGIN + WIDTH / 2 + box.column * COLUMN, MARGIN + row[box.key] * ROW) for box in drawn}


def svg(drawn: list[Box]) -> str:
    """Returns an SVG picture."""
    place = _places(drawn)
    width = max(x for x, _ in place.values()) + WIDTH / 2 + MARGIN
    height = max(y for _, y in place.values()) + HEIGHT / 2 + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for box in drawn:
        lines += [_wire(place[read], place[box.key], k, len(box.reads)) for k, read in enumerate(box.reads)]
    for box in drawn:
        x, y = place[box.key]
        lines.append(
            f'<rect x="{x - WIDTH / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
            f'fill="{COLOURS[box.kind]}" stroke="#555"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(box.text)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _wire(start: tuple[float, float], end: tuple[float, float], k: int, count: int) -> str:
    """Draws a wire: operands enter from above to below, and of two the wire of b is dashed, to tell them apart."""
    x1, y1, x2 = start[0] + WIDTH / 2, start[1], end[0] - WIDTH / 2
    y2 = end[1] + ((k - (count - 1) / 2) * HEIGHT / count if count <= MOST_INPUTS else 0)
    bend = max(20.0, (x2 - x1) / 2)
    dash = ' stroke-dasharray="4 3"' if count == 2 and k == 1 else ""
    return (
        f'<path d="M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}" '
        f'fill="none" stroke="#777"{dash}/>'
    )


register(".svg", title="a drawing", write=write_svg, tables=True)
register(".dot", title="a drawing for Graphviz", write=write_dot, tables=True)
