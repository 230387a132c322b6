"""Synthesizable Verilog-2005: encoder, gates, class sums and argmax as modules of their own, and a testbench.

`NAME` reads an image from one wide port `x` and outputs its class as `label`. Inside are `NAME_encoder` and `NAME_core`
(input bits to label), which contains `NAME_gates`, `NAME_count` for each class and `NAME_argmax`, so that a synthesis
report states what each costs. With `pipeline=N` there is a register after every N levels of logic, counted as in
verilog_parts.py: a new image every clock, its label `latency` clocks later.
"""

import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.counting import WIDEST, output_weights
from hardwire.circuit.formats import register
from hardwire.circuit.formats import verilog_parts as parts
from hardwire.circuit.formats.header import header_lines, marked
from hardwire.circuit.formats.logic import read_back, sums_lines
from hardwire.circuit.formats.names import name_for
from hardwire.circuit.formats.text import render
from hardwire.circuit.formats.verilog_module import VerilogModule
from hardwire.circuit.formats.verilog_text import checked_code, limits_for
from hardwire.circuit.input_format import InputFormat, input_format_of
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.statistics import live_nodes
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError
from hardwire.files import write_together

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
LONGEST_PORTS = 10_000  # characters
_MARK = "hardwire-ports: "


@dataclass(frozen=True)
class Verilog:
    """A design in Verilog.

    Attributes:
        text: All modules.
        top: Name of the top module.
        clocked: Whether it has a clk.
        control: Whether it has rst, ce, valid_in and valid_out.
        latency: Clocks from image to label.
        width: Width of the port x.
        label_width: Width of the port label.
        scores_width: Width of the port scores; 0 if there is none.
    """

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
    """Writes a Verilog file, and a testbench if images are given.

    Args:
        circuit: The circuit.
        path: The file.
        name: Of the top module, by default the file's.
        pipeline: Levels of logic between registers; None for no registers.
        control: With a pipeline: add the ports rst, ce, valid_in and valid_out.
        scores: Add the class sums as an output.
        stream: Add a module NAME_stream that receives an image in words of so many bits, 8 to 64.
        lut: Inputs of the look-up tables the class sums are built for, 6 or 4.
        reach: Levels a gate counts as in a pipeline; more than 1 where the wires between gates are long.
        raw: What `x` holds, by default what the encoder was made for.
        values: See `hardwire.circuit.input_format.input_format_of`.
        images: Images of a self-checking testbench NAME_tb.v: raw values, or 0 and 1 without an encoder.
    """
    if pipeline is None and reach != 1:
        raise HardwireError(f"reach={reach} applies to the stages of a pipeline; give a pipeline too")
    input_format = input_format_of(circuit, raw, values)
    name = name_for(path, name)
    design = to_verilog(
        circuit,
        name,
        input_format,
        pipeline=pipeline,
        control=control,
        scores=scores,
        stream=stream,
        lut=lut,
        reach=reach,
    )
    bench = None if images is None else testbench(circuit, design, input_format, np.asarray(images))
    files: dict[Path, str | bytes] = {path: design.text}
    if bench is not None:
        files[path.with_name(f"{path.stem}_tb.v")] = bench
    write_together(files)
    return list(files)


