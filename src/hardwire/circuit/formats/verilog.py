"""Synthesizable Verilog-2005: encoder, gates, class sums and argmax as modules of their own, and a testbench.

`NAME` reads an image as one wide port `x` and gives its class as `label`. Inside it are `NAME_encoder` and `NAME_core`
(input bits to label), which holds `NAME_gates`, `NAME_count` for each class and `NAME_argmax`, so that a synthesis
report can say what each costs. With `pipeline=N` there is a register after every N levels of logic, as verilog_parts.py
counts them, wherever that falls: a new image each clock, its label `latency` clocks later.
"""

import json
import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.counting import WIDEST
from hardwire.circuit.formats import register
from hardwire.circuit.formats import verilog_parts as parts
from hardwire.circuit.formats.header import about
from hardwire.circuit.formats.logic import read_back
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.formats.verilog_module import Module
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.reading import Reading, reading_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError
from hardwire.files import write_whole

TO_AIGER = (  # yosys commands from Verilog to an and-inverter graph; formalff turns clocked registers into latches
    "proc",
    "flatten",
    "opt_expr",
    "opt_clean",
    "techmap",
    "opt_clean",
    "aigmap",
    "formalff -clk2ff",
    "write_aiger -symbols netlist.aig",
)
STREAM_BITS = (8, 64)  # a word of the streaming wrapper, from and to
MOST_BITS = 1 << 20  # of a vector that is read: a few bytes must not ask yosys for gigabytes and minutes
_MARK = "hardwire-ports: "
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", flags=re.DOTALL)
_WIDTH = re.compile(r"\[\s*0*(\d+)|:\s*0*(\d+)\s*\]|\b0*(\d+)\s*'|\{\s*0*(\d+)\s*\{")  # ranges, sizes, repeats


@dataclass(frozen=True)
class Verilog:
    """text: the modules; top: the module of the whole; clocked: whether it has a clk; control: and rst, ce, valid_in,
    valid_out; latency: clocks from image to label; widths of the ports x, label and, if not 0, scores."""

    text: str
    top: str
    clocked: bool
    control: bool
    latency: int
    width: int
    label_width: int
    scores_width: int


def write(
    circuit: Circuit,
    path: Path,
    *,
    name: str | None = None,
    pipeline: float | None = None,
    control: bool = False,
    scores: bool = False,
    stream: int | None = None,
    lut: int = 6,
    reach: float = 1,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
    images: npt.ArrayLike | None = None,
) -> list[Path]:
    """Writes `path`. pipeline: registers every so many levels; control: ports rst, ce, valid_in, valid_out as well
    (with a pipeline); scores: class sums as an output; stream: a module NAME_stream as well, which takes an image in
    words of so many bits; lut: inputs of the look-up tables that class sums are built for, 6 or 4; reach: levels that
    a gate counts as in a pipeline, more than 1 where the wires between gates are long; raw: what `x` holds, by default
    what the encoder was made for; values: see `reading_of`; images: raw values (0 and 1 where the circuit has no
    encoder) of a self-checking testbench beside it, NAME_tb.v."""
    if pipeline is None and reach != 1:
        raise HardwireError(f"reach={reach} is for the stages of a pipeline; give a pipeline too")
    reading = reading_of(circuit, raw, values)
    name = name_for(path, name)
    design = to_verilog(
        circuit, name, reading, pipeline=pipeline, control=control, scores=scores, stream=stream, lut=lut, reach=reach
    )
    bench = None if images is None else testbench(circuit, design, reading, np.asarray(images))
    write_whole(path, design.text)
    if bench is None:
        return [path]
    bench_path = path.with_name(f"{path.stem}_tb.v")
    write_whole(bench_path, bench)
    return [path, bench_path]


