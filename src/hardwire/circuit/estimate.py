"""Estimates the cost of a circuit on an FPGA: look-up tables and flip-flops, counted by yosys after synthesis.

Encoder, gates (or tables), class sums and argmax are synthesized separately and added up, so that every count has a
part that it belongs to, and including more never costs less. The look-up tables are generic: no carry chains, no vendor
cells.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats.verilog import count_modules, to_verilog
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.tools import run_yosys
from hardwire.errors import HardwireError

NAME = "estimated"


@dataclass(frozen=True)
class Estimate:
    """One part of the estimate; `dataclasses.asdict` makes a plain dictionary.

    Attributes:
        part: "encoder", "gates" or "tables", "class sums", "argmax" (or "offset" of a number), or "all".
        luts: Look-up tables.
        flip_flops: Flip-flops.
    """

    part: str
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
        A row for each part that there is, in the order of the data, and one for all of them.

    Example:
        >>> from hardwire.circuit.estimate import estimate
        >>> [row.part for row in estimate(circuit)]  # doctest: +SKIP
        ['encoder', 'gates', 'class sums', 'argmax', 'all']
    """
    if not 2 <= lut <= 8:
        raise HardwireError(f"look-up tables of {lut} inputs are not supported; use 2 to 8, such as 4 or 6")
    if circuit.state is not None:
        from hardwire.circuit.sequential import fpga

        fpga.refuse({"pipeline": pipeline, "raw": raw})
        counts = fpga.estimate(circuit, lut, progress)
        return [Estimate(fpga.PART, *counts), Estimate("all", *counts)]
    input_format = input_format_of(circuit, raw)
    design = to_verilog(circuit, NAME, input_format, pipeline=pipeline, lut=4 if lut < 6 else 6)
    lines: list[Estimate] = []
    for part, modules in parts_of(circuit, encodes=input_format.kind != "bits").items():
        if progress is not None:
            progress(part)
        counted = {module: synthesize(design.text, f"{NAME}_{module}", lut) for module in dict.fromkeys(modules)}
        lines.append(Estimate(part, *(sum(counted[module][kind] for module in modules) for kind in (0, 1))))
    return [*lines, Estimate("all", sum(line.luts for line in lines), sum(line.flip_flops for line in lines))]


def parts_of(circuit: Circuit, encodes: bool) -> dict[str, list[str]]:
    """Returns the modules in Verilog that make up each part of a design, in the order of the data."""
    last = "argmax" if circuit.number is None else "offset"
    parts = {circuit.netlist.made_of: ["gates"], "class sums": count_modules(circuit), last: ["argmax"]}
    return {"encoder": ["encoder"], **parts} if encodes else parts


def synthesize(text: str, top: str, lut: int) -> tuple[int, int]:
    """Returns the look-up tables and flip-flops of a module after synthesis."""
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
