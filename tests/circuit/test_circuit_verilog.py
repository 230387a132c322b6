"""Verilog an engineer can drop in: control signals, scores, a stream of words, clean for a linter, simulated."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from circuit_oracle import oracle_scores, random_bits, random_circuit
from hypothesis import given, settings
from hypothesis import strategies as st
from verilog import (
    needs_iverilog,
    needs_simulator,
    needs_verilator,
    needs_verilator_simulation,
    simulate,
    simulate_by_verilator,
    verilator,
)

import hardwire as hw
from hardwire.circuit import Circuit
from hardwire.circuit.builder import Builder
from hardwire.circuit.counting import WIDEST, count_plan
from hardwire.circuit.lower import count_ones
from hardwire.circuit.verify import verify

OPTIONS = [
    {},
    {"pipeline": 1, "scores": True},
    {"pipeline": 2.5, "control": True, "scores": True, "stream": 8},
    {"pipeline": 100, "control": True, "stream": 32},
    {"stream": 64, "scores": True},
    {"pipeline": 3, "stream": 12, "lut": 4},
    {"pipeline": 2, "lut": 4, "reach": 2},
]


def small(seed=5, classes=5, group=11):
    """Raw bytes, and classes and groups that are no powers of two."""
    encoder = hw.Encoder.uniform(7, 2, 255)
    circuit = random_circuit(seed, inputs=14, classes=classes, group=group, layers=3, encoder=encoder).simplify()
    return circuit, np.random.default_rng(seed).integers(0, 256, (25, 7), np.uint8)


@settings(max_examples=40, deadline=None)
@given(bits=st.integers(1, 70), lut=st.sampled_from([*WIDEST]))
def test_a_tree_of_counters_counts_and_no_counter_is_too_wide(bits, lut):
    steps, result = count_plan(bits, lut)
    assert all(2 <= len(taken) <= WIDEST[lut] for taken, _ in steps)
    assert len(result) == bits.bit_length()
    builder = Builder(bits)
    netlist = builder.netlist(count_ones(builder, list(range(bits)), lut))
    rows = random_bits(bits, 50, bits)
    counts = oracle_scores(Circuit(netlist, len(netlist.outputs)), rows)
    assert np.array_equal(counts @ (1 << np.arange(counts.shape[1])), rows.sum(axis=1))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), lut=st.sampled_from([*WIDEST]))
def test_bits_count_as_often_as_their_weights_say(data, lut):
    weights = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=12))
    builder = Builder(len(weights))
    netlist = builder.netlist(count_ones(builder, list(range(len(weights))), lut, weights))
    rows = random_bits(1, 30, len(weights))
    made = oracle_scores(Circuit(netlist, len(netlist.outputs)), rows)
    total = rows.astype(int) @ np.array(weights)
    width = max(len(netlist.outputs), 1)
    assert np.array_equal(made @ (1 << np.arange(width)), total % (1 << width))
    assert width >= sum(weights).bit_length()


def test_two_hundred_bits_take_about_as_many_tables():
    steps, _ = count_plan(200)
    assert sum(len(made) for _, made in steps) < 212  # an output of a counter is one table of six inputs


@needs_simulator
@pytest.mark.simulator
@pytest.mark.parametrize("options", OPTIONS)
def test_every_interface_passes_its_testbench_and_is_proven(options, tmp_path):
    circuit, images = small()
    circuit.export(tmp_path / "net.v", images=images, **options)
    assert "PASS 25 images" in simulate([tmp_path / "net.v", tmp_path / "net_tb.v"], tmp_path)
    answer = verify(circuit, tmp_path / "net.v", images)
    assert answer.equal and "proven by SAT" in answer.how


def test_scores_are_proven_and_wrong_ones_found(tmp_path):
    circuit, _ = small()
    circuit.export(tmp_path / "net.v", scores=True, pipeline=2)
    assert "proven by SAT" in verify(circuit, tmp_path / "net.v").how
    text = (tmp_path / "net.v").read_text()
    delayed = "scores_1 <= sums;"
    assert text.count(delayed) == 1
    (tmp_path / "net.v").write_text(text.replace(delayed, "scores_1 <= sums ^ (sums[1] & sums[6]);"))
    answer = verify(circuit, tmp_path / "net.v")
    assert not answer.equal and "model has scores" in answer.counterexample


@needs_simulator
@pytest.mark.simulator
@pytest.mark.parametrize("group", [1, 2, 5, 40, 130])
def test_comparisons_that_are_cut_into_stages_are_proven(group, tmp_path):
    circuit, images = small(classes=3, group=group)
    circuit.export(tmp_path / "net.v", images=images, pipeline=1)
    assert "PASS 25 images" in simulate([tmp_path / "net.v", tmp_path / "net_tb.v"], tmp_path)
    answer = verify(circuit, tmp_path / "net.v", images)
    assert answer.equal and "proven" in answer.how


@needs_verilator
@pytest.mark.parametrize("options", OPTIONS)
def test_verilator_has_nothing_to_warn_of(options, tmp_path):
    top = "net_stream" if "stream" in options else "net"  # the stream has the other inside
    for circuit in (small()[0], random_circuit(8, inputs=9, classes=1, group=4), small(3, classes=2, group=1)[0]):
        circuit.export(tmp_path / "net.v", **options)
        said = verilator("--lint-only", "-Wall", "--top-module", top, "net.v", folder=tmp_path)
        assert said.returncode == 0 and "%Warning" not in said.stderr, said.stderr


@needs_verilator_simulation
@pytest.mark.simulator
def test_the_testbench_runs_under_verilator_where_there_is_iverilog_too(tmp_path):
    circuit, images = small()
    circuit.export(tmp_path / "net.v", images=images, **OPTIONS[2])
    assert "PASS 25 images" in simulate_by_verilator([tmp_path / "net.v", tmp_path / "net_tb.v"], tmp_path)


@needs_simulator
@pytest.mark.simulator
@pytest.mark.parametrize("options", [OPTIONS[2], OPTIONS[4], OPTIONS[5]])
def test_a_stream_of_words_gives_the_label_of_each_image(options, tmp_path):
    circuit, images = small()
    circuit.export(tmp_path / "net.v", **options)
    bits, rows = options["stream"], images[:6]
    words = [
        f"{int.from_bytes(row.tobytes(), 'little') >> start & (1 << bits) - 1:x}"
        for row in rows
        for start in range(0, 56, bits)
    ]
    sends = "\n".join(
        f"    in_data = {bits}'h{word}; in_valid = 1; step;{' in_valid = 0; step; step;' if i % 5 == 2 else ''}"
        for i, word in enumerate(words)
    )
    (tmp_path / "bench.v").write_text(f"""module bench;
  reg clk = 0, rst = 1, in_valid = 0; reg [{bits - 1}:0] in_data = 0; wire out_valid; wire [2:0] label; integer i;
  net_stream dut (.clk(clk), .rst(rst), .in_valid(in_valid), .in_data(in_data), .out_valid(out_valid), .label(label));
  task step; begin #5 clk = 1; #1 if (out_valid) $display("label %0d", label); #4 clk = 0; end endtask
  initial begin
    step; rst = 0;
{sends}
    in_valid = 0;
    for (i = 0; i < 60; i = i + 1) step;
    $finish;
  end
