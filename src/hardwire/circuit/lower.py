"""A whole classifier as plain gates: encoder, circuit, class sums and argmax, for formats that have only gates.

Inputs are the bits `x[k]` of the raw values (lowest first), or the circuit's own input bits. Outputs are the bits of
the winning class, or of the number in two's complement, lowest first; on request the bits of the class sums follow.
"""

from collections import deque

from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.counting import NOT_COUNTED, CountedOutputs, count_plan
from hardwire.circuit.input_format import INFINITY, InputFormat
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.table_netlist import TableBuilder, TableNetlist
from hardwire.gates import algebra

Player = tuple[list[int], list[int]]  # a score and a class number, each as nodes, lowest bit first


def complete(
    circuit: Circuit,
    input_format: InputFormat,
    lut: int = 6,
    scores: bool = False,
    counted: CountedOutputs | None = None,
) -> Netlist:
    """Builds the whole classifier, from the bits of an image to the bits of the answer.

    Args:
        circuit: The circuit.
        input_format: What it reads.
        lut: See `count_plan`.
        scores: Whether the class sums follow the answer, class 0 first.
        counted: How its outputs are counted; by default as `CountedOutputs.of` has it.
    """
    outputs = outputs_of(circuit, input_format)
    builder = Builder(input_format.width)
    nodes = builder.embed(outputs, range(input_format.width))
    return builder.netlist(_answer(builder, circuit, nodes, lut, scores, counted))


def outputs_of(circuit: Circuit, input_format: InputFormat) -> Netlist:
    """Builds the encoder and the circuit, from the bits of an image to the outputs that class sums count."""
    builder = Builder(input_format.width)
    return builder.netlist(builder.embed(circuit.gates, _input_bits(builder, input_format)))


def merge_outputs(netlist: Netlist, counted: CountedOutputs) -> Netlist:
    """Returns the netlist in which each output is the one that counts for it, or the constant 0."""
    builder = Builder(netlist.inputs)
    outputs = builder.embed(netlist, range(netlist.inputs))
    zero = builder.constant(False) if NOT_COUNTED in counted.by else None
    return builder.netlist([zero if zero is not None and by == NOT_COUNTED else outputs[by] for by in counted.by])


def complete_tables(circuit: Circuit, input_format: InputFormat, lut: int = 6) -> TableNetlist:
    """Builds the whole classifier as `complete` does, the circuit's own tables as they are and the rest as gates."""
    encoder, head = Builder(input_format.width), Builder(len(circuit.netlist.outputs))
    front = encoder.netlist(_input_bits(encoder, input_format))
    back = head.netlist(_answer(head, circuit, list(range(head.inputs)), lut, scores=False))
    whole = TableBuilder(input_format.width)
    nodes = list(range(input_format.width))
    for part in (front, circuit.netlist, back):
        nodes = whole.embed(part, nodes)
    return whole.netlist(nodes)


def _input_bits(builder: Builder, input_format: InputFormat) -> list[int]:
    return list(range(builder.inputs)) if input_format.kind == "bits" else _encode(builder, input_format)


def _answer(
    builder: Builder,
    circuit: Circuit,
    outputs: list[int],
    lut: int,
    scores: bool,
    counted: CountedOutputs | None = None,
) -> list[int]:
    """Returns the nodes of the answer to these outputs of the circuit, followed by the class sums on request."""
    groups = [outputs[start : start + circuit.group] for start in range(0, len(outputs), circuit.group)]
    weights = (counted or CountedOutputs.of(circuit.netlist, circuit.classes)).weights
    sums = [count_ones(builder, group, lut, own) for group, own in zip(groups, weights, strict=True)]
    if circuit.number is None:
        answer = argmax(builder, sums)
    else:
        answer = add_constant(builder, sums[0], circuit.number.offset, circuit.answer_width)
    return answer + [bit for total in sums for bit in total] if scores else answer


def encoded(circuit: Circuit, input_format: InputFormat) -> Netlist:
    """Builds the circuit with its encoder, from the bits of an image to the outputs of the gates."""
    builder = Builder(input_format.width)
    return builder.netlist(builder.embed(circuit.gates, _encode(builder, input_format)))


def _encode(builder: Builder, input_format: InputFormat) -> list[int]:
    width = input_format.value_bits
    bits: list[int] = []
    for feature, keys in enumerate(input_format.keys.tolist()):
        value = list(range(feature * width, (feature + 1) * width))
        if input_format.signed:
            value[-1] = builder.gate(algebra.NOT_A, value[-1], value[-1])  # then it sorts like an unsigned number
            keys = [key + (1 << width - 1) for key in keys]
        if input_format.kind == "floats":
            value = _sortable(builder, value)
        above = [greater_than(builder, value, key) for key in keys]
        if input_format.kind == "floats":
            is_nan = greater_than(builder, value, INFINITY)
            above = [builder.gate(algebra.LESS, is_nan, bit) for bit in above]
        bits += above
    return bits


