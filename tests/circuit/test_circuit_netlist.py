"""Netlists, their statistics and their files, and every way to spoil one."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from circuit_oracle import first_largest, oracle_scores, random_bits, random_circuit, random_network
from safetensors.numpy import load_file, save_file

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, Provenance
from hardwire.circuit.file import FORMAT, VERSION
from hardwire.files.arrays import digest_of


def netlist(**changes):
    parts = {"inputs": 2, "gate": [1, 6], "first": [0, 2], "second": [1, 0], "outputs": [2, 3]} | changes
    return Netlist(**parts)


@pytest.mark.parametrize("seed", range(8))
def test_a_circuit_computes_what_the_network_computes_in_eval(seed):
    net = random_network(seed)
    circuit = Circuit.from_network(net)
    bits = random_bits(seed, 50, net.inputs)
    with torch.no_grad():
        expected = net(torch.from_numpy(bits).float())
    scores = oracle_scores(circuit, bits)
    np.testing.assert_allclose(scores / net.group_sum.temperature_for(net.widths[-1]), expected.numpy(), rtol=1e-6)
    assert net.predict(torch.from_numpy(bits).float()).tolist() == first_largest(scores)


def test_statistics_count_types_depth_fan_out_and_dead_gates():
    # AND, XOR on it, a dead OR, and an inverter of the XOR
    circuit = Circuit(Netlist(3, [1, 6, 7, 12], [0, 3, 0, 4], [1, 1, 1, 4], [4, 6]), classes=2)
    numbers = circuit.statistics()
    assert (numbers.gates, numbers.depth, numbers.dead, numbers.unused_inputs) == (4, 3, 1, 1)
    assert numbers.by_type == {"AND": 1, "XOR": 1, "OR": 1, "¬A": 1}
    assert numbers.max_fan_out == 3  # input 1: AND, XOR and the dead OR


def test_a_cycle_is_refused():
    with pytest.raises(
        hw.HardwireError, match=r"gate 0 \(node 2\) reads node 3, which does not come before it: a cycle"
    ):
        netlist(first=[3, 2])


def test_a_dangling_wire_is_refused():
    with pytest.raises(hw.HardwireError, match="gate 1 reads node 9, a dangling wire"):
        netlist(second=[1, 9])
    with pytest.raises(hw.HardwireError, match="output 1 is node -1, a dangling wire"):
        netlist(outputs=[2, -1])


def test_a_gate_number_of_16_is_refused():
    with pytest.raises(hw.HardwireError, match="gate 1 has number 16; the 16 gates are 0 to 15"):
        netlist(gate=[1, 16])


def test_values_that_do_not_fit_their_type_are_refused():
    with pytest.raises(hw.HardwireError, match="gate holds values from 1 to 257"):
        netlist(gate=[1, 257])
    with pytest.raises(hw.HardwireError, match="list of integers"):
        netlist(gate=[0.5, 1.0])


def test_unequal_lengths_and_empty_netlists_are_refused():
    with pytest.raises(hw.HardwireError, match="equally long"):
        netlist(first=[0])
    with pytest.raises(hw.HardwireError, match="at least 1 output"):
        netlist(outputs=[])
    with pytest.raises(hw.HardwireError, match="at least 1 input"):
        netlist(inputs=0)


def test_class_groups_that_do_not_divide_are_refused():
    with pytest.raises(hw.HardwireError, match="2 outputs cannot be split into 3 equal classes"):
        Circuit(netlist(), classes=3)


def test_wiring_outside_the_layer_before_is_refused():
    with pytest.raises(hw.HardwireError, match="wiring of layer 1 must lie in 0 to 1"):
        Circuit.from_layers(3, [[1, 1], [1, 1]], [[[0, 1], [2, 0]], [[0, 2], [1, 1]]], classes=1)


def test_convolutions_pooling_padding_and_learned_wires_become_the_circuit_that_eval_runs():
    net = hw.LogicNetwork(
        classes=2,
        layers=[
            hw.LogicConv2d((2, 5, 5), kernels=3, kernel_size=3, tree_depth=2, padding=1, seed=1),
            hw.OrPool2d(2),
            hw.LogicLayer(3 * 2 * 2, 16, wiring="learned", candidates=4, seed=2),
        ],
    )
    circuit = Circuit.from_network(net)
    bits = random_bits(0, 80, 50)
    expected = net.predict(torch.from_numpy(bits).float()).tolist()
    assert circuit.predict(bits).tolist() == expected
    assert circuit.simplify().predict(bits).tolist() == expected


def test_a_sequence_of_layers_is_the_same_circuit_as_the_network_of_them():
    layers = [hw.LogicLayer(9, 12, seed=1), hw.LogicLayer(12, 8, seed=2)]
    circuit = Circuit.from_network(torch.nn.Sequential(*layers, hw.GroupSum(4)))
    bits = random_bits(0, 60, 9)
    net = hw.LogicNetwork(classes=4, layers=layers)
    assert circuit.predict(bits).tolist() == net.predict(torch.from_numpy(bits).float()).tolist()


def test_a_model_file_is_opened_as_its_circuit(tmp_path):
    net = random_network(3)
    hw.save(net, tmp_path / "model.safetensors")
    bits = random_bits(0, 60, net.inputs)
    assert np.array_equal(
        Circuit.load(tmp_path / "model.safetensors").scores(bits), Circuit.from_network(net).scores(bits)
    )


def test_an_encoder_of_another_width_is_refused():
    with pytest.raises(hw.HardwireError, match="the encoder makes 6 bits but the circuit reads 2"):
        Circuit(netlist(), classes=2, encoder=hw.Encoder.uniform(3, 2, 255))


def test_a_saved_circuit_comes_back_the_same(tmp_path):
    about = Provenance(model="ab12", dataset="digits", accuracy=0.925)
    circuit = replace(random_circuit(3, inputs=12, encoder=hw.Encoder.uniform(4, 3, 255)), provenance=about)
    circuit.save(tmp_path / "a.circuit")
    again = hw.Circuit.load(tmp_path / "a.circuit")
    for name in ("gate", "first", "second", "outputs"):
        assert np.array_equal(getattr(again.netlist, name), getattr(circuit.netlist, name))
    assert (again.inputs, again.classes) == (circuit.inputs, circuit.classes)
    assert np.array_equal(again.encoder.thresholds, circuit.encoder.thresholds)
    assert (again.encoder.kind, again.encoder.maximum, again.provenance) == ("bytes", 255, about)
    assert again.digest == circuit.digest
    assert [path.name for path in tmp_path.iterdir()] == ["a.circuit"]  # nothing temporary is left


def test_a_saved_circuit_loads_and_runs_without_torch(tmp_path):
    circuit = random_circuit(1, inputs=10)
    circuit.save(tmp_path / "a.circuit")
    bits = random_bits(0, 5, 10)
    program = (
        "import sys, numpy as np, hardwire as hw\n"
        f"circuit = hw.Circuit.load({str(tmp_path / 'a.circuit')!r})\n"
        f"print(circuit.simplify().predict(np.array({bits.tolist()})).tolist())\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == circuit.predict(bits).tolist()


def header(**changes):
    return json.dumps({"inputs": 5, "classes": 1, "about": {}} | changes)


def spoiled(tmp_path, change):
    """A saved circuit whose arrays and metadata went through `change`; the digest fits unless `change` sets one."""
    path = tmp_path / "a.circuit"
    random_circuit(2, inputs=5).save(path)
    arrays = load_file(path)
    metadata = {"format": FORMAT, "version": str(VERSION), "circuit": header()}
    change(arrays, metadata)
    metadata.setdefault("digest", digest_of(arrays, metadata))
    save_file(arrays, path, metadata)
    return path


def cycle(arrays, metadata):
    arrays["first"][0] = 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cycle, "a cycle"),
        (lambda arrays, _: arrays["gate"].__setitem__(0, 16), "the 16 gates are 0 to 15"),
        (lambda arrays, _: arrays.pop("first"), "'first' is missing"),
        (lambda arrays, _: arrays.update(gate=arrays["gate"].astype(np.float32)), "'gate' is float32"),
        (lambda arrays, _: arrays.update(thresholds=np.ones((3, 1), np.float32)), "what its raw values are"),
        (lambda _, metadata: metadata.update(circuit="{"), "header is not valid JSON"),
        (lambda _, metadata: metadata.update(circuit='{"inputs": 2}'), "header is damaged"),
        (lambda _, metadata: metadata.update(circuit=header(about={"colour": "red"})), "header is damaged"),
        (lambda _, metadata: metadata.update(version="2"), "version 2 .* reads version 3; make it again"),
        (lambda _, metadata: metadata.update(version="4"), "version 4 .* reads version 3; upgrade hardwire"),
        (lambda _, metadata: metadata.update(circuit=header(inputs=10**4200)), "a number of 4201 digits"),
        (lambda _, metadata: metadata.update(version="9" * 5_000), "no readable version"),
        (lambda _, metadata: metadata.update(circuit="[" * 100_000), "nested more than 60 deep"),
        (lambda _, metadata: metadata.update(circuit=header(inputs=2**31 - 1)), "inputs; a circuit has at most 1,048"),
        (lambda _, metadata: metadata.update(digest="0" * 32), "do not match its digest"),
        (lambda _, metadata: metadata.update(format="other"), "is a other, not a hardwire-circuit"),
        (lambda _, metadata: metadata.update(circuit=header(classes=1000)), "cannot be split into 1000 equal classes"),
    ],
)
def test_a_hand_edited_file_is_refused_with_one_reason(tmp_path, change, message):
    path = spoiled(tmp_path, change)
    with pytest.raises(hw.HardwireError, match=message) as caught:
        hw.Circuit.load(path)
    assert str(path) in str(caught.value)


def test_every_flipped_bit_of_a_circuit_file_is_an_error_or_changes_nothing(tmp_path):
    circuit = random_circuit(2, inputs=6, classes=2, group=3, layers=2, encoder=hw.Encoder.uniform(3, 2, 255))
    path = tmp_path / "a.circuit"
    circuit.save(path)
    content = path.read_bytes()
    generator, loaded = np.random.default_rng(0), 0
    for place in generator.permutation(8 * len(content))[:2000].tolist():
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            again = hw.Circuit.load(path)
        except hw.HardwireError:
            continue
        loaded += 1
        assert again.digest == circuit.digest
    assert loaded < 20


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "a.circuit"
    random_circuit(2).save(path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(hw.HardwireError, match="not a hardwire-circuit file, or it was cut short"):
        hw.Circuit.load(path)


def test_paths_that_cannot_be_read_or_written_are_said(tmp_path):
    with pytest.raises(hw.HardwireError, match="there is no file"):
        hw.Circuit.load(tmp_path / "none.circuit")
    with pytest.raises(hw.HardwireError, match=r"cannot write .*choose a folder that exists"):
        random_circuit(2).save(tmp_path / "none" / "a.circuit")
