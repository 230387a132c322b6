"""Circuits that say a number in fixed point, against the network and against every export."""

from pathlib import Path

import numpy as np
import pytest
import torch
from cases import property_test
from compiled import compiled_answers
from hypothesis import given
from hypothesis import strategies as st
from verilog import needs_simulator, simulate

import hardwire as hw
from hardwire.bits import Columns
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.number import Number
from hardwire.circuit.verify import verify

RAW = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)


def network(low=-7.3, high=2.1, **settings):
    encoder = hw.Encoder.fit(RAW, 4)
    settings = {"width": 37, "depth": 2, "seed": 0, "encoder": encoder, **settings}
    return hw.LogicNetwork(12, number=(low, high), **settings).eval()


@property_test
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(0, 1000))
def test_the_circuit_says_the_numbers_of_the_network_exactly(low, span, seed):
    net = network(low, low + span, seed=seed)
    circuit = hw.Circuit.from_network(net)
    x = torch.randint(0, 2, (64, 12), generator=torch.Generator().manual_seed(seed)).float()
    expected = net.predict(x).numpy()
    assert np.array_equal(circuit.predict(x.numpy()), expected)
    assert np.array_equal(circuit.simplify().predict(x.numpy()), expected)


@pytest.mark.parametrize("ends", [(-7.3, 2.1), (100, 400), (-1000, -900), (-0.25, 0.25)])
@pytest.mark.parametrize("suffix", [".c", ".v", ".blif", ".aig", ".wasm", ".circuit"])
def test_every_export_says_the_same_whole_number(suffix, ends, tmp_path):
    circuit = hw.Circuit.from_network(network(*ends))
    path = tmp_path / f"number{suffix}"
    circuit.export(path)
    answer = verify(circuit, path, RAW)
    assert answer.equal and answer.images == len(RAW)
    if suffix == ".c":
        input_format = input_format_of(circuit)
        numbers, _ = compiled_answers(circuit, path, input_format, 64, input_format.rows(circuit, RAW))
        assert np.array_equal(numbers * circuit.number.step, circuit.predict(RAW, raw=True))
    offset, exponent = circuit.number.offset, circuit.number.exponent
    for other in (Number(offset + 1, exponent), Number(offset, exponent + 1)):
        try:
            assert not verify(hw.Circuit(circuit.netlist, 1, circuit.encoder, number=other), path, RAW).equal
        except hw.HardwireError as error:
            assert "of another model" in str(error)


@pytest.mark.simulator
@needs_simulator
def test_the_testbench_knows_negative_numbers(tmp_path):
    circuit = hw.Circuit.from_network(network())
    assert (circuit.predict(RAW, raw=True) < 0).any()
    circuit.export(tmp_path / "number.v", images=RAW[:50], pipeline=2)
    files = [tmp_path / name for name in ("number.v", "number_tb.v")]
    assert "PASS 50 images" in simulate(files, tmp_path)


def test_the_header_of_c_says_where_the_binary_point_is(tmp_path):
    circuit = hw.Circuit.from_network(network())
    circuit.export(tmp_path / "number.c")
    text = (tmp_path / "number.h").read_text()
    assert f"NUMBER_EXPONENT ({circuit.number.exponent})" in text and "a number of two-input logic gates" in text


def test_files_keep_the_number_and_the_names_of_columns(tmp_path):
    net = network()
    net.columns = Columns(("a", "b", "c"), {"b": ("x", "y")}, "price")
    hw.save(net, tmp_path / "model")
    hw.Circuit.from_network(net).save(tmp_path / "circuit")
    for name in ("model", "circuit"):
        circuit = hw.Circuit.load(tmp_path / name)
        assert circuit.columns == net.columns == hw.load(tmp_path / "model").columns
        assert np.array_equal(circuit.predict(RAW, raw=True), hw.Circuit.from_network(net).predict(RAW, raw=True))


def test_a_number_that_no_export_could_hold_is_refused(tmp_path: Path):
    circuit = hw.Circuit.from_network(network(2**40, 2**40 + 1))
    assert circuit.predict(RAW, raw=True).min() >= 2**40 - 1
    for suffix in (".c", ".v", ".aig", ".wasm"):
        with pytest.raises(hw.HardwireError, match="more than 32 bits hold"):
            circuit.export(tmp_path / f"number{suffix}")
    with pytest.raises(hw.HardwireError, match="sum of one group"):
        hw.Circuit(circuit.netlist, 37, number=Number(0, 0))
    with pytest.raises(hw.HardwireError, match="whole numbers"):
        Number(0.5, 0)


def test_a_circuit_of_a_number_is_no_classifier():
    circuit = hw.Circuit.from_network(network())
    plain = hw.Circuit(circuit.netlist, 1, circuit.encoder)
    assert circuit.digest != plain.digest
    with pytest.raises(hw.HardwireError, match="and the other a class"):
        circuit.equivalent(plain)
    assert input_format_of(circuit).kind == "floats"
