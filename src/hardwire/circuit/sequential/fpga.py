"""What a circuit with state needs on an FPGA: the counts of yosys, and placed and routed by nextpnr.

A step has no pipeline: the state must be back before the next step, so the longest path through one step is the clock.
A shift register feeds the inputs and a register takes the answers, as for other circuits.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwire.circuit.nextpnr import DESIGN, TOP, check_fit, device_called, route
from hardwire.circuit.sequential import text
from hardwire.circuit.sequential.state import answering, state_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit.circuit import Circuit

NAME, PART = "machine", "step"


def refuse(options: dict[str, Any]) -> None:
    """Raises if an option was given that a circuit with state has not."""
    for name, value in options.items():
        if value is not None:
            raise HardwireError(f"a step of a circuit with state ends at its registers; leave out {name}")


def harness(given: int, answers: int) -> str:
    """A module with registers around one step, so that it needs few pins."""
    shift = f"{{x[{given - 2}:0], in}}" if given > 1 else "in"
    return f"""
module {TOP} (input clk, input rst, input in, output reg [{answers - 1}:0] out);
  reg [{given - 1}:0] x;
  reg reset;
  wire [{answers - 1}:0] y;
  always @(posedge clk) begin x <= {shift}; reset <= rst; out <= y; end
  {NAME} whole (.clk(clk), .rst(reset), .ce(1'b1), .x(x), .y(y));
endmodule
"""


def estimate(circuit: "Circuit", lut: int, progress: Callable[[str], object] | None) -> tuple[int, int]:
    """Look-up tables and flip-flops of one step and its registers, after synthesis."""
    from hardwire.circuit.estimate import synthesize

    if progress is not None:
        progress(PART)
    return synthesize(text.to_text(answering(circuit), state_of(circuit), NAME, text.VERILOG), NAME, lut)


def place(
    circuit: "Circuit", device: str, clock: float | None, seed: int, progress: Callable[[str], object]
) -> dict[str, Any]:
    """Synthesizes, places and routes a circuit with state; returns what `hardwire.circuit.place.Placement` holds."""
    from hardwire.circuit.place import count_cells, longest_path

    chosen, state, netlist = device_called(device), state_of(circuit), answering(circuit)
    given, answers = netlist.inputs - state.bits, len(netlist.outputs) - state.bits
    design = text.to_text(netlist, state, NAME, text.VERILOG) + harness(max(1, given), answers)
    with tempfile.TemporaryDirectory() as folder:
        progress("synthesis")
        Path(folder, "design.v").write_text(design)
        call = f"synth_{chosen.family} {chosen.synthesis} -noflatten -top {TOP} -json {DESIGN}"
        run_yosys(["read_verilog design.v", call, "tee -q -o cells.json stat -json"], folder)
        modules = json.loads(Path(folder, "cells.json").read_text())["modules"]
        part = count_cells(PART, [modules[f"\\{NAME}"]["num_cells_by_type"]])
        check_fit(max(part.luts, part.flip_flops + given + answers), chosen.cells, device)
        progress("place and route")
        report, cells = route(device, part.luts, clock or 100.0, seed, folder, progress)
    fmax = min(clock_report["achieved"] for clock_report in report["fmax"].values())
    return {
        "device": device, "parts": [part], "cells": cells, "available": chosen.cells, "fmax": fmax, "latency": 1,
        "nanoseconds": 1000 / fmax, "images_per_second": fmax * 1e6, "critical": longest_path(report),
        "pipeline": None, "bits_per_second": given * fmax * 1e6,
    }  # fmt: skip
