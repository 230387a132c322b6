"""What a circuit costs on an FPGA: look-up tables and flip-flops, counted by yosys after synthesis.

Three counts, each including the one before, so that nobody has to ask what a number includes: the gates alone, with
class sums and argmax, and with the encoder. Generic k-input LUTs: no carry chains, no vendor's cells.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.verilog import to_verilog
from hardwire.circuit.reading import reading_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

NAME = "estimated"


@dataclass(frozen=True)
class Estimate:
    """One line of the table: what is included, and its look-up tables and flip-flops."""

    includes: str
    luts: int
    flip_flops: int


def estimate(
    circuit: Circuit,
    *,
    pipeline: int | None = None,
    raw: str | None = None,
    lut: int = 6,
    progress: Callable[[str], object] | None = None,
) -> list[Estimate]:
    """lut: inputs of a look-up table; progress: called with what is synthesized next."""
    if not 2 <= lut <= 8:
        raise HardwireError(f"look-up tables of {lut} inputs are not common; use 4 or 6")
    reading = reading_of(circuit, raw)
    bits = reading.kind == "bits"
    design = to_verilog(circuit, NAME, reading, pipeline=pipeline)
    tops = {"gates": f"{NAME}_gates", "gates, class sums, argmax": NAME if bits else f"{NAME}_core"}
    if not bits:
        tops[f"gates, class sums, argmax, encoder of {reading.kind}"] = NAME
    lines = []
    for includes, top in tops.items():
        if progress is not None:
            progress(includes)
        lines.append(Estimate(includes, *_synthesize(design.text, top, lut)))
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
