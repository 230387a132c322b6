"""Place and route by yosys and nextpnr: what a circuit needs on a real FPGA, and how fast it runs there.

The circuit sits between a register as wide as an image, filled bit by bit from one pin, and a register for the label:
no package has thousands of pins, and timing is measured between registers. Modules are synthesized separately and stay
separate, so that every count and every segment of the critical path has a name. Surprising: a circuit without a
pipeline has a clock too, namely the time from one register to the other.
"""

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.estimate import parts_of
from hardwire.circuit.formats.verilog import Verilog, to_verilog
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.nextpnr import DESIGN, TOP, Device, Progress, check_fit, device_called, route
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

NAME = "placed"


KINDS = {  # cell types of both families
    "luts": r"SB_LUT4|LUT4|TRELLIS_COMB",
    "flip_flops": r"SB_DFF\w*|TRELLIS_FF",
    "carries": r"SB_CARRY|CCU2C",
}


@dataclass(frozen=True)
class PartResources:
    """What one part of a circuit needs after synthesis.

    Attributes:
        name: "encoder", "gates" or "tables", "class sums", "argmax" or "offset".
        luts: Look-up tables.
        flip_flops: Flip-flops.
        carries: Carry cells.
    """

    name: str
    luts: int
    flip_flops: int
    carries: int


@dataclass(frozen=True)
class Placement:
    """The result of place and route; `dataclasses.asdict` makes a plain dictionary.

    Attributes:
        device: Name of the FPGA.
        parts: What each part needs after synthesis.
        cells: Logic cells used after packing, including the registers around the circuit.
        available: Logic cells of the device.
        fmax: Highest clock, in MHz.
        latency: Clocks from the image to its label.
        nanoseconds: Time from the register of the image to that of the label.
        images_per_second: Throughput; for a circuit with state, steps in a second.
        critical: Nanoseconds of the longest path by part.
        pipeline: Levels of logic in a stage; None without a pipeline.
        bits_per_second: Input bits that a circuit with state reads in a second; None for other circuits.
    """

    device: str
    parts: list[PartResources]
    cells: int
    available: int
    fmax: float
    latency: int
    nanoseconds: float
    images_per_second: float
    critical: dict[str, float]
    pipeline: float | None
    bits_per_second: float | None = None


def budget_for(device: str, clock: float) -> float:
    """Estimates how many levels of logic fit into a stage at a clock in MHz."""
    chosen = device_called(device)
    return max(1.0, (1000 / clock - chosen.overhead) / chosen.level)


def levels_of(pipeline: str | None) -> float | str | None:
    """Converts a pipeline given as text: a number of levels, or a word such as auto."""
    try:
        return None if pipeline is None else float(pipeline)
    except ValueError:
        return pipeline


