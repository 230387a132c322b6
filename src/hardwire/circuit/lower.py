"""A whole classifier as plain gates: encoder, circuit, class sums and argmax, for formats that know nothing else.

Inputs are the bits `x[k]` of the raw values (8 a byte or 32 a float, lowest first) or the circuit's own input bits;
outputs are the bits of the winning class, lowest first. Surprising: floats are compared as integers, since the bit
patterns of IEEE numbers sort like the numbers once the sign is dealt with.
"""

from collections import deque

import numpy as np

from hardwire.bits import Encoder, unpack
from hardwire.circuit import algebra
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.errors import HardwireError, unknown_name

FIRST_ADDER = 6  # bits that the first level of an adder tree sums: a three-bit sum of six bits is three 6-input LUTs
RAW_BITS = {"bits": 1, "bytes": 8, "floats": 32}  # what an exported circuit reads: input bits, or raw values


def raw_kind(circuit: Circuit, raw: str | None) -> str:
    """Checks `raw`; not given, it is bytes where there is an encoder and bits where there is none."""
    if raw is None:
        raw = "bits" if circuit.encoder is None else "bytes"
    if raw not in RAW_BITS:
        raise unknown_name("kind of raw input", raw, RAW_BITS)
    if raw != "bits" and circuit.encoder is None:
        raise HardwireError(f"this circuit has no encoder to read {raw}; export it with raw='bits'")
    return raw


def raw_width(circuit: Circuit, raw: str) -> int:
    """Bits of one image as it enters the exported circuit."""
    return circuit.inputs if raw == "bits" else circuit.encoder.raw_features * RAW_BITS[raw]


def raw_bits(circuit: Circuit, raw: str, images: np.ndarray) -> np.ndarray:
    """Images (raw values where the circuit has an encoder, 0 and 1 where it has none) as the bits that enter an export
    of kind `raw`, uint8 [n, raw_width]."""
    if raw == "bits":
        return as_bits(circuit, images)
    little = np.ascontiguousarray(images, np.uint8 if raw == "bytes" else "<f4").view(np.uint8)
    return np.unpackbits(little, axis=1, bitorder="little")


def as_bits(circuit: Circuit, images: np.ndarray) -> np.ndarray:
    """Images, as above, as the circuit's own input bits, uint8 [n, inputs]."""
    if circuit.encoder is None:
        return np.ascontiguousarray(images, np.uint8)
    return unpack(circuit.encoder.encode(images), circuit.inputs)


class Builder:
    """Grows a netlist gate by gate."""

    def __init__(self, inputs: int):
        self.inputs = inputs
        self.gates, self.first, self.second = [], [], []

    def gate(self, number: int, a: int, b: int) -> int:
        self.gates.append(number)
        self.first.append(a)
        self.second.append(b)
        return self.inputs + len(self.gates) - 1

    def constant(self, value: bool) -> int:
        return self.gate(algebra.TRUE if value else algebra.FALSE, 0, 0)

    def choose(self, condition: int, yes: int, no: int) -> int:
        return self.gate(algebra.OR, self.gate(algebra.AND, condition, yes), self.gate(4, condition, no))

    def embed(self, netlist: Netlist, inputs: list[int]) -> list[int]:
        """Copies `netlist` in, reading `inputs`; its outputs."""
        place = np.concatenate([inputs, self.inputs + len(self.gates) + np.arange(len(netlist.gate))]).astype(np.int64)
        self.gates += netlist.gate.tolist()
        self.first += place[netlist.first].tolist()
        self.second += place[netlist.second].tolist()
        return place[netlist.outputs].tolist()

    def netlist(self, outputs: list[int]) -> Netlist:
        return Netlist(
            self.inputs, np.array(self.gates, int), np.array(self.first, int), np.array(self.second, int), outputs
        )


def complete(circuit: Circuit, raw: str | None = None) -> Netlist:
    """The whole classifier: raw_width inputs, and ceil(log2(classes)) outputs (at least one)."""
    raw = raw_kind(circuit, raw)
    builder = Builder(raw_width(circuit, raw))
    bits = list(range(builder.inputs)) if raw == "bits" else _encode(builder, circuit.encoder, RAW_BITS[raw])
    outputs = builder.embed(circuit.netlist, bits)
    sums = [
        count_ones(builder, outputs[start : start + circuit.group]) for start in range(0, len(outputs), circuit.group)
    ]
    return builder.netlist(argmax(builder, sums))


def _encode(builder: Builder, encoder: Encoder, width: int) -> list[int]:
    keys = byte_keys(encoder) if width == 8 else float_keys(encoder)
    bits = []
    for feature, thresholds in enumerate(keys.tolist()):
        value = list(range(feature * width, (feature + 1) * width))
        if width == 32:
            value = _sortable(builder, value)
        bits += [greater_than(builder, value, threshold) for threshold in thresholds]
    return bits


