"""Synthesizable Verilog-2005: encoder, gates, adder trees and argmax as modules of their own, and a testbench.

`NAME` reads an image as one wide port `x` and gives its class as `label`. Inside it are `NAME_encoder` and `NAME_core`
(input bits to label), which holds `NAME_gates`, `NAME_count` for each class and `NAME_argmax`, so that a synthesis
report can say what each costs. With `pipeline=N` there are registers after every N levels (a gate, an adder and a
comparison are one level each) and after every module: a new image each clock, its label `latency` clocks later.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit import algebra
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import register
from hardwire.circuit.formats.header import about
from hardwire.circuit.formats.logic import read_back
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.formats.verilog_module import Module, Signal
from hardwire.circuit.lower import FIRST_ADDER
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.reading import INFINITY, Reading, reading_of
from hardwire.circuit.statistics import live_nodes
from hardwire.circuit.tools import linked, run_yosys
from hardwire.errors import HardwireError
from hardwire.files import write_whole

TO_AIGER = (  # yosys commands from Verilog to an and-inverter graph; formalff turns clocked registers into latches
    "hierarchy -auto-top",
    "proc",
    "flatten",
    "opt_clean",
    "techmap",
    "opt_clean",
    "aigmap",
    "formalff -clk2ff",
    "write_aiger -symbols netlist.aig",
)


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


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    pipeline: int | None = None,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
    images: npt.ArrayLike | None = None,
) -> list[Path]:
    """Writes `path`. pipeline: registers every so many levels; raw: what `x` holds, by default what the encoder was
    made for; values: see `reading_of`; images: raw values (0 and 1 where the circuit has no encoder) of a self-checking
    testbench, written beside it as NAME_tb.v."""
    reading = reading_of(circuit, raw, values)
    design = to_verilog(circuit, name_for(path, name), reading, pipeline=pipeline)
    write_whole(path, design.text)
    if images is None:
        return [path]
    bench = path.with_name(f"{path.stem}_tb.v")
    write_whole(bench, testbench(circuit, design, reading, np.asarray(images)))
    return [path, bench]


def to_verilog(circuit: Circuit, name: str, reading: Reading, *, pipeline: int | None = None) -> Verilog:
    if pipeline is not None and pipeline < 1:
        raise HardwireError(f"pipeline {pipeline} is no number of levels; use 1 or more, or leave it out")
    bits = reading.kind == "bits"
    label_width, sum_width = circuit.answer_width, circuit.group.bit_length()
    modules = [
        _gates(circuit, name, pipeline),
        _count(circuit.group, name, pipeline),
        _argmax(circuit.classes, sum_width, label_width, name, pipeline)
        if circuit.number is None
        else _offset(circuit.number.offset, sum_width, label_width, name, pipeline),
    ]
    if not bits:
        modules.append(_encoder(reading, name, pipeline))
    latency = sum(module.latency for module in modules)
    ports = f"x: value i from bit {reading.value_bits} * i on; label: the answer, {latency} clocks later."
    text = render(
        "circuit.v",
        top=name,
        core=name if bits else f"{name}_core",
        modules=[module.text() for module in modules],
        clocked=pipeline is not None,
        latency=latency,
        width=reading.width,
        label_width=label_width,
        sum_width=sum_width,
        inputs=circuit.inputs,
        classes=circuit.classes,
        group=circuit.group,
        about=about(circuit, reading, ports),
    )
    return Verilog(text, name, pipeline is not None, latency, reading.width, label_width)


def testbench(circuit: Circuit, design: Verilog, reading: Reading, images: npt.NDArray[Any]) -> str:
    """images: raw values where the circuit has an encoder, 0 and 1 [n, inputs] where it has none."""
    labels = circuit.answers(circuit.scores(images, raw=circuit.encoder is not None)).tolist()
    packed = np.packbits(reading.to_bits(reading.rows(circuit, images)), axis=1, bitorder="little")
    vectors = [(row[::-1].tobytes().hex(), label) for row, label in zip(packed, labels, strict=True)]
    return render("testbench.v", **vars(design), vectors=vectors, count=len(images))


def read_verilog(path: Path) -> Netlist:
    """The netlist of a Verilog file, read by yosys; a pipelined one as if without its registers."""
    with tempfile.TemporaryDirectory() as folder:
        run_yosys([f"read_verilog {linked(path, folder)}", *TO_AIGER], folder)
        return read_aiger(Path(folder, "netlist.aig"))[0]


def _gates(circuit: Circuit, name: str, pipeline: int | None) -> Module:
    netlist = circuit.netlist
    module = Module(f"{name}_gates", {"x": netlist.inputs}, {"y": len(netlist.outputs)}, pipeline)
    signals: list[Signal] = [module.port("x", i) for i in range(netlist.inputs)]
    live = live_nodes(netlist)
    for node, (gate, reads) in enumerate(zip(netlist.gate.tolist(), netlist.reads(), strict=True), netlist.inputs):
        if not live[node] or gate in algebra.CONSTANTS:
            signals.append(module.constant(int(gate == algebra.TRUE)))
        else:
            expression = algebra.expression(gate, "{0}", "{1}" if len(reads) == 2 else "{0}")
            signals.append(module.wire(f"n{node}", 1, expression, [signals[read] for read in reads]))
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


def _offset(offset: int, sum_width: int, width: int, name: str, pipeline: int | None) -> Module:
    """The sum and a constant, in two's complement; it stands where a classifier has its argmax."""
    module = Module(f"{name}_argmax", {"x": sum_width}, {"y": width}, pipeline)
    total = module.port("x", f"{sum_width - 1}:0")
    module.outputs["y"] = [module.wire("number", width, f"{{0}} + {width}'d{offset % (1 << width)}", [total])]
    return module


def _encoder(reading: Reading, name: str, pipeline: int | None) -> Module:
    width = reading.value_bits
    ports = {"x": reading.width}, {"y": reading.inputs}
    module = Module(f"{name}_encoder", *ports, pipeline and max(pipeline, 3 if reading.kind == "floats" else 2))
    bits = []
    for feature, keys in enumerate(reading.keys.tolist()):
        value = module.port("x", f"{(feature + 1) * width - 1}:{feature * width}")
        sign = module.port("x", (feature + 1) * width - 1)
        if (
            reading.kind == "floats"
        ):  # bit patterns that sort like the numbers: all bits flipped below zero, else the sign
            value = module.wire(f"k{feature}", 32, "{0} ^ {{1'b1, {{31{{{1}}}}}}}", [value, sign])
            number = module.wire(f"number{feature}", 1, f"{{0}} <= 32'd{INFINITY}", [value])
        elif reading.signed:
            value = module.wire(f"k{feature}", width, f"{{0}} ^ {width}'d{1 << width - 1}", [value])
            keys = [key + (1 << width - 1) for key in keys]
        for level, key in enumerate(keys):
            bit = _comparison(module, f"b{feature}_{level}", value, key, width)
            if reading.kind == "floats":
                bit = module.wire(f"c{feature}_{level}", 1, "{0} & {1}", [bit, number])
            bits.append(bit)
    module.outputs["y"] = bits
    return module


def _comparison(module: Module, name: str, value: Signal, threshold: int, width: int) -> Signal:
    if threshold < 0 or threshold >= (1 << width) - 1:
        return module.constant(int(threshold < 0))
    return module.wire(name, 1, f"{{0}} > {width}'d{threshold}", [value])


register(".v", title="Verilog", write=write, read=read_back(read_verilog))