def to_verilog(
    circuit: Circuit,
    name: str,
    reading: Reading,
    *,
    pipeline: float | None = None,
    control: bool = False,
    scores: bool = False,
    stream: int | None = None,
    lut: int = 6,
    reach: float = 1,
) -> Verilog:
    _check(pipeline, control, stream, lut, reach)
    label_width, sum_width = circuit.answer_width, circuit.group.bit_length()
    scores_width = circuit.classes * sum_width if scores else 0
    modules = _modules(circuit, name, reading, pipeline, control, lut, reach)
    latency = sum(module.latency for module in modules.values())
    words = -(-reading.width // stream) if stream else 0
    said = {"top": name, "clocked": pipeline is not None, "control": control, "lut": lut}
    ports = f"x: value i from bit {reading.value_bits} * i on; label: the answer, {latency} clocks later."
    text = render(
        "circuit.v",
        top=name,
        modules=[module.text() for module in modules.values()],
        clocked=pipeline is not None,
        control=control,
        latency=latency,
        argmax_latency=modules["argmax"].latency,
        width=reading.width,
        label_width=label_width,
        sum_width=sum_width,
        scores_width=scores_width,
        inputs=circuit.inputs,
        classes=circuit.classes,
        group=circuit.group,
        encodes=reading.kind != "bits",
        stream=stream,
        words=words,
        counter_width=max(1, (words - 1).bit_length()),
        about=[*about(circuit, reading, ports), _MARK + json.dumps(said)],
    )
    return Verilog(text, name, pipeline is not None, control, latency, reading.width, label_width, scores_width)


def _check(pipeline: float | None, control: bool, stream: int | None, lut: int, reach: float) -> None:
    if lut not in WIDEST:
        raise HardwireError(f"class sums are built for look-up tables of 4 or 6 inputs, not {lut}")
    if pipeline is not None and not _levels(pipeline):
        raise HardwireError(
            f"pipeline {pipeline!r} is no number of levels; use 1 or more, or leave it out (`hardwire circuit place` "
            "finds one for a clock)"
        )
    if not _levels(reach):
        raise HardwireError(f"a gate counts as at least one level; reach={reach!r} is not that")
    if control and pipeline is None:
        raise HardwireError("rst, ce and valid need registers to control; give a pipeline too")
    lowest, highest = STREAM_BITS
    if stream is not None and (type(stream) is not int or not lowest <= stream <= highest):
        raise HardwireError(f"a stream of words of {stream!r} bits is not made; choose {lowest} to {highest}")


def _levels(number: object) -> bool:
    return isinstance(number, int | float) and math.isfinite(number) and number >= 1


def _modules(
    circuit: Circuit, name: str, reading: Reading, pipeline: float | None, control: bool, lut: int, reach: float
) -> dict[str, Module]:
    """By what they are, in the order of the data; each goes on in the stage where the one before ends."""
    label_width, sum_width = circuit.answer_width, circuit.group.bit_length()
    modules: dict[str, Module] = {}

    def module(part: str, inputs: int, outputs: int, registered: bool = False, far: float = 0) -> Module:
        start = max((made.end for made in list(modules.values())[-1:]), default=0.0)
        ports = {"x": inputs}, {"y": outputs}
        modules[part] = Module(f"{name}_{part}", *ports, pipeline, start, control, registered, far)
        return modules[part]

    if reading.kind != "bits":
        parts.fill_encoder(module("encoder", reading.width, circuit.inputs), reading)
    parts.fill_gates(module("gates", circuit.inputs, len(circuit.netlist.outputs)), circuit, reach)
    parts.fill_count(module("count", circuit.group, sum_width, far=reach - 1), circuit.group, lut)
    last = module("argmax", circuit.classes * sum_width, label_width, registered=True, far=reach - 1)
    if circuit.number is None:
        parts.fill_argmax(last, circuit.classes, sum_width, label_width)
    else:
        parts.fill_offset(last, circuit.number.offset, sum_width, label_width)
    return modules


def testbench(circuit: Circuit, design: Verilog, reading: Reading, images: npt.NDArray[Any]) -> str:
    """images: raw values where the circuit has an encoder, 0 and 1 [n, inputs] where it has none."""
    scores = circuit.scores(images, raw=circuit.encoder is not None)
    labels = circuit.answers(scores) % (1 << design.label_width)
    width = circuit.group.bit_length()
    sums = [sum(score << width * c for c, score in enumerate(row)) for row in scores.tolist()]
    packed = np.packbits(reading.to_bits(reading.rows(circuit, images)), axis=1, bitorder="little")
    vectors = [
        (row[::-1].tobytes().hex(), label, f"{total:x}")
        for row, label, total in zip(packed, labels.tolist(), sums, strict=True)
    ]
    return render("testbench.v", **vars(design), vectors=vectors, count=len(images))


def read_verilog(path: Path) -> Netlist:
    """The netlist of a Verilog file, read by yosys; a pipelined one as if without its registers."""
    text = path.read_text(errors="replace")
    _check_widths(path, text)
    top, wrapper = _wrapper(text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "source.v").write_text(text + wrapper)
        run_yosys(["read_verilog source.v", f"hierarchy {top}", *TO_AIGER], folder)
        return read_aiger(Path(folder, "netlist.aig"))[0]


def _check_widths(path: Path, text: str) -> None:
    for found in _WIDTH.finditer(_COMMENT.sub(" ", text)):
        bits = found[found.lastindex or 0]
        if len(bits) > len(str(MOST_BITS)) or int(bits) > MOST_BITS:
            raise HardwireError(f"cannot read {path}: a vector of {bits[:20]} bits is not believed; {MOST_BITS:,} are")


def _said(text: str) -> dict[str, Any]:
    """What a file says of its ports."""
    found = re.search(rf"{_MARK}(\{{.*\}})", text)
    try:
        said = json.loads(found[1]) if found else {}
    except (ValueError, RecursionError):
        said = {}
    return said if isinstance(said, dict) else {}


def _lut_of(text: str) -> int:
    return 4 if _said(text).get("lut") == 4 else 6


def _wrapper(text: str) -> tuple[str, str]:
    """Which module is the whole, and one around it that has x and label alone, the label of an image that came with
    valid, never reset; where there are scores they are the label's higher bits."""
    said = _said(text)
    top = said.get("top")
    module = re.search(rf"module {top} \((.*?)\);", text, flags=re.DOTALL) if isinstance(top, str) else None
    if module is None or not re.fullmatch(r"[A-Za-z_]\w*", str(top)):
        return "-auto-top", ""
    found = {port: re.search(rf"\[(\d+):0\] {port}\b", module[1]) for port in ("x", "label", "scores")}
    widths = {port: int(width[1]) + 1 for port, width in found.items() if width}
    if "x" not in widths or "label" not in widths:
        return f"-top {top}", ""
    clock = "input clk, " if said.get("clocked") else ""
    ties = ".clk(clk), " if clock else ""
    ties += ".rst(1'b0), .ce(1'b1), .valid_in(1'b1), " if said.get("control") else ""
    label, scores = widths["label"], widths.get("scores", 0)
    ties += f".x(x), .label(label[{label - 1}:0])" + (
        f", .scores(label[{label + scores - 1}:{label}])" if scores else ""
    )
    ports = f"{clock}input [{widths['x'] - 1}:0] x, output [{label + scores - 1}:0] label"
    return "-top hardwire_read", f"\nmodule hardwire_read({ports}); {top} whole({ties}); endmodule\n"


register(".v", title="Verilog", write=write, read=read_back(read_verilog, _lut_of))
