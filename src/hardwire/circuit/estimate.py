"""What a circuit costs on an FPGA: look-up tables and flip-flops, counted by yosys after synthesis.

Three counts, each including the one before, so that nobody has to ask what a number includes: the gates alone, with
class sums and argmax, and with the encoder. The modules are synthesized one by one and added up, so that more never
takes less. Generic k-input LUTs: no carry chains, no vendor's cells.
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
    pipeline: float | None = None,
    raw: str | None = None,
    lut: int = 6,
    progress: Callable[[str], object] | None = None,
) -> list[Estimate]:
    """lut: inputs of a look-up table; progress: called with what is synthesized next."""
    if not 2 <= lut <= 8:
        raise HardwireError(f"look-up tables of {lut} inputs are not common; use 4 or 6")
    reading = reading_of(circuit, raw)
    design = to_verilog(circuit, NAME, reading, pipeline=pipeline, lut=4 if lut < 6 else 6)
    parts = {"gates": {"gates": 1}, "class sums, argmax": {"count": circuit.classes, "argmax": 1}}
    if reading.kind != "bits":
        parts[f"encoder of {reading.kind}"] = {"encoder": 1}
    lines: list[Estimate] = []
    luts = flip_flops = 0
    for part, modules in parts.items():
        for module, times in modules.items():
            if progress is not None:
                progress(module)
            found = _synthesize(design.text, f"{NAME}_{module}", lut)
            luts, flip_flops = luts + times * found[0], flip_flops + times * found[1]
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