def to_verilog(
    circuit: Circuit,
    name: str,
    input_format: InputFormat,
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
    modules = _modules(circuit, name, input_format, pipeline, control, lut, reach)
    counts = count_modules(circuit)
    beside = set(counts[1:]) - {counts[0]}  # the class sums run side by side
    latency = sum(module.latency for part, module in modules.items() if part not in beside)
    words = -(-input_format.width // stream) if stream else 0
    described = {"top": name, "clocked": pipeline is not None, "control": control, "lut": lut}
    ports = f"x: value i from bit {input_format.value_bits} * i on; label: the answer, {latency} clocks later."
    text = render(
        "circuit.v",
        top=name,
        modules=[module.text() for module in modules.values()],
        counts=counts,
        clocked=pipeline is not None,
        control=control,
        latency=latency,
        argmax_latency=modules["argmax"].latency,
        width=input_format.width,
        label_width=label_width,
        sum_width=sum_width,
        scores_width=scores_width,
        inputs=circuit.inputs,
        classes=circuit.classes,
        group=circuit.group,
        encodes=input_format.kind != "bits",
        stream=stream,
        words=words,
        counter_width=max(1, (words - 1).bit_length()),
        comment=[*header_lines(circuit, input_format, ports, *sums_lines(circuit)), _MARK + json.dumps(described)],
    )
    return Verilog(text, name, pipeline is not None, control, latency, input_format.width, label_width, scores_width)


def _check(pipeline: float | None, control: bool, stream: int | None, lut: int, reach: float) -> None:
    if lut not in WIDEST:
        raise HardwireError(f"class sums are built for look-up tables of 4 or 6 inputs, not {lut}")
    if pipeline is not None and not _levels(pipeline):
        raise HardwireError(
            f"pipeline {pipeline!r} is not a number of levels; use 1 or more, or leave it out (`hardwire circuit "
            "place` "
            "finds one for a clock)"
        )
    if not _levels(reach):
        raise HardwireError(f"a gate counts as at least one level, not {reach!r}; give reach=1 or more")
    if control and pipeline is None:
        raise HardwireError("rst, ce and valid need registers to control; give a pipeline too")
    lowest, highest = STREAM_BITS
    if stream is not None and (type(stream) is not int or not lowest <= stream <= highest):
        raise HardwireError(f"a stream of {stream!r}-bit words is not supported; choose {lowest} to {highest} bits")


def _levels(number: object) -> bool:
    return isinstance(number, int | float) and math.isfinite(number) and number >= 1


def count_modules(circuit: Circuit) -> list[str]:
    """Lists the module that counts each class: one for all, unless some outputs are constant or count several times;
    then one for all classes with the same weights."""
    weights = output_weights(circuit.netlist, circuit.classes)
    if all(weight == 1 for own in weights for weight in own):
        return ["count"] * circuit.classes
    return [f"count{weights.index(own)}" for own in weights]


def _modules(
    circuit: Circuit,
    name: str,
    input_format: InputFormat,
    pipeline: float | None,
    control: bool,
    lut: int,
    reach: float,
) -> dict[str, VerilogModule]:
    """By what they are, in the order of the data; each goes on in the stage where those before end."""
    label_width, sum_width = circuit.answer_width, circuit.group.bit_length()
    modules: dict[str, VerilogModule] = {}

    def module(
        part: str, inputs: int, outputs: int, after: Sequence[str] = (), registered: bool = False, far: float = 0
    ) -> VerilogModule:
        start = max((modules[name].end for name in after if name in modules), default=0.0)
        ports = {"x": inputs}, {"y": outputs}
        modules[part] = VerilogModule(f"{name}_{part}", *ports, pipeline, start, control, registered, far)
        return modules[part]

    if input_format.kind != "bits":
        wanted = live_nodes(circuit.netlist)[: circuit.inputs]
        parts.fill_encoder(module("encoder", input_format.width, circuit.inputs), input_format, wanted)
    outputs = len(circuit.netlist.outputs)
    parts.fill_gates(module("gates", circuit.inputs, outputs, ["encoder"]), circuit, reach)
    weights = dict(zip(count_modules(circuit), output_weights(circuit.netlist, circuit.classes), strict=True))
    for part, own in weights.items():
        parts.fill_count(module(part, circuit.group, sum_width, ["gates"], far=reach - 1), circuit.group, lut, own)
    for part in weights:
        modules[part].least_latency = max(modules[other].latency for other in weights)
    last = module("argmax", circuit.classes * sum_width, label_width, list(weights), registered=True, far=reach - 1)
    if circuit.number is None:
        parts.fill_argmax(last, circuit.classes, sum_width, label_width)
    else:
        parts.fill_offset(last, circuit.number.offset, sum_width, label_width)
    return modules


def testbench(circuit: Circuit, design: Verilog, input_format: InputFormat, images: npt.NDArray[Any]) -> str:
    """Returns a self-checking testbench for these images."""
    scores = circuit.scores(images, raw=circuit.encoder is not None)
    labels = circuit.answers(scores) % (1 << design.label_width)
    width = circuit.group.bit_length()
    sums = [sum(score << width * c for c, score in enumerate(row)) for row in scores.tolist()]
    packed = np.packbits(input_format.to_bits(input_format.rows(circuit, images)), axis=1, bitorder="little")
    vectors = [
        (row[::-1].tobytes().hex(), label, f"{total:x}")
        for row, label, total in zip(packed, labels.tolist(), sums, strict=True)
    ]
    return render("testbench.v", **vars(design), vectors=vectors, count=len(images))


def read_verilog(path: Path) -> Netlist:
    """Reads a Verilog file with yosys; a pipelined design as if it had no registers."""
    text, code = checked_code(path)
    top, wrapper = _wrapper(_ports_of(text), code)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "source.v").write_text(code + wrapper)
        run_yosys(["read_verilog source.v", f"hierarchy {top}", *TO_AIGER], folder, limits_for(code))
        return read_aiger(Path(folder, "netlist.aig"))[0]


def _ports_of(text: str) -> dict[str, Any]:
    """Returns what a file says about its ports."""
    return marked(text, _MARK) or {}


def _lut_of(text: str) -> int:
    return 4 if _ports_of(text).get("lut") == 4 else 6


def _wrapper(described: Mapping[str, Any], code: str) -> tuple[str, str]:
    """Returns the option that names the top module, and a module around it with the ports x and label only.

    The wrapper holds valid_in and ce at 1 and rst at 0; scores, if there are any, become the higher bits of label.
    """
    top = described.get("top")
    if not isinstance(top, str) or not re.fullmatch(r"[A-Za-z_]\w{0,200}", top, flags=re.ASCII):
        return "-auto-top", ""
    start = re.search(rf"\bmodule {top} \(", code)
    ports = "" if start is None else code[start.end() : start.end() + LONGEST_PORTS].partition(");")[0]
    matches = {port: re.search(rf"\[(\d{{1,7}}):0\] {port}\b", ports) for port in ("x", "label", "scores")}
    widths = {port: int(width[1]) + 1 for port, width in matches.items() if width}
    if "x" not in widths or "label" not in widths:
        return "-auto-top" if start is None else f"-top {top}", ""
    clock = "input clk, " if described.get("clocked") else ""
    ties = ".clk(clk), " if clock else ""
    ties += ".rst(1'b0), .ce(1'b1), .valid_in(1'b1), " if described.get("control") else ""
    label, scores = widths["label"], widths.get("scores", 0)
    ties += f".x(x), .label(label[{label - 1}:0])" + (
        f", .scores(label[{label + scores - 1}:{label}])" if scores else ""
    )
    outside = f"{clock}input [{widths['x'] - 1}:0] x, output [{label + scores - 1}:0] label"
    return "-top hardwire_read", f"\nmodule hardwire_read({outside}); {top} whole({ties}); endmodule\n"


register(".v", title="Verilog", write=write, read=read_back(read_verilog, _lut_of), tables=True)
