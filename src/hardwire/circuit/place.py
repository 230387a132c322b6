"""Placed and routed: what a circuit takes on a real FPGA, and how fast it runs there, by yosys and nextpnr.

The circuit stands behind a register as wide as an image, filled bit by bit from one pin, and before a register of its
label: no package has thousands of pins, and timing is between registers. Modules are synthesized one by one and stay
apart, so that every count and every part of the critical path has a name. Surprising: a circuit without a pipeline has
a clock too, which is then the time from one register to the other.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.verilog import Verilog, to_verilog
from hardwire.circuit.reading import reading_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError, unknown_name

NAME = "placed"


@dataclass(frozen=True)
class Device:
    """family: of yosys and nextpnr; synthesis, options: for these; cell: what nextpnr calls a place for a look-up
    table; cells: how many it has; level, overhead: nanoseconds of one level of logic with its wires, and of a
    register's both ends, measured on our own circuits."""

    family: str
    synthesis: str
    options: tuple[str, ...]
    cell: str
    cells: int
    level: float
    overhead: float


DEVICES = {
    # wide tables of several cells, which are ECP5's default, take twice the cells for sums and are hard to route
    "ecp5-25k": Device("ecp5", "-nowidelut", ("--25k", "--package", "CABGA381"), "TRELLIS_COMB", 24_288, 0.75, 1.5),
    "ecp5-85k": Device("ecp5", "-nowidelut", ("--85k", "--package", "CABGA756"), "TRELLIS_COMB", 83_640, 0.75, 1.5),
    "ice40-hx8k": Device("ice40", "", ("--hx8k", "--package", "ct256"), "ICESTORM_LC", 7_680, 1.1, 1.6),
}
STEPS = {  # lines of nextpnr's log, and what they say of how far it is
    r"at iteration #(\d+), type": "placement, round {}",
    r"at iteration #(\d+): temp": "finer placement, round {}",
    r"^Info:\s+\d+ \|[^|]*\|[^|]*\|\s+(\d+)\|": "routing, {} wires left",
}
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
    chosen = _device(device)
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
    progress: Callable[[str], object] = lambda step: None,
) -> Placement:
    """pipeline: registers every so many levels, or "auto": by the clock (MHz), which is what the tools aim at too."""
    chosen = _device(device)
    if clock is not None and not clock > 0:
        raise HardwireError(f"a clock of {clock} MHz does not tick; give more than 0")
    if isinstance(pipeline, str):
        if pipeline != "auto":
            raise HardwireError(f"pipeline {pipeline!r} is neither a number of levels nor 'auto'")
        if clock is None:
            raise HardwireError("an automatic pipeline needs the clock that it is for; give clock= (--clock), in MHz")
        pipeline = budget_for(device, clock)
    reading = reading_of(circuit, raw)
    design = to_verilog(circuit, NAME, reading, pipeline=pipeline, lut=4)
    with tempfile.TemporaryDirectory() as folder:
        progress("synthesis")
        parts = _synthesize(design, circuit, chosen, folder)
        needed = max(sum(part.luts for part in parts), sum(part.flip_flops for part in parts) + design.width)
        _check_fit(needed, chosen.cells, device)
        progress("place and route")
        report, cells, available = _route(chosen, device, clock or 100.0, seed, folder, progress)
    fmax = min(clock_report["achieved"] for clock_report in report["fmax"].values())
    return Placement(device, parts, cells, available, fmax, design.latency, _critical(report), pipeline)


def _device(name: str) -> Device:
    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    return DEVICES[name]


def harness(design: Verilog) -> str:
    """Registers around the whole, so that few pins do."""
    width, label = design.width, design.label_width
    shift = f"{{image[{width - 2}:0], in}}" if width > 1 else "in"
    clock = ".clk(clk), " if design.clocked else ""
    return f"""
module harness (input clk, input in, output reg [{label - 1}:0] out);
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
            f"synth_{device.family} {device.synthesis} -noflatten -top harness -json design.json",
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


def _route(
    device: Device, name: str, clock: float, seed: int, folder: str, progress: Callable[[str], object]
) -> tuple[dict[str, Any], int, int]:
    options = ["--json", "design.json", "--report", "report.json", "--freq", str(clock), "--seed", str(seed)]
    options += ["--timing-allow-fail", *(["--pcf-allow-unconstrained"] if device.family == "ice40" else [])]
    options += ["--lpf-allow-unconstrained"] if device.family == "ecp5" else []
    code, log = _listen([*_nextpnr(device.family), *device.options, *options], folder, progress)
    used = re.search(rf"{device.cell}:\s+(\d+)\s*/\s*(\d+)", log)
    cells, available = (int(used[1]), int(used[2])) if used else (0, 0)
    _check_fit(cells, available, name)
    if code:
        last = " | ".join(line for line in log.splitlines() if "ERROR" in line) or log[-200:]
        raise HardwireError(f"nextpnr failed (exit code {code}): {last}")
    return json.loads(Path(folder, "report.json").read_text()), cells, available


def _listen(command: list[str], folder: str, progress: Callable[[str], object]) -> tuple[int, str]:
    """Exit code and log of nextpnr, which is told on while it runs."""
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            for pattern, step in STEPS.items():
                if found := re.search(pattern, line):
                    progress(step.format(f"{int(found[1]):,}"))
    return process.returncode, "".join(lines)


def _check_fit(needed: int, available: int, device: str) -> None:
    if needed > available:
        raise HardwireError(
            f"it does not fit: {needed:,} logic cells where {device} has {available:,}, {needed - available:,} too "
            "many; take a larger device, longer stages (fewer registers), raw='bits' (--raw bits) or fewer gates"
        )


def _nextpnr(family: str) -> list[str]:
    found, module = shutil.which(f"nextpnr-{family}"), f"yowasp_nextpnr_{family}"
    if found is not None:
        return [found]
    if importlib.util.find_spec(module) is None:
        raise HardwireError(f"nextpnr for {family} is not installed; run: pip install 'hardwire[fpga]'")
    return [sys.executable, "-c", f"import sys, {module} as m; sys.exit(m.run_nextpnr_{family}(sys.argv[1:]))"]


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
