"""A whole classifier as plain gates: encoder, circuit, class sums and argmax, for formats that know nothing else.

Inputs are the bits `x[k]` of the raw values (8 a byte or 32 a float, lowest first) or the circuit's own input bits;
outputs are the bits of the winning class, lowest first. Surprising: floats are compared as integers, since the bit
patterns of IEEE numbers sort like the numbers once the sign is dealt with.
"""

from collections import deque

import numpy as np

from hardwire.circuit import algebra
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.errors import HardwireError, unknown_name
from hardwire.packing import Encoder

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
    """Images [n, inputs] of 0 and 1, or raw values [n, raw_features], as the bits uint8 [n, raw_width] that enter."""
    if raw == "bits":
        return np.ascontiguousarray(images, np.uint8)
    little = np.ascontiguousarray(images, np.uint8 if raw == "bytes" else "<f4").view(np.uint8)
    return np.unpackbits(little, axis=1, bitorder="little")


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
    """The number of true nodes as nodes, lowest bit first: full adders, the earliest results first."""
    column, number = deque(bits), []
    while column:
        carries = deque()
        while len(column) > 1:
            a, b = column.popleft(), column.popleft()
            half = builder.gate(algebra.XOR, a, b)
            carry = builder.gate(algebra.AND, a, b)
            if column:
                c = column.popleft()
                carry = builder.gate(algebra.OR, carry, builder.gate(algebra.AND, half, c))
                half = builder.gate(algebra.XOR, half, c)
            column.append(half)
            carries.append(carry)
        number.append(column[0])
        column = carries
    return number


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
