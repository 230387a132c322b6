"""nextpnr: the devices that we place circuits on, and how it is run on one.

nextpnr places as densely as it can, wherever there is room. Circuits of randomly wired gates do not route like that on
ECP5: too many wires want through the same few rows and columns. Surprising: so empty cells are nailed to a part of the
places there, everywhere alike, and the circuit spreads between them; they take no wires and are counted out again.
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
TOP = "harness"  # the module that stands around a circuit
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Device:
    """family: of yosys and nextpnr; synthesis, options: for these; cell: what nextpnr calls a place for a look-up
    table; cells: how many it has; level, overhead: nanoseconds of one level of logic with its wires, and of a
    register's both ends, measured on our own circuits; reach: levels that a gate counts as, since the wires between
    gates cross the whole circuit; columns, rows: of logic, where circuits have to be spread."""

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
    """Every twelfth row of an ECP5 holds memories and multipliers instead of logic."""
    return tuple(row for row in range(2, last + 1) if row % 12 != memory)


# router1, the default, does not get through with such wires
_OPTIONS = ("--package", "CABGA381", "--lpf", PINS, "--lpf-allow-unconstrained", "--router", "router2")
# Wide tables of several cells, which are ECP5's default, take twice the cells for sums; both they and carry chains want
# whole tiles, and a circuit that is spread leaves none.
_ECP5 = Device("ecp5", "-nowidelut -noccu2", (), "TRELLIS_COMB", 0, level=1.5, overhead=2.5, reach=2)
DEVICES = {
    "ecp5-25k": replace(_ECP5, options=("--25k", *_OPTIONS), cells=24_288, columns=range(2, 71), rows=_rows(47, 1)),
    "ecp5-85k": replace(_ECP5, options=("--85k", *_OPTIONS), cells=83_640, columns=range(2, 122), rows=_rows(92, 10)),
    "ice40-hx8k": Device(
        "ice40", "", ("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"), "ICESTORM_LC", 7_680, 1.1, 1.6
    ),
}
_PLACES = [f"SLICE{piece}.K{table}" for piece in "ABCD" for table in (0, 1)]  # of one tile of ECP5
_THIN = 0.22  # share of a tile's places that stay open: thinner, and wires become longer than they need be
_FULL = 0.8  # share of the open places that a circuit may fill
_STEPS = {  # lines of nextpnr's log, and what they say of how far it is
    r"at iteration #(\d+), type": "placement, round {}",
    r"at iteration #(\d+): temp": "finer placement, round {}",
    r"^Info:\s+\d+ \|[^|]*\|[^|]*\|\s+(\d+)\|": "routing, {} wires left",
    r"iter=\d+ wires=\d+ overused=(\d+)": "routing, {} wires shared",
}


def device_called(name: str) -> Device:
    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    return DEVICES[name]


def route(
    name: str, needed: int, clock: float, seed: int, folder: str, progress: Progress
) -> tuple[dict[str, Any], int]:
    """The report on the design in `folder`, which needs about so many look-up tables, and how many places it took."""
    device = device_called(name)
    Path(folder, PINS).write_text('LOCATE COMP "clk" SITE "G2";\n')  # a pin that reaches the clock network
    nailed = spread(Path(folder, DESIGN), device, needed)
    options = ["--json", DESIGN, "--report", REPORT, "--freq", str(clock), "--seed", str(seed), "--timing-allow-fail"]
    code, log = listen([*_command(device.family), *device.options, *options], folder, progress)
    used = re.search(rf"{device.cell}:\s+(\d+)\s*/\s*(\d+)", log)
    cells, available = (int(used[1]) - nailed, int(used[2])) if used else (0, 0)
    check_fit(cells, available, name)
    if code:
        last = " | ".join(line for line in log.splitlines() if "ERROR" in line) or log[-200:]
        raise HardwireError(f"nextpnr failed (exit code {code}): {last}")
    return json.loads(Path(folder, REPORT).read_text()), cells


def check_fit(needed: int, available: int, device: str) -> None:
    if needed > available:
        raise HardwireError(
            f"it does not fit: {needed:,} logic cells where {device} has {available:,}, {needed - available:,} too "
            "many; take a larger device, longer stages (fewer registers), raw='bits' (--raw bits) or fewer gates"
        )


def spread(design: Path, device: Device, needed: int) -> int:
    """Nails empty cells to as many places as the circuit can spare, and says to how many."""
    blocked = list(_spare(device, needed))
    if blocked:
        whole = json.loads(design.read_text())
        cells = whole["modules"][TOP]["cells"]
        cells |= {f"empty {place}": _empty(place) for place in blocked}
        design.write_text(json.dumps(whole))
    return len(blocked)


def _spare(device: Device, needed: int) -> Iterator[str]:
    """Places to block, so that what stays open is even, and no more than keeps wires short."""
    tiles = [(column, row) for column in device.columns for row in device.rows]
    share = min(1.0, max(_THIN, needed / _FULL / max(1, len(tiles) * len(_PLACES))))
    for i, (column, row) in enumerate(tiles):
        first, last = (int((i + step) * share * len(_PLACES)) for step in (0, 1))
        yield from (f"X{column}/Y{row}/{place}" for place in _PLACES[last - first :])


def _empty(place: str) -> dict[str, Any]:
    directions = dict.fromkeys("ABCD", "input") | {"Z": "output"}
    about: dict[str, Any] = {"hide_name": 1, "type": "LUT4", "parameters": {"INIT": "0" * 16}}
    return about | {"attributes": {"BEL": place}, "port_directions": directions, "connections": {}}


def listen(command: list[str], folder: str, progress: Progress) -> tuple[int, str]:
    """Exit code and log of nextpnr, which is told on while it runs."""
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            for pattern, step in _STEPS.items():
                if found := re.search(pattern, line):
                    progress(step.format(f"{int(found[1]):,}"))
    return process.returncode, "".join(lines)


def _command(family: str) -> list[str]:
    found, module = shutil.which(f"nextpnr-{family}"), f"yowasp_nextpnr_{family}"
    if found is not None:
        return [found]
    if importlib.util.find_spec(module) is None:
        raise HardwireError(f"nextpnr for {family} is not installed; run: pip install 'hardwire[fpga]'")
    return [sys.executable, "-c", f"import sys, {module} as m; sys.exit(m.run_nextpnr_{family}(sys.argv[1:]))"]
