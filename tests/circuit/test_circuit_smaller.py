"""Past plain simplification: what the encoder cannot make need not be right, and what hardly matters may go."""

import numpy as np
import pytest
from circuit_oracle import random_circuit
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import hardwire as hw
from hardwire.circuit import Circuit, Netlist
from hardwire.circuit.passes import simplify
from hardwire.circuit.passes.sweep import random_rows, restrict_to_code, thermometer_orders
from hardwire.cli.circuit import app

AND, OR, XOR, NOR = 1, 7, 6, 8


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), levels=st.integers(1, 4))
def test_dont_cares_keep_the_function_on_everything_the_encoder_makes(seed, levels):
    generator = np.random.default_rng(seed)
    thresholds = generator.permuted(np.tile(np.linspace(20, 230, levels), (5, 1)), axis=1)  # in any order
    encoder = hw.Encoder(thresholds.astype(np.float32), "bytes")
    circuit = random_circuit(seed, inputs=5 * levels, classes=3, group=6, layers=3, encoder=encoder)
    small, report = simplify(circuit, dont_cares=True)
    plain, _ = simplify(circuit)
    assert report.proof.equal and report.proof.exact
    assert len(small.netlist.gate) <= len(plain.netlist.gate)
    raw = generator.integers(0, 256, (500, 5), np.uint8)
    assert np.array_equal(small.scores(raw, raw=True), circuit.scores(raw, raw=True))


def test_bits_of_a_thermometer_that_fall_in_order_leave_no_gate():
    encoder = hw.Encoder(np.float32([[50, 100, 150]]), "bytes")  # bit 2 implies bit 1 implies bit 0
    gates = [AND, OR, NOR, XOR]
    netlist = Netlist(3, gates, [0, 1, 0, 3], [2, 2, 1, 4], [3, 4, 5, 6])  # bit 2, bit 1, not bit 0, and one gate
    small = Circuit(netlist, 2, encoder).simplify(dont_cares=True)
    assert len(small.netlist.gate) == 2  # an inverter, and the exclusive or
    assert len(Circuit(netlist, 2, encoder).simplify().netlist.gate) == 4


def test_every_row_that_can_occur_and_no_other_is_looked_at():
    encoder = hw.Encoder(np.float32([[1, 2, 3], [3, 1, 2]]), "int8")
    circuit = Circuit(Netlist(6, [], [], [], [0, 1, 2, 3, 4, 5]), 6, encoder)
    orders = thermometer_orders(circuit)
    made = Circuit(restrict_to_code(circuit.netlist, orders), 6)
    free = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(np.uint8)
    raw = np.array([[a, b] for a in range(5) for b in range(5)], np.int8)
    possible = {tuple(row) for row in circuit.scores(raw, raw=True).tolist()}
    assert {tuple(row) for row in made.scores(free).tolist()} == possible
    assert {tuple(row) for row in random_rows(np.random.default_rng(0), orders, 6).tolist()} == possible


@pytest.fixture(scope="module")
def trained():
    data = hw.data.load("digits")
    net = hw.LogicNetwork(data.inputs, data.classes, 300, 2, method="hard-st+cage", seed=0, encoder=data.encoder)
    hw.fit(net, data, iterations=150, batch_size=100, lr=0.02, evaluate_every=150)
    return Circuit.from_network(net), data


def test_shrinking_stays_within_its_tolerance_and_says_what_it_costs(trained):
    circuit, data = trained
    plain = len(circuit.simplify().netlist.gate)
    sizes = []
    for tolerance in (0.0, 0.02):
        small, report = circuit.shrink(data, tolerance=tolerance)
        before, after = report.accuracies["train"]
        assert after >= before - tolerance
        assert set(report.accuracies) == {"train", "validation", "test"}
        labels = data.test.y.numpy()
        assert report.accuracies["test"] == (
            (circuit.predict(data.test.x) == labels).mean(),
            (small.predict(data.test.x) == labels).mean(),
        )
        assert report.gates == (len(circuit.netlist.gate), len(small.netlist.gate))
        sizes.append(report.gates[1])
    assert sizes[1] < sizes[0] < plain


def test_shrinking_on_the_command_line_prints_both_accuracies(trained, tmp_path):
    circuit, data = trained
    circuit.save(tmp_path / "net.circuit")
    call = ["shrink", tmp_path / "net.circuit", tmp_path / "small.circuit", "--tolerance", 0.01, "--data", "digits"]
    result = CliRunner().invoke(app, [str(argument) for argument in call])
    assert result.exit_code == 0, result.output
    small = Circuit.load(tmp_path / "small.circuit")
    accuracy = (small.predict(data.test.x) == data.test.y.numpy()).mean()
    assert f"{100 * accuracy:.2f}" in result.output and small.provenance.accuracy == accuracy


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_a_tolerance_outside_0_to_1_is_refused(trained, tolerance):
    with pytest.raises(hw.HardwireError, match="not a share of the training accuracy"):
        trained[0].shrink(trained[1], tolerance=tolerance)
