"""Synthesizable Verilog-2005: encoder, gates, adder trees and argmax as modules of their own, and a testbench.

`NAME` reads an image as one wide port `x` and gives its class as `label`. Inside it are `NAME_encoder` and `NAME_core`
(input bits to label), which holds `NAME_gates`, `NAME_count` for each class and `NAME_argmax`, so that a synthesis
report can say what each costs. With `pipeline=N` there are registers after every N levels (a gate, an adder and a
comparison are one level each) and after every module: a new image each clock, its label `latency` clocks later.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardwire.circuit import algebra
from hardwire.circuit.export.names import name_for
from hardwire.circuit.export.testbench import testbench
from hardwire.circuit.export.verilog_module import Module
from hardwire.circuit.lower import FIRST_ADDER, RAW_BITS, byte_keys, float_keys, raw_kind, raw_width
from hardwire.circuit.netlist import Circuit
from hardwire.circuit.statistics import live_nodes
from hardwire.errors import HardwireError
from hardwire.files import write_whole


@dataclass(frozen=True)
class Verilog:
    """text: the modules; top: the module of the whole; clocked: whether it has a clk; latency: clocks from image to
    label; width, label_width: of the ports x and label."""

    text: str
    top: str
    clocked: bool
    latency: int
    width: int
    label_width: int


def write_verilog(
    circuit: Circuit,
    path: str | os.PathLike,
    *,
    name: str | None = None,
    pipeline: int | None = None,
    raw: str | None = None,
    images: np.ndarray | None = None,
) -> None:
    """Writes `path`. pipeline: registers every so many levels; raw: what `x` holds, bits, bytes or floats; images: raw
    values (0 and 1 where the circuit has no encoder) of a self-checking testbench, written beside it as NAME_tb.v."""
    path = Path(path)
    design = to_verilog(circuit, name_for(path, name), pipeline=pipeline, raw=raw)
    write_whole(path, design.text)
    if images is not None:
        write_whole(path.with_name(f"{path.stem}_tb.v"), testbench(circuit, design, raw_kind(circuit, raw), images))


def to_verilog(circuit: Circuit, name: str, *, pipeline: int | None = None, raw: str | None = None) -> Verilog:
    if pipeline is not None and pipeline < 1:
        raise HardwireError(f"pipeline {pipeline} is no number of levels; use 1 or more, or leave it out")
    raw = raw_kind(circuit, raw)
    label_width = max(1, (circuit.classes - 1).bit_length())
    gates = _gates(circuit, name, pipeline)
    count = _count(circuit.group, name, pipeline)
    argmax = _argmax(circuit.classes, circuit.group.bit_length(), label_width, name, pipeline)
    core = _core(circuit, name if raw == "bits" else f"{name}_core", name, label_width, pipeline)
    latency = gates.latency + count.latency + argmax.latency
    texts = [gates.text(), count.text(), argmax.text(), core]
    if raw != "bits":
        encoder = _encoder(circuit, name, raw, pipeline)
        latency += encoder.latency
        texts += [encoder.text(), _top(circuit, name, raw, label_width, pipeline)]
    head = f"// Written by hardwire. x: {raw_width(circuit, raw)} bits, {_meaning(circuit, raw)}.\n"
    head += f"// label: the class with the highest sum, ties to the lowest. Latency: {latency} clocks.\n\n"
    return Verilog(head + "\n".join(texts), name, pipeline is not None, latency, raw_width(circuit, raw), label_width)


def _meaning(circuit: Circuit, raw: str) -> str:
    if raw == "bits":
        return "the input bits, input i in bit i"
    return f"{circuit.encoder.raw_features} {raw}, value i from bit {RAW_BITS[raw]} * i on"


def _gates(circuit: Circuit, name: str, pipeline: int | None) -> Module:
    netlist = circuit.netlist
    module = Module(f"{name}_gates", {"x": netlist.inputs}, {"y": len(netlist.outputs)}, pipeline)
    signals: list = [module.port("x", i) for i in range(netlist.inputs)]
    live = live_nodes(netlist)
    rows = zip(netlist.gate.tolist(), netlist.first.tolist(), netlist.second.tolist(), strict=True)
    for node, (gate, first, second) in enumerate(rows, start=netlist.inputs):
        if not live[node]:
            signals.append(None)
        elif gate in algebra.CONSTANTS:
            signals.append(module.constant(int(gate == algebra.TRUE)))
        else:
            reads = [signals[first]] * algebra.READS_FIRST[gate] + [signals[second]] * algebra.READS_SECOND[gate]
            expression = algebra.EXPRESSIONS[gate]
            expression = expression.replace("{a}", "{0}").replace("{b}", "{1}" if algebra.READS_FIRST[gate] else "{0}")
            signals.append(module.wire(f"n{node}", 1, expression, reads))
    module.outputs["y"] = [signals[node] for node in netlist.outputs.tolist()]
    return module


def _count(group: int, name: str, pipeline: int | None) -> Module:
    """The number of ones in x: sums of six bits, then a tree of adders of two."""
    width = group.bit_length()
    module = Module(f"{name}_count", {"x": group}, {"y": width}, pipeline)
    numbers, arity, most, level = [module.port("x", i) for i in range(group)], FIRST_ADDER, 1, 0
    while len(numbers) > 1 or level == 0:
        most, level = most * arity, level + 1
        bits = min(width, most.bit_length())
        starts = range(0, len(numbers), arity)
        pieces = [numbers[start : start + arity] for start in starts]
        numbers = [
            module.wire(f"s{level}_{i}", bits, " + ".join(f"{{{k}}}" for k in range(len(piece))), piece)
            for i, piece in enumerate(pieces)
        ]
        arity = 2
    module.outputs["y"] = numbers
    return module


def _argmax(classes: int, width: int, label_width: int, name: str, pipeline: int | None) -> Module:
    """A tournament: the later of two wins only by a higher sum, so ties go to the lowest class."""
    module = Module(f"{name}_argmax", {"x": classes * width}, {"y": label_width}, pipeline)
    players = [
        (module.port("x", f"{(c + 1) * width - 1}:{c * width}"), module.constant(c, label_width))
        for c in range(classes)
    ]
    level = 0
    while len(players) > 1:
        level += 1
        winners = []
        for i in range(0, len(players) - 1, 2):
            (low, low_number), (high, high_number) = players[i : i + 2]
            tag = f"{level}_{i // 2}"
            score = module.wire(f"best{tag}", width, "({1} > {0}) ? {1} : {0}", [low, high])
            number = module.wire(
                f"number{tag}", label_width, "({1} > {0}) ? {3} : {2}", [low, high, low_number, high_number]
            )
            winners.append((score, number))
        players = winners + players[len(winners) * 2 :]
    module.outputs["y"] = [players[0][1]]
    return module


def _encoder(circuit: Circuit, name: str, raw: str, pipeline: int | None) -> Module:
    encoder, width = circuit.encoder, RAW_BITS[raw]
    keys = byte_keys(encoder) if raw == "bytes" else float_keys(encoder)
    module = Module(
        f"{name}_encoder", {"x": encoder.raw_features * width}, {"y": circuit.inputs}, pipeline and max(pipeline, 2)
    )
    bits = []
    for feature, thresholds in enumerate(keys.tolist()):
        value = module.port("x", f"{(feature + 1) * width - 1}:{feature * width}")
        if raw == "floats":  # bit patterns that sort like the numbers: all bits flipped below zero, else the sign
            sign = module.port("x", feature * 32 + 31)
            value = module.wire(f"k{feature}", 32, "{0} ^ {{1'b1, {{31{{{1}}}}}}}", [value, sign])
        for level, threshold in enumerate(thresholds):
            bits.append(_comparison(module, f"b{feature}_{level}", value, threshold, width))
    module.outputs["y"] = bits
    return module


def _comparison(module: Module, name: str, value, threshold: int, width: int):
    if threshold < 0 or threshold >= (1 << width) - 1:
        return module.constant(int(threshold < 0))
    return module.wire(name, 1, f"{{0}} > {width}'d{threshold}", [value])


def _core(circuit: Circuit, module: str, name: str, label_width: int, pipeline: int | None) -> str:
    group, width = circuit.group, circuit.group.bit_length()
    clock, connect = ("input clk, ", ".clk(clk), ") if pipeline else ("", "")
    lines = [
        f"module {module} ({clock}input [{circuit.inputs - 1}:0] x, output [{label_width - 1}:0] label);",
        f"  wire [{circuit.classes * group - 1}:0] y;",
        f"  wire [{circuit.classes * width - 1}:0] sums;",
        f"  {name}_gates gates ({connect}.x(x), .y(y));",
    ]
    lines += [
        f"  {name}_count count{c} ({connect}.x(y[{(c + 1) * group - 1}:{c * group}]), "
        f".y(sums[{(c + 1) * width - 1}:{c * width}]));"
        for c in range(circuit.classes)
    ]
    return "\n".join([*lines, f"  {name}_argmax argmax ({connect}.x(sums), .y(label));", "endmodule", ""])


def _top(circuit: Circuit, name: str, raw: str, label_width: int, pipeline: int | None) -> str:
    clock, connect = ("input clk, ", ".clk(clk), ") if pipeline else ("", "")
    return f"""\
module {name} ({clock}input [{raw_width(circuit, raw) - 1}:0] x, output [{label_width - 1}:0] label);
  wire [{circuit.inputs - 1}:0] bits;
  {name}_encoder encoder ({connect}.x(x), .y(bits));
  {name}_core core ({connect}.x(bits), .label(label));
endmodule
"""