endmodule
""")
    printed = simulate([tmp_path / "net.v", tmp_path / "bench.v"], tmp_path)
    labels = [int(label) for label in re.findall(r"^label (\d+)$", printed, re.MULTILINE)]  # simulators print more
    assert labels == circuit.predict(rows, raw=True).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"control": True}, "need registers to control"),
        ({"stream": 7}, "7-bit words is not supported; choose 8 to 64"),
        ({"pipeline": 0.5}, "not a number of levels"),
        ({"lut": 5}, "look-up tables of 4 or 6 inputs, not 5"),
        ({"reach": 0.5, "pipeline": 1}, "at least one level"),
        ({"reach": 2}, "give a pipeline too"),
    ],
)
def test_interfaces_that_cannot_be_are_refused(options, message, tmp_path):
    with pytest.raises(hw.HardwireError, match=message):
        small()[0].export(tmp_path / "net.v", **options)


@pytest.mark.parametrize("range_", ["[40000000:0]", "[1 :0040000000 ]", "[0000000000100000000000000000000000000:0]"])
def test_a_vector_that_would_fill_the_memory_is_an_error_at_once(range_, tmp_path):
    circuit = small()[0]
    circuit.export(tmp_path / "net.v")
    text = (tmp_path / "net.v").read_text()
    (tmp_path / "net.v").write_text(text.replace("wire [", f"wire {range_} more; // [99999999:0]\n  wire [", 1))
    with pytest.raises(hw.HardwireError, match=r"a vector of 0*40+ bits is too long|line \d+ has '00000000001'"):
        verify(circuit, tmp_path / "net.v")


@needs_iverilog
@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("cocotb") is None, reason="needs cocotb: pip install cocotb")
def test_the_cocotb_example_runs(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "cocotb" / "simulate.py"
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "PASS=1" in done.stdout + done.stderr
