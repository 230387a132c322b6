"""Placed and routed: what a circuit takes on a real FPGA, and how fast it runs there, by yosys and nextpnr.

The circuit stands behind a register as wide as an image, filled bit by bit from one pin, and before a register of its
label: no package has thousands of pins, and timing is between registers. Modules are synthesized one by one and stay
apart, so that every count and every part of the critical path has a name. Surprising: a circuit without a pipeline has
a clock too, which is then the time from one register to the other.
"""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.verilog import Verilog, to_verilog
from hardwire.circuit.nextpnr import DESIGN, TOP, Device, Progress, check_fit, device_called, route
from hardwire.circuit.reading import reading_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

NAME = "placed"


KINDS = {  # cells of both families by what they are
    "luts": r"SB_LUT4|LUT4|TRELLIS_COMB",
    "flip_flops": r"SB_DFF\w*|TRELLIS_FF",
    "carries": r"SB_CARRY|CCU2C",
}


@dataclass(frozen=True)
class Part:
    """What one part takes after synthesis."""

    name: str
    luts: int
    flip_flops: int
    carries: int


@dataclass(frozen=True)
class Placement:
    """parts: by name; cells, available: places for look-up tables after packing, the register in front included; fmax
    in MHz; latency in clocks; critical: nanoseconds of the longest path by part; pipeline: levels of a stage."""

    device: str
    parts: list[Part]
    cells: int
    available: int
    fmax: float
    latency: int
    critical: dict[str, float]
    pipeline: float | None

    @property
    def nanoseconds(self) -> float:
        """From the register of the image to that of the label."""
        return max(1, self.latency) * 1000 / self.fmax

    @property
    def images_per_second(self) -> float:
        return self.fmax * 1e6


def budget_for(device: str, clock: float) -> float:
    """Levels of logic in a stage that are estimated to run at so many MHz."""
    chosen = device_called(device)
    return max(1.0, (1000 / clock - chosen.overhead) / chosen.level)


def levels_of(pipeline: str | None) -> float | str | None:
    """What a command line says of a pipeline: a number of levels, or a word."""
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
    """pipeline: registers every so many levels, or "auto": by the clock (MHz), which is what the tools aim at too."""
    chosen = device_called(device)
    if clock is not None and not clock > 0:
        raise HardwireError(f"a clock of {clock} MHz does not tick; give more than 0")
    if isinstance(pipeline, str):
        if pipeline != "auto":
            raise HardwireError(f"pipeline {pipeline!r} is neither a number of levels nor 'auto'")
        if clock is None:
            raise HardwireError("an automatic pipeline needs the clock that it is for; give clock= (--clock), in MHz")
        pipeline = budget_for(device, clock)
    reading = reading_of(circuit, raw)
    design = to_verilog(circuit, NAME, reading, pipeline=pipeline, lut=4, reach=chosen.reach)
    with tempfile.TemporaryDirectory() as folder:
        progress("synthesis")
        parts = _synthesize(design, circuit, chosen, folder)
        luts, flip_flops = (sum(getattr(part, kind) for part in parts) for kind in ("luts", "flip_flops"))
        check_fit(max(luts, flip_flops + design.width), chosen.cells, device)
        progress("place and route")
        report, cells = route(device, luts, clock or 100.0, seed, folder, progress)
    fmax = min(clock_report["achieved"] for clock_report in report["fmax"].values())
    return Placement(device, parts, cells, chosen.cells, fmax, design.latency, _critical(report), pipeline)


def harness(design: Verilog) -> str:
    """Registers around the whole, so that few pins do."""
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


def _synthesize(design: Verilog, circuit: Circuit, device: Device, folder: str) -> list[Part]:
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
    of = {
        "gates": [("gates", 1)],
        "class sums and argmax": [("count", circuit.classes), ("argmax", 1)],
        "encoder": [("encoder", 1)],
    }
    return [
        _part(name, [(counts[f"{NAME}_{module}"], times) for module, times in modules])
        for name, modules in of.items()
        if all(f"{NAME}_{module}" in counts for module, _ in modules)
    ]


def _part(name: str, modules: list[tuple[Mapping[str, int], int]]) -> Part:
    totals = {
        kind: sum(
            times * count for cells, times in modules for cell, count in cells.items() if re.fullmatch(pattern, cell)
        )
        for kind, pattern in KINDS.items()
    }
    return Part(name, **totals)


def _critical(report: Mapping[str, Any]) -> dict[str, float]:
    """Nanoseconds of the longest path between registers by the part that a cell is in."""
    paths = [path["path"] for path in report["critical_paths"] if path["from"] == path["to"]] or [[]]
    longest = max(paths, key=lambda path: sum(step["delay"] for step in path))
    parts: dict[str, float] = {}
    for step in longest:
        name = _part_of(step["to"]["cell"])
        parts[name] = parts.get(name, 0.0) + step["delay"]
    return parts


def _part_of(cell: str) -> str:
    found = re.search(r"(?:^|\.)(encoder|gates|count\d+|argmax)\.", cell)
    return "registers around" if found is None else "class sums" if found[1].startswith("count") else found[1]
