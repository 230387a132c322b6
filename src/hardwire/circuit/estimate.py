"""Estimates the cost of a circuit on an FPGA: look-up tables and flip-flops, counted by yosys after synthesis.

There are three counts, each including the one before: the gates alone, with class sums and argmax, and with the
encoder. The modules are synthesized separately and added up, so that including more never costs less. The look-up
tables are generic: no carry chains, no vendor cells.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.verilog import to_verilog
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

NAME = "estimated"


@dataclass(frozen=True)
class Estimate:
    """One row of the estimate; `dataclasses.asdict` makes a plain dictionary.

    Attributes:
        includes: What is counted.
        luts: Look-up tables.
        flip_flops: Flip-flops.
    """

    includes: str
    luts: int
    flip_flops: int


def estimate(
    circuit: Circuit,
    *,
    pipeline: float | None = None,
    raw: str | None = None,
    lut: int = 6,
    progress: Callable[[str], object] | None = None,
) -> list[Estimate]:
    """Counts look-up tables and flip-flops after synthesis.

    Args:
        circuit: The circuit.
        pipeline: Levels of logic between registers; None for no registers.
        raw: What the design reads, by default what the encoder was made for.
        lut: Inputs of a look-up table, 2 to 8.
        progress: Called with the module that is synthesized next.

    Returns:
        One row for the gates, one with class sums and argmax, and one with the encoder if there is one.
    """
    if not 2 <= lut <= 8:
        raise HardwireError(f"look-up tables of {lut} inputs are not supported; use 2 to 8, such as 4 or 6")
    input_format = input_format_of(circuit, raw)
    design = to_verilog(circuit, NAME, input_format, pipeline=pipeline, lut=4 if lut < 6 else 6)
    parts = {"gates": {"gates": 1}, "class sums, argmax": {"count": circuit.classes, "argmax": 1}}
    if input_format.kind != "bits":
        parts[f"encoder of {input_format.kind}"] = {"encoder": 1}
    lines: list[Estimate] = []
    luts = flip_flops = 0
    for part, modules in parts.items():
        for module, times in modules.items():
            if progress is not None:
                progress(module)
            cells = _synthesize(design.text, f"{NAME}_{module}", lut)
            luts, flip_flops = luts + times * cells[0], flip_flops + times * cells[1]
        lines.append(Estimate(", ".join([*parts][: [*parts].index(part) + 1]), luts, flip_flops))
    return lines


def _synthesize(text: str, top: str, lut: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "design.v").write_text(text)
        run_yosys(
            [
                "read_verilog design.v",
                f"synth -flatten -top {top} -lut {lut}",
                "tee -q -o cells.json stat -json",
            ],
            folder,
        )
        report = json.loads(Path(folder, "cells.json").read_text())
    cells = report["design"]["num_cells_by_type"]
    luts = sum(count for cell, count in cells.items() if "lut" in cell.lower())
    flip_flops = sum(count for cell, count in cells.items() if "dff" in cell.lower() or cell == "$_FF_")
    return luts, flip_flops