def byte_keys(encoder: Encoder) -> np.ndarray:
    """int64 [raw_features, levels]: byte > threshold means byte > key; -1 is always, 255 never."""
    return np.clip(np.floor(encoder.thresholds.astype(np.float64)), -1, 255).astype(np.int64)


def float_keys(encoder: Encoder) -> np.ndarray:
    """int64 [raw_features, levels]: thresholds as integers that sort like floats do; both zeros count as +0."""
    pattern = (encoder.thresholds + np.float32(0)).view(np.uint32).astype(np.int64)
    return np.where(pattern >> 31 == 1, 0xFFFFFFFF - pattern, pattern + 0x80000000)


def _sortable(builder: Builder, value: list[int]) -> list[int]:
    sign = value[31]
    return [builder.gate(algebra.XOR, bit, sign) for bit in value[:31]] + [builder.gate(algebra.NOT_A, sign, sign)]


def greater_than(builder: Builder, value: list[int], threshold: int) -> int:
    """Whether the number in `value` (nodes, lowest bit first) is more than a constant."""
    if threshold < 0:
        return builder.constant(True)
    more = None  # no lower bit decides yet
    for place, bit in enumerate(value):
        if threshold >> place & 1:
            more = None if more is None else builder.gate(algebra.AND, bit, more)
        else:
            more = bit if more is None else builder.gate(algebra.OR, bit, more)
    return builder.constant(False) if more is None else more


def count_ones(builder: Builder, bits: list[int]) -> list[int]:
    """The number of true nodes as nodes, lowest bit first: sums of six bits, then a tree of adders of two. The Verilog
    export adds in the same order, so a solver that compares the two finds every partial sum in both."""
    width = len(bits).bit_length()
    numbers = [_sum_bits(builder, bits[start : start + FIRST_ADDER]) for start in range(0, len(bits), FIRST_ADDER)]
    while len(numbers) > 1:
        numbers = [_sum(builder, numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    while len(numbers[0]) < width:
        numbers[0].append(builder.constant(False))
    return numbers[0][:width]  # what lies above is always 0


def _sum_bits(builder: Builder, bits: list[int]) -> list[int]:
    """Full adders, column by column."""
    column, number = deque(bits), []
    while column:
        carries = deque()
        while len(column) > 1:
            total, carry = _add(builder, [column.popleft() for _ in range(min(3, len(column)))])
            column.append(total)
            carries.append(carry)
        number.append(column[0])
        column = carries
    return number


def _sum(builder: Builder, numbers: list[list[int]]) -> list[int]:
    """One or two numbers added with a rippling carry."""
    if len(numbers) == 1:
        return numbers[0]
    total, carry = [], []
    for place in range(max(map(len, numbers))):
        here = [number[place] for number in numbers if place < len(number)] + carry
        bit, *carry = _add(builder, here) if len(here) > 1 else here
        total.append(bit)
    return total + carry


def _add(builder: Builder, bits: list[int]) -> tuple[int, int]:
    """Sum and carry of two or three bits."""
    half = builder.gate(algebra.XOR, bits[0], bits[1])
    carry = builder.gate(algebra.AND, bits[0], bits[1])
    if len(bits) == 2:
        return half, carry
    return (
        builder.gate(algebra.XOR, half, bits[2]),
        builder.gate(algebra.OR, carry, builder.gate(algebra.AND, half, bits[2])),
    )


def argmax(builder: Builder, sums: list[list[int]]) -> list[int]:
    """The index of the highest sum, ties to the lowest, as nodes: a tournament in which the later must be greater."""
    width = max(1, (len(sums) - 1).bit_length())
    players = [
        (score, [builder.constant(bool(number >> place & 1)) for place in range(width)])
        for number, score in enumerate(sums)
    ]
    while len(players) > 1:
        pairs = [_match(builder, *players[i : i + 2]) for i in range(0, len(players) - 1, 2)]
        players = pairs + players[len(pairs) * 2 :]
    return players[0][1]


def _match(builder: Builder, left: tuple, right: tuple) -> tuple:
    more = None
    for a, b in zip(left[0], right[0], strict=True):
        here = builder.gate(4, a, b)
        if more is None:
            more = here
        else:
            more = builder.gate(algebra.OR, here, builder.gate(algebra.AND, builder.gate(9, a, b), more))
    score, number = (
        [builder.choose(more, b, a) for a, b in zip(*halves, strict=True)] for halves in zip(left, right, strict=True)
    )
    return score, number