def place(
    circuit: Circuit,
    device: str,
    *,
    pipeline: float | str | None = None,
    clock: float | None = None,
    raw: str | None = None,
    seed: int = 1,
    progress: Progress = lambda step: None,
) -> Placement:
    """Synthesizes, places and routes a circuit.

    Args:
        circuit: The circuit.
        device: "ecp5-25k", "ecp5-85k" or "ice40-hx8k".
        pipeline: Levels of logic between registers, or "auto" to choose them for the clock.
        clock: Clock to aim at, in MHz.
        raw: What the design reads, by default what the encoder was made for.
        seed: Of the placer.
        progress: Called with a description of each step.

    Raises:
        HardwireError: If it does not fit, or a tool is missing or fails.
    """
    chosen = device_called(device)
    if clock is not None and not clock > 0:
        raise HardwireError(f"a clock of {clock} MHz is impossible; give more than 0")
    if circuit.state is not None:
        from hardwire.circuit.sequential import fpga

        fpga.refuse({"pipeline": pipeline, "raw": raw})
        return Placement(**fpga.place(circuit, device, clock, seed, progress))
    if isinstance(pipeline, str):
        if pipeline != "auto":
            raise HardwireError(f"pipeline {pipeline!r} is neither a number of levels nor 'auto'")
        if clock is None:
            raise HardwireError("an automatic pipeline needs a clock to aim at; give clock= (--clock), in MHz")
        pipeline = budget_for(device, clock)
    input_format = input_format_of(circuit, raw)
    design = to_verilog(circuit, NAME, input_format, pipeline=pipeline, lut=4, reach=chosen.reach)
    with tempfile.TemporaryDirectory() as folder:
        progress("synthesis")
        parts = _synthesize(design, circuit, chosen, folder)
        luts, flip_flops = (sum(getattr(part, kind) for part in parts) for kind in ("luts", "flip_flops"))
        check_fit(max(luts, flip_flops + design.width), chosen.cells, device)
        progress("place and route")
        report, cells = route(device, luts, clock or 100.0, seed, folder, progress)
    fmax = min(clock_report["achieved"] for clock_report in report["fmax"].values())
    return Placement(
        device,
        parts,
        cells,
        chosen.cells,
        fmax,
        design.latency,
        nanoseconds=max(1, design.latency) * 1000 / fmax,
        images_per_second=fmax * 1e6,
        critical=longest_path(report),
        pipeline=pipeline,
    )


def harness(design: Verilog) -> str:
    """Returns a module with registers around the design, so that it needs few pins."""
    width, label = design.width, design.label_width
    shift = f"{{image[{width - 2}:0], in}}" if width > 1 else "in"
    clock = ".clk(clk), " if design.clocked else ""
    return f"""
module {TOP} (input clk, input in, output reg [{label - 1}:0] out);
  reg [{width - 1}:0] image;
  wire [{label - 1}:0] label;
  always @(posedge clk) begin image <= {shift}; out <= label; end
  {design.top} whole ({clock}.x(image), .label(label));
endmodule
"""


def _synthesize(design: Verilog, circuit: Circuit, device: Device, folder: str) -> list[PartResources]:
    Path(folder, "design.v").write_text(design.text + harness(design))
    run_yosys(
        [
            "read_verilog design.v",
            f"synth_{device.family} {device.synthesis} -noflatten -top {TOP} -json {DESIGN}",
            "tee -q -o cells.json stat -json",
        ],
        folder,
    )
    modules = json.loads(Path(folder, "cells.json").read_text())["modules"]
    counts = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in modules.items()}
    encodes = f"{NAME}_encoder" in counts
    parts = parts_of(circuit, encodes)
    return [count_cells(name, [counts[f"{NAME}_{module}"] for module in own]) for name, own in parts.items()]


def count_cells(name: str, modules: Sequence[Mapping[str, int]]) -> PartResources:
    """Returns what some modules need together, from the cells that yosys counted in each."""
    cells = [(cell, count) for module in modules for cell, count in module.items()]
    totals = {
        kind: sum(count for cell, count in cells if re.fullmatch(pattern, cell)) for kind, pattern in KINDS.items()
    }
    return PartResources(name, **totals)


def longest_path(report: Mapping[str, Any]) -> dict[str, float]:
    """Returns the nanoseconds of the longest path between registers, by part."""
    paths = [path["path"] for path in report["critical_paths"] if path["from"] == path["to"]] or [[]]
    longest = max(paths, key=lambda path: sum(step["delay"] for step in path))
    parts: dict[str, float] = {}
    for step in longest:
        name = _part_of(step["to"]["cell"])
        parts[name] = parts.get(name, 0.0) + step["delay"]
    return parts


def _part_of(cell: str) -> str:
    match = re.search(r"(?:^|\.)(encoder|gates|count\d+|argmax)\.", cell)
    if match is None:  # the gates of a circuit with state are in no module of their own
        return "step" if re.search(r"(?:^|\.)whole\.", cell) else "registers around"
    return "class sums" if match[1].startswith("count") else match[1]