def _sortable(builder: Builder, value: list[int]) -> list[int]:
    """Turns the bits of a float into those of an unsigned number that sorts like it."""
    *low, sign = value
    return [builder.gate(algebra.XOR, bit, sign) for bit in low] + [builder.gate(algebra.NOT_A, sign, sign)]


def greater_than(builder: Builder, value: list[int], threshold: int) -> int:
    """Returns the node that says whether `value` (nodes, lowest bit first) is greater than a constant."""
    if threshold < 0:
        return builder.constant(True)
    more = None  # until a bit decides
    for place, bit in enumerate(value):
        if threshold >> place & 1:
            more = None if more is None else builder.gate(algebra.AND, bit, more)
        else:
            more = bit if more is None else builder.gate(algebra.OR, bit, more)
    return builder.constant(False) if more is None else more


def count_ones(builder: Builder, bits: list[int], lut: int = 6, weights: list[int] | None = None) -> list[int]:
    """Counts true nodes; returns the count as nodes, lowest bit first, as wide as if each counted once. The Verilog
    export follows the same plan. weights: how often each counts."""
    steps, result = count_plan(len(bits), lut, weights)
    nodes = list(bits)
    for taken, _ in steps:
        nodes += sum_bits(builder, [nodes[bit] for bit in taken])
    padded = [*result, *[None] * (len(bits).bit_length() - len(result))]
    return [builder.constant(False) if bit is None else nodes[bit] for bit in padded]


def sum_bits(builder: Builder, bits: list[int]) -> list[int]:
    """Adds bits with full adders, column by column."""
    column, number = deque(bits), []
    while column:
        carries: deque[int] = deque()
        while len(column) > 1:
            total, carry = _add(builder, [column.popleft() for _ in range(min(3, len(column)))])
            column.append(total)
            carries.append(carry)
        number.append(column[0])
        column = carries
    return number


def _sum(builder: Builder, numbers: list[list[int]]) -> list[int]:
    """Adds one or two numbers with a ripple carry."""
    if len(numbers) == 1:
        return numbers[0]
    total: list[int] = []
    carry: list[int] = []
    for place in range(max(map(len, numbers))):
        here = [number[place] for number in numbers if place < len(number)] + carry
        bit, *carry = _add(builder, here) if len(here) > 1 else here
        total.append(bit)
    return total + carry


def _add(builder: Builder, bits: list[int]) -> tuple[int, int]:
    """Returns sum and carry of two or three bits."""
    half = builder.gate(algebra.XOR, bits[0], bits[1])
    carry = builder.gate(algebra.AND, bits[0], bits[1])
    if len(bits) == 2:
        return half, carry
    return (
        builder.gate(algebra.XOR, half, bits[2]),
        builder.gate(algebra.OR, carry, builder.gate(algebra.AND, half, bits[2])),
    )


def add_constant(builder: Builder, number: list[int], constant: int, width: int) -> list[int]:
    """Returns number + constant in `width` bits, two's complement, lowest bit first."""
    zero, one = builder.constant(False), builder.constant(True)
    first = [*number, *[zero] * (width - len(number))]
    second = [one if constant >> place & 1 else zero for place in range(width)]
    return _sum(builder, [first, second])[:width]


def argmax(builder: Builder, sums: list[list[int]]) -> list[int]:
    """Returns the index of the highest sum as nodes: a knockout tournament in which a tie goes to the lower index."""
    width = max(1, (len(sums) - 1).bit_length())
    players = [
        (score, [builder.constant(bool(number >> place & 1)) for place in range(width)])
        for number, score in enumerate(sums)
    ]
    while len(players) > 1:
        pairs = [_match(builder, *players[i : i + 2]) for i in range(0, len(players) - 1, 2)]
        players = pairs + players[len(pairs) * 2 :]
    return players[0][1]


def _match(builder: Builder, left: Player, right: Player) -> Player:
    """Returns the winner of two: the right one if its score is greater."""
    more = builder.gate(algebra.LESS, left[0][0], right[0][0])
    for a, b in zip(left[0][1:], right[0][1:], strict=True):
        equal_so_far = builder.gate(algebra.AND, builder.gate(algebra.XNOR, a, b), more)
        more = builder.gate(algebra.OR, builder.gate(algebra.LESS, a, b), equal_so_far)
    score, number = (
        [builder.choose(more, b, a) for a, b in zip(*halves, strict=True)] for halves in zip(left, right, strict=True)
    )
    return score, number
