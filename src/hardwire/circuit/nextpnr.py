"""nextpnr: the devices it places circuits on, and how it is run.

nextpnr packs a design as densely as it can. Circuits of randomly wired gates do not route like that on ECP5: too many
wires compete for the same few rows and columns. Surprising: empty cells are therefore fixed to a share of the sites,
evenly over the device, so that the circuit spreads out between them; they use no wires and are not counted.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError, unknown_name

DESIGN, REPORT, PINS = "design.json", "report.json", "pins.lpf"
TOP = "harness"  # the module around a circuit
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Device:
    """An FPGA.

    Attributes:
        family: Its name in yosys and nextpnr.
        synthesis: Options of yosys.
        options: Options of nextpnr.
        cell: What nextpnr calls a site of a look-up table.
        cells: How many of them there are.
        level: Nanoseconds of one level of logic with its wires, measured on our own circuits.
        overhead: Nanoseconds of the registers at both ends of a path.
        reach: Levels a gate counts as, since the wires between gates cross the whole circuit.
        columns: Columns of logic, where circuits have to be spread.
        rows: Rows of logic, where circuits have to be spread.
    """

    family: str
    synthesis: str
    options: tuple[str, ...]
    cell: str
    cells: int
    level: float
    overhead: float
    reach: float = 1
    columns: range = range(0)
    rows: tuple[int, ...] = ()


def _rows(last: int, memory: int) -> tuple[int, ...]:
    """Returns the rows of logic of an ECP5: every twelfth row has memories and multipliers instead."""
    return tuple(row for row in range(2, last + 1) if row % 12 != memory)


# router1, the default, fails on such wires
_OPTIONS = ("--package", "CABGA381", "--lpf", PINS, "--lpf-allow-unconstrained", "--router", "router2")
# Tables of several cells, ECP5's default, take twice the cells for sums; both they and carry chains need whole tiles,
# and a circuit that is spread out leaves none.
_ECP5 = Device("ecp5", "-nowidelut -noccu2", (), "TRELLIS_COMB", 0, level=1.5, overhead=2.5, reach=2)
DEVICES = {
    "ecp5-25k": replace(_ECP5, options=("--25k", *_OPTIONS), cells=24_288, columns=range(2, 71), rows=_rows(47, 1)),
    "ecp5-85k": replace(_ECP5, options=("--85k", *_OPTIONS), cells=83_640, columns=range(2, 122), rows=_rows(92, 10)),
    "ice40-hx8k": Device(
        "ice40", "", ("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"), "ICESTORM_LC", 7_680, 1.1, 1.6
    ),
}
_PLACES = [f"SLICE{piece}.K{table}" for piece in "ABCD" for table in (0, 1)]  # of one tile of ECP5
_THIN = 0.22  # least share of a tile's sites that stay open; with fewer, wires become longer than necessary
_FULL = 0.8  # share of the open sites that a circuit may fill
_STEPS = {  # lines of nextpnr's log -> progress messages
    r"at iteration #(\d+), type": "placement, round {}",
    r"at iteration #(\d+): temp": "finer placement, round {}",
    r"^Info:\s+\d+ \|[^|]*\|[^|]*\|\s+(\d+)\|": "routing, {} wires left",
    r"iter=\d+ wires=\d+ overused=(\d+)": "routing, {} wires shared",
}


def device_called(name: str) -> Device:
    """Returns the device of a name."""
    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    return DEVICES[name]


def route(
    name: str, needed: int, clock: float, seed: int, folder: str, progress: Progress
) -> tuple[dict[str, Any], int]:
    """Places and routes the design in `folder`; returns the report and the cells used."""
    device = device_called(name)
    Path(folder, PINS).write_text('LOCATE COMP "clk" SITE "G2";\n')  # a pin connected to the clock network
    nailed = spread(Path(folder, DESIGN), device, needed)
    options = ["--json", DESIGN, "--report", REPORT, "--freq", str(clock), "--seed", str(seed), "--timing-allow-fail"]
    code, log = run_with_progress([*_command(device.family), *device.options, *options], folder, progress)
    used = re.search(rf"{device.cell}:\s+(\d+)\s*/\s*(\d+)", log)
    cells, available = (int(used[1]) - nailed, int(used[2])) if used else (0, 0)
    check_fit(cells, available, name)
    if code:
        last = " | ".join(line for line in log.splitlines() if "ERROR" in line) or log[-200:]
        raise HardwireError(f"nextpnr failed (exit code {code}): {last}")
    return json.loads(Path(folder, REPORT).read_text()), cells


def check_fit(needed: int, available: int, device: str) -> None:
    """Raises an error if a design has too many cells."""
    if needed > available:
        raise HardwireError(
            f"it does not fit: {needed:,} logic cells where {device} has {available:,}, {needed - available:,} too "
            "many; take a larger device, longer stages (fewer registers), raw='bits' (--raw bits) or fewer gates"
        )


def spread(design: Path, device: Device, needed: int) -> int:
    """Fixes empty cells to as many sites as the circuit can spare, and returns how many."""
    blocked = list(_spare(device, needed))
    if blocked:
        whole = json.loads(design.read_text())
        cells = whole["modules"][TOP]["cells"]
        cells |= {f"empty {place}": _empty(place) for place in blocked}
        design.write_text(json.dumps(whole))
    return len(blocked)


def _spare(device: Device, needed: int) -> Iterator[str]:
    """Yields sites to block, so that open sites are spread evenly and wires stay short."""
    tiles = [(column, row) for column in device.columns for row in device.rows]
    share = min(1.0, max(_THIN, needed / _FULL / max(1, len(tiles) * len(_PLACES))))
    for i, (column, row) in enumerate(tiles):
        first, last = (int((i + step) * share * len(_PLACES)) for step in (0, 1))
        yield from (f"X{column}/Y{row}/{place}" for place in _PLACES[last - first :])


def _empty(place: str) -> dict[str, Any]:
    directions = dict.fromkeys("ABCD", "input") | {"Z": "output"}
    cell: dict[str, Any] = {"hide_name": 1, "type": "LUT4", "parameters": {"INIT": "0" * 16}}
    return cell | {"attributes": {"BEL": place}, "port_directions": directions, "connections": {}}


def run_with_progress(command: list[str], folder: str, progress: Progress) -> tuple[int, str]:
    """Runs nextpnr, reporting progress meanwhile; returns its exit code and log."""
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            for pattern, step in _STEPS.items():
                if match := re.search(pattern, line):
                    progress(step.format(f"{int(match[1]):,}"))
    return process.returncode, "".join(lines)


def _command(family: str) -> list[str]:
    program, module = shutil.which(f"nextpnr-{family}"), f"yowasp_nextpnr_{family}"
    if program is not None:
        return [program]
    if importlib.util.find_spec(module) is None:
        raise HardwireError(f"nextpnr for {family} is not installed; run: pip install 'hardwire[fpga]'")
    return [sys.executable, "-c", f"import sys, {module} as m; sys.exit(m.run_nextpnr_{family}(sys.argv[1:]))"]
