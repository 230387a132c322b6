"""The functions of an exported WebAssembly module: encoder, gates, class sums and argmax.

All work on a block of images at once, one bit of each in a word. There is no allocator: `Layout` assigns all memory
once, and the addresses are constants in the code.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.wasm_assembly import (
    F32,
    I32,
    V128,
    WasmModule,
    Word,
    add,
    get,
    i32,
    op,
    put,
    while_less,
)
from hardwire.circuit.input_format import DTYPES, InputFormat
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.schedule import schedule
from hardwire.circuit.straight_line import straight_line

LOADS = {  # how a value of each kind is loaded and compared
    "bits": ("i32.load8_u", "i32.gt_s"),
    "bytes": ("i32.load8_u", "i32.gt_s"),
    "int8": ("i32.load8_s", "i32.gt_s"),
    "int16": ("i32.load16_s", "i32.gt_s"),
    "int32": ("i32.load", "i32.gt_s"),
    "floats": ("f32.load", "f32.gt"),
}
TILE = 16  # columns and images transposed at a time


@dataclass
class Layout:
    """Assigns memory addresses, in multiples of 16 bytes."""

    end: int = 0
    data: list[tuple[int, bytes]] = field(default_factory=list)

    def take(self, size: int) -> int:
        """Reserves memory; returns its address."""
        at = self.end
        self.end = at + size + -size % TILE
        return at

    def hold(self, content: bytes) -> int:
        """Reserves memory with initial contents; returns its address."""
        at = self.take(len(content))
        self.data.append((at, content))
        return at


def index_type(slots: int) -> np.dtype[Any]:
    """Returns the type of slot numbers in tables."""
    return np.dtype("<u2" if slots <= 1 << 16 else "<u4")


def slot_address(word: Word, pointer: bytes, wide: bool, offset: int) -> bytes:
    """Pushes the address of the slot whose number is stored at pointer + offset."""
    load = op("i32.load", 2, offset) if wide else op("i32.load16_u", 1, offset)
    return pointer + load + i32(word.alignment) + op("i32.shl")


def straight_gates(module: WasmModule, netlist: Netlist, word: Word, layout: Layout) -> tuple[int, int, list[int]]:
    """Adds the gates as code; returns the function, the address of the slots, and the slot of each output."""
    plan = straight_line(netlist)
    slots = layout.take(plan.slots * word.size)
    rows, calls = netlist.rows(), b""
    for piece in plan.pieces:
        number = {node: place for place, node in enumerate(piece)}
        code = b""
        for node in piece:
            gate, *operands = rows[node - netlist.inputs]
            a, b = (
                get(number[operand])
                if number.get(operand, len(piece)) < number[node]
                else i32(0) + word.load(slots + plan.slot.get(operand, 0) * word.size)
                for operand in operands
            )
            value = word.gate(gate, a, b) + put(number[node])
            if node in plan.slot:
                value += i32(0) + get(number[node]) + word.store(slots + plan.slot[node] * word.size)
            code += value
        calls += op("call", module.function(code, local_types=[word.type] * len(piece)))
    return module.function(calls), slots, [plan.slot[node] for node in netlist.outputs.tolist()]


def table_gates(module: WasmModule, netlist: Netlist, word: Word, layout: Layout) -> tuple[int, int, list[int]]:
    """Adds the gates as a table and a loop for each type of gate; returns the same as `straight_gates`."""
    plan = schedule(netlist)
    index = index_type(plan.slots)
    wide, row = index.itemsize == 4, 3 * index.itemsize
    table = layout.hold(plan.operations.astype(index).tobytes())
    slots = layout.take(plan.slots * word.size)
    loops: dict[int, int] = {}
    calls, start = b"", table
    for gate, count in plan.runs.tolist():
        if gate not in loops:
            a, b = (slot_address(word, get(0), wide, place * index.itemsize) + word.load(slots) for place in (1, 2))
            target = slot_address(word, get(0), wide, 0)
            step = target + word.gate(gate, a, b) + word.store(slots) + add(0, row)
            loops[gate] = module.function(while_less(0, get(1), step), parameters=2)
        calls += i32(start) + i32(start + count * row) + op("call", loops[gate])
        start += count * row
    return module.function(calls), slots, plan.outputs.tolist()


def encoder(module: WasmModule, input_format: InputFormat, word: Word, layout: Layout, raw: int, slots: int) -> int:
    """Adds the function from `n` rows of raw values to the input slots."""
    low = (
        0
        if input_format.kind == "bits"
        else int(np.iinfo(DTYPES[input_format.kind]).min)
        if input_format.kind != "floats"
        else 0
    )
    if input_format.thresholds is None:
        keys = np.zeros((input_format.count, 1), np.int64)
    elif input_format.kind == "floats":
        keys = input_format.thresholds.astype("<f4")
    else:
        keys = input_format.keys
    always = np.flatnonzero(keys.ravel() < low).tolist() if keys.dtype != np.float32 else []
    patches = b"".join(i32(0) + word.constant(True) + word.store(slots + bit * word.size) for bit in always)
    keys = keys if keys.dtype == np.float32 else np.maximum(keys, low)
    shared = bool((keys == keys[0]).all())
    table = keys[:1] if shared else keys
    fast = word.type == V128 and DTYPES[input_format.kind].itemsize == 1
    write = _encode_tiles if fast else _encode_values
    place = layout.hold(
        table.astype(DTYPES[input_format.kind] if fast or keys.dtype == np.float32 else "<i4").tobytes()
    )
    code, local_types = write(input_format, keys.shape[1], shared, word, layout, raw, slots, place)
    return module.function(code + patches, parameters=1, local_types=local_types)


def _encode_values(
    input_format: InputFormat, levels: int, shared: bool, word: Word, layout: Layout, raw: int, slots: int, keys: int
) -> tuple[bytes, list[int]]:
    """Encodes value by value: any kind, without SIMD."""
    size = DTYPES[input_format.kind].itemsize
    stride = input_format.count * size
    n, value, level, image, k, bits, address, slot, pointer, key = range(10)
    load, greater = LOADS[input_format.kind]
    key_load = op("f32.load" if input_format.kind == "floats" else "i32.load", 2, keys)
    compare = get(address) + op(load, 0, raw) + get(key) + op(greater) + get(k) + op("i32.shl")
    gather = get(bits) + compare + op("i32.or") + put(bits) + add(address, stride) + add(k, 1)
    images = i32(0) + put(bits) + i32(0) + put(k)
    images += (
        get(image) + i32(stride) + op("i32.mul") + get(value) + i32(size) + op("i32.mul") + op("i32.add") + put(address)
    )
    images += while_less(k, i32(32), gather)
    images += get(slot) + get(image) + i32(3) + op("i32.shr_u") + op("i32.add") + get(bits) + op("i32.store", 2, slots)
    images += add(image, 32)
    each_level = get(pointer) + key_load + put(key) + i32(0) + put(image) + while_less(image, get(n), images)
    each_level += add(slot, word.size) + add(pointer, 4) + add(level, 1)
    each_value = (i32(0) + put(pointer) if shared else b"") + i32(0) + put(level)
    each_value += while_less(level, i32(levels), each_level) + add(value, 1)
    local_types = [I32] * 8 + [F32 if input_format.kind == "floats" else I32]
    return while_less(value, i32(input_format.count), each_value), local_types


def _encode_tiles(
    input_format: InputFormat, levels: int, shared: bool, word: Word, layout: Layout, raw: int, slots: int, keys: int
) -> tuple[bytes, list[int]]:
    """Encodes bytes: transposes 16 images by 16 columns at a time, and compares a column of 16 bytes at once."""
    stride, scratch = input_format.count, layout.take(TILE * TILE)
    n, column, image, limit, k, level, address, slot, pointer, first_slot = range(10)
    rows, other, values = range(10, 26), range(26, 42), 42
    tile = b"".join(get(address) + op("v128.load", 0, raw + r * stride) + put(rows[r]) for r in range(TILE))
    tile += _transpose(rows, other)
    tile += b"".join(i32(0) + get(rows[r]) + op("v128.store", 4, scratch + r * TILE) for r in range(TILE))
    greater = op("i8x16.gt_s" if input_format.signed else "i8x16.gt_u")
    key = get(pointer) + op("i32.load8_u", 0, keys) + op("i8x16.splat")
    each_level = get(slot) + get(values) + key + greater + op("i8x16.bitmask") + op("i32.store16", 1, slots)
    each_level += add(slot, word.size) + add(pointer, 1) + add(level, 1)
    each = get(k) + i32(4) + op("i32.shl") + op("v128.load", 4, scratch) + put(values)
    each += (i32(0) + put(pointer) if shared else b"") + i32(0) + put(level)
    each += while_less(level, i32(levels), each_level) + add(k, 1)
    images = get(image) + i32(stride) + op("i32.mul") + get(column) + op("i32.add") + put(address) + tile
    images += get(first_slot) + get(image) + i32(3) + op("i32.shr_u") + op("i32.add") + put(slot)
    images += get(column) + i32(levels) + op("i32.mul") + put(pointer) + i32(0) + put(k)
    images += while_less(k, get(limit), each) + add(image, TILE)
    left = i32(input_format.count) + get(column) + op("i32.sub")
    columns = i32(TILE) + left + i32(TILE) + left + op("i32.lt_u") + op("select") + put(limit)
    columns += i32(0) + put(image) + while_less(image, get(n), images)
    columns += add(first_slot, TILE * levels * word.size) + add(column, TILE)
    return while_less(column, i32(input_format.count), columns), [I32] * 9 + [V128] * 33


def _transpose(rows: range, other: range) -> bytes:
    """Transposes a 16 x 16 matrix of bytes in 16 locals: four rounds that interleave rows i and i + 8."""
    low = bytes(lane for i in range(8) for lane in (i, i + 16))
    high = bytes(lane for i in range(8, 16) for lane in (i, i + 16))
    code, source, target = b"", rows, other
    for _ in range(4):
        for i in range(8):
            for half, lanes in enumerate((low, high)):
                code += get(source[i]) + get(source[i + 8]) + op("i8x16.shuffle") + lanes + put(target[2 * i + half])
        source, target = target, source
    return code


@dataclass(frozen=True)
class Sums:
    """How class sums are counted.

    Attributes:
        count: Number of the function (pointer to outputs, address of planes).
        planes: Bits of a sum.
        outputs: Address of the table of outputs.
        row: Bytes of one class in that table.
    """

    count: int
    planes: int
    outputs: int
    row: int


def counter(module: WasmModule, circuit: Circuit, word: Word, layout: Layout, slots: int, outputs: list[int]) -> Sums:
    """Adds the function that counts the true outputs of a class for all images: planes[p] gets bit p of each count.

    Full adders combine eight outputs at a time, so that the higher planes change once in eight outputs.
    """
    index = index_type(max(outputs) + 1)
    table = layout.hold(np.array(outputs).astype(index).tobytes())
    wide, size = index.itemsize == 4, index.itemsize
    planes, row = circuit.group.bit_length(), circuit.group * index.itemsize
    pointer, target, end = 0, 1, 2
    low, a, b, half, carry, twos, fours = range(3, 6), 6, 7, 8, 9, range(10, 14), range(14, 16)

    def output(place: int) -> bytes:
        return slot_address(word, get(pointer), wide, place * size) + word.load(slots)

    def full_add(total: int, into: int) -> bytes:
        """Computes total += a + b, with the carry in another local."""
        code = get(total) + get(a) + word.apply("xor") + put(half)
        code += get(total) + get(a) + word.apply("and") + get(half) + get(b) + word.apply("and") + word.apply("or")
        return code + put(into) + get(half) + get(b) + word.apply("xor") + put(total)

    def ripple(plane: int) -> bytes:
        """Adds the bits in `carry`, of weight 2^plane, to the planes in memory."""
        code = b""
        for p in range(plane, planes):
            here = get(target) + word.load(p * word.size)
            code += (
                here + put(half) + get(target) + get(half) + get(carry) + word.apply("xor") + word.store(p * word.size)
            )
            code += get(half) + get(carry) + word.apply("and") + put(carry)
        return code

    code = b"".join(get(target) + word.constant(False) + word.store(p * word.size) for p in range(planes))
    code += get(pointer) + i32(row) + op("i32.add") + put(end)
    if planes >= 4:
        eight = b"".join(
            output(2 * i) + put(a) + output(2 * i + 1) + put(b) + full_add(low[0], twos[i]) for i in range(4)
        )
        for i in range(2):
            eight += get(twos[2 * i]) + put(a) + get(twos[2 * i + 1]) + put(b) + full_add(low[1], fours[i])
        eight += get(fours[0]) + put(a) + get(fours[1]) + put(b) + full_add(low[2], carry) + ripple(3)
        eight += add(pointer, 8 * size)
        code += while_less(pointer, get(end) + i32(7 * size) + op("i32.sub"), eight)
        code += b"".join(get(target) + get(low[p]) + word.store(p * word.size) for p in range(3))
    code += while_less(pointer, get(end), output(0) + put(carry) + ripple(0) + add(pointer, size))
    count = module.function(code, parameters=2, local_types=[I32] + [word.type] * 13)
    return Sums(count, planes, table, row)


def number_of(word: Word, planes: int, at: int, image: int) -> bytes:
    """Pushes the number that the planes at an address hold for the image in a local."""
    code = i32(0)
    for p in range(planes):
        place = get(image) + i32(5) + op("i32.shr_u") + i32(2) + op("i32.shl")
        bit = place + op("i32.load", 2, at + p * word.size) + get(image) + i32(31) + op("i32.and") + op("i32.shr_u")
        code += bit + i32(1) + op("i32.and") + i32(p) + op("i32.shl") + op("i32.or")
    return code


def scorer(
    module: WasmModule, circuit: Circuit, word: Word, layout: Layout, sums: Sums, before: bytes, out: int
) -> None:
    """Exports `scores`, which writes the scores of n images, int32 [n, classes], to the address `out`."""
    planes = layout.take(sums.planes * word.size)
    n, number, image = range(3)
    each = get(image) + i32(circuit.classes) + op("i32.mul") + get(number) + op("i32.add") + i32(2) + op("i32.shl")
    each += number_of(word, sums.planes, planes, image) + op("i32.store", 2, out) + add(image, 1)
    one = _count(sums, number, planes) + i32(0) + put(image) + while_less(image, get(n), each) + add(number, 1)
    code = before + while_less(number, i32(circuit.classes), one)
    module.function(code, parameters=1, local_types=[I32] * 2, export="scores")


def _count(sums: Sums, number: int, planes: int) -> bytes:
    pointer = get(number) + i32(sums.row) + op("i32.mul") + i32(sums.outputs) + op("i32.add")
    return pointer + i32(planes) + op("call", sums.count)


def predictor(
    module: WasmModule, circuit: Circuit, word: Word, layout: Layout, sums: Sums, before: bytes, out: int
) -> None:
    """Exports `predict`, which writes the classes (or numbers in whole steps) of n images, int32 [n], to `out`.

    Sums are compared plane by plane for all images at once; a later class wins only with a greater sum.
    """
    if circuit.number is not None:
        number_predictor(module, circuit.number.offset, word, layout, sums, before, out)
        return
    width = max(1, (circuit.classes - 1).bit_length())
    best, rival = (layout.take(sums.planes * word.size) for _ in range(2))
    winner = layout.take(width * word.size)
    n, number, image, more, a, b = range(6)
    compare = word.constant(False) + put(more)
    for p in range(sums.planes):
        compare += (
            i32(0) + word.load(best + p * word.size) + put(a) + i32(0) + word.load(rival + p * word.size) + put(b)
        )
        compare += get(b) + get(a) + word.and_not() + get(more) + get(a) + get(b) + word.apply("xor") + word.and_not()
        compare += word.apply("or") + put(more)
    for p in range(sums.planes):
        compare += i32(0) + word.load(best + p * word.size) + put(a) + i32(0)
        compare += get(a) + get(a) + i32(0) + word.load(rival + p * word.size) + word.apply("xor")
        compare += get(more) + word.apply("and") + word.apply("xor") + word.store(best + p * word.size)
    for p in range(width):
        bit = word.spread(get(number) + i32(p) + op("i32.shr_u") + i32(1) + op("i32.and"))
        compare += i32(0) + i32(0) + word.load(winner + p * word.size) + get(more) + word.and_not()
        compare += bit + get(more) + word.apply("and") + word.apply("or") + word.store(winner + p * word.size)
    code = before + _count(sums, number, best)
    code += b"".join(i32(0) + word.constant(False) + word.store(winner + p * word.size) for p in range(width))
    one = _count(sums, number, rival) + compare + add(number, 1)
    code += i32(1) + put(number) + while_less(number, i32(circuit.classes), one)
    each = get(image) + i32(2) + op("i32.shl") + number_of(word, width, winner, image) + op("i32.store", 2, out)
    code += while_less(image, get(n), each + add(image, 1))
    module.function(code, parameters=1, local_types=[I32] * 2 + [word.type] * 3, export="predict")


def number_predictor(
    module: WasmModule, offset: int, word: Word, layout: Layout, sums: Sums, before: bytes, out: int
) -> None:
    planes = layout.take(sums.planes * word.size)
    n, group, image = range(3)
    each = get(image) + i32(2) + op("i32.shl") + number_of(word, sums.planes, planes, image)
    each += i32(offset) + op("i32.add") + op("i32.store", 2, out) + add(image, 1)
    code = before + _count(sums, group, planes) + while_less(image, get(n), each)
    module.function(code, parameters=1, local_types=[I32] * 2, export="predict")
