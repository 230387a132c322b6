"""Circuits with state as WebAssembly: the registers are a part of its memory, and a step changes them.

`step_wasm` makes the module of any circuit with state; 128 circuits run side by side, one in each bit of a word.
`board_wasm` makes the module of a whole board of cells, 128 cells an instruction. Surprising: nothing shifts a board.
A row has eight spare bytes at either end, and a neighbour's word is two loads that overlap, each shifted by a few bits.
"""

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from hardwire.circuit.formats.c import CODE_GATES
from hardwire.circuit.formats.text import render
from hardwire.circuit.formats.wasm_assembly import I32, SIMD_WORD, WasmModule, add, get, i32, op, put, while_less
from hardwire.circuit.formats.wasm_parts import Layout, straight_gates, table_gates
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.sequential.cell import grid_of, reads
from hardwire.circuit.sequential.state import State, answering, gates_of, state_of
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

WORD, SPARE, HALF = SIMD_WORD, 16, 8  # bytes at either end of a row; of them half are used
MOST_CELLS = 1 << 26


def _gates(module: WasmModule, netlist: Netlist, layout: Layout) -> tuple[int, int, list[int]]:
    return (straight_gates if netlist.size <= CODE_GATES else table_gates)(module, netlist, WORD, layout)


def _move(source: int, target: int, words: int = 1) -> bytes:
    """Copies words from one address to another."""
    return b"".join(
        i32(0) + i32(0) + WORD.load(source + i * WORD.size) + WORD.store(target + i * WORD.size) for i in range(words)
    )


def step_wasm(netlist: Netlist, state: State, comment: list[str]) -> bytes:
    """The module of a circuit with state; netlist: from [state, x] to [next state, answers].

    It exports `reset()`, `step()`, its memory, and the addresses `state`, `x` and `y` of words of 16 bytes.
    """
    module, layout = WasmModule(), Layout()
    gates, slots, outputs = _gates(module, netlist, layout)
    size, answers = WORD.size, len(outputs) - state.bits
    given = netlist.inputs - state.bits
    now = layout.take(netlist.inputs * size)  # the state, and x behind it
    y = layout.take(answers * size)
    code = _move(now, slots, netlist.inputs) + op("call", gates)
    for place, slot in enumerate(outputs):
        target = now + place * size if place < state.bits else y + (place - state.bits) * size
        code += _move(slots + slot * size, target)
    module.function(code, export="step")
    reset = [i32(0) + WORD.constant(bool(bit)) + WORD.store(now + i * size) for i, bit in enumerate(state.initial)]
    module.function(b"".join(reset), export="reset")
    module.constants = {
        "block": WORD.bits, "bits": state.bits, "inputs": given, "outputs": answers,
        "state": now, "x": now + state.bits * size, "y": y,
    }  # fmt: skip
    module.data, module.text = layout.data, "\n".join([*comment, ""])
    return module.bytes(layout.end)


def board_wasm(cell: "Circuit", shape: tuple[int, int]) -> bytes:
    """The module of a board [height, width] of cells.

    It exports `step(n)`, which runs n generations, its memory, and constants. The bit of a cell (channel, row, column)
    is bit column % 8 of the byte at board + channel * plane + row * stride + column // 8.
    """
    grid, netlist = grid_of(cell), gates_of(cell)
    height, width = shape
    channels, half = state_of(cell).bits, grid.side // 2
    if min(shape) < grid.side:
        raise HardwireError(f"a board of {height} x {width} is smaller than a neighbourhood of {grid.side}")
    if channels * height * width > MOST_CELLS or half > 63:
        raise HardwireError(f"a board of {height} x {width} cells of {channels} bits is too large for a page")
    module, layout = WasmModule(), Layout()
    gates, slots, outputs = _gates(module, netlist, layout)
    stride = 2 * SPARE + -(-width // WORD.bits) * WORD.size
    plane = stride * (height + 2 * half)
    here, there = (layout.take(channels * plane) + half * stride + SPARE for _ in range(2))
    edges = _edges(module, here, channels, plane, stride, height, width, half, grid.border == "periodic")
    pointer, end, row = 0, 1, 2
    code = b""
    for place, (channel, down, right) in enumerate(reads(cell)):
        at = here + channel * plane + down * stride
        code += i32(slots + place * WORD.size) + _shifted(pointer, at, right) + WORD.store(0)
    code += op("call", gates)
    for channel in range(channels):
        code += get(pointer) + i32(0) + WORD.load(slots + outputs[channel] * WORD.size)
        code += WORD.store(there + channel * plane)
    code += add(pointer, WORD.size)
    size = stride - 2 * SPARE
    line = get(row) + put(pointer) + get(row) + i32(size) + op("i32.add") + put(end)
    line += while_less(pointer, get(end), code) + add(row, stride)
    rows = i32(0) + put(row) + while_less(row, i32(height * stride), line)
    cells = module.function(rows, local_types=[I32] * 3)
    back = get(0) + get(0) + WORD.load(there) + WORD.store(here) + add(0, WORD.size)
    length = (channels - 1) * plane + (height - 1) * stride + size
    copy = module.function(i32(0) + put(0) + while_less(0, i32(length), back), local_types=[I32])
    once = op("call", edges) + op("call", cells) + op("call", copy) + add(1, 1)
    module.function(i32(0) + put(1) + while_less(1, get(0), once), parameters=1, local_types=[I32], export="step")
    module.constants = {
        "board": here, "plane": plane, "stride": stride, "channels": channels, "height": height, "width": width,
    }  # fmt: skip
    module.data = layout.data
    module.text = f"hardwire: circuit {cell.digest} on {height} x {width} cells\n"
    return module.bytes(layout.end)


def _shifted(pointer: int, at: int, right: int) -> bytes:
    """Pushes 128 cells that lie `right` columns to the right of those at pointer + at."""

    def word(offset: int, shift: str, bits: int) -> bytes:
        # an address is not negative: what lies to the left of the first row is spare memory in front of it
        return get(pointer) + op("v128.load", 3, at + offset) + i32(bits) + op(f"i64x2.{shift}")

    if right == 0:
        return get(pointer) + WORD.load(at)
    if right > 0:
        return word(0, "shr_u", right) + word(HALF, "shl", 64 - right) + op("v128.or")
    return word(0, "shl", -right) + word(-HALF, "shr_u", 64 + right) + op("v128.or")


def _edges(
    module: WasmModule,
    board: int,
    channels: int,
    plane: int,
    stride: int,
    height: int,
    width: int,
    half: int,
    periodic: bool,
) -> int:
    """Adds the function that fills what lies outside the board: zeros, or the opposite edge."""
    words, last = -(-width // 64), width % 64
    end, size = (words - 1) * HALF, stride - 2 * SPARE

    def load(offset: int) -> bytes:
        return get(0) + op("i64.load", 3, board + offset)

    def store(offset: int, value: bytes) -> bytes:
        return get(0) + value + op("i64.store", 3, board + offset)

    def shift(value: bytes, name: str, bits: int) -> bytes:
        return value + op("i64.const") + bytes([bits]) + op(f"i64.{name}")

    line = b""
    if last:  # cells behind the last one of a row
        line += store(end, shift(shift(load(end), "shl", 64 - last), "shr_u", 64 - last))
    if periodic and last:
        before = shift(load(end - HALF), "shr_u", last)
        line += store(-HALF, shift(load(end), "shl", 64 - last) + before + op("i64.or"))
        line += store(end, load(end) + shift(load(0), "shl", last) + op("i64.or"))
        line += store(end + HALF, shift(load(0), "shr_u", 64 - last))
    elif periodic:
        line += store(-HALF, load(end)) + store(end + HALF, load(0))
    else:
        line += store(-HALF, op("i64.const") + b"\0") + store(end + HALF, op("i64.const") + b"\0")
    line += add(0, stride)
    code = b""
    for channel in range(channels):
        start = channel * plane
        code += i32(start) + put(0) + while_less(0, i32(start + height * stride), line)
        for number in range(half if periodic else 0):  # whole rows, with what is at their ends
            above, below = height - 1 - number, number
            for source, target in ((above, -1 - number), (below, height + number)):
                at = board + start - SPARE
                code += _move(at + source * stride, at + target * stride, size // WORD.size + 2)
    return module.function(code, local_types=[I32])


def to_javascript(circuit: "Circuit", name: str, comment: list[str]) -> str:
    """The JavaScript module for a file of this name: a circuit that is stepped bit by bit."""
    state, netlist = state_of(circuit), answering(circuit)
    info = {
        "digest": circuit.digest, "gates": netlist.size, "bits": state.bits, "inputs": netlist.inputs - state.bits,
        "outputs": len(netlist.outputs) - state.bits, "classes": circuit.classes,
    }  # fmt: skip
    return render("state.mjs", comment=comment, info=json.dumps(info, indent=2), wasm=json.dumps(f"./{quote(name)}"))
