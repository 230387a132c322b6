"""A trained convolution as a circuit: proven where files are logic, compared on all test images where they are code."""

import pytest

import hardwire as hw
from hardwire.circuit import Circuit
from hardwire.circuit.verify import images_of, verify


@pytest.fixture(scope="module")
def digits():
    return hw.data.load("digits")


@pytest.fixture(scope="module")
def net(digits):
    layers = [
        hw.LogicConv2d((5, 8, 8), kernels=6, tree_depth=2, padding=1, levels=5, seed=1),
        hw.OrPool2d(2),
        hw.LogicLayer(6 * 4 * 4, 60, wiring="learned", candidates=4, seed=2),
    ]
    net = hw.LogicNetwork(layers=layers, classes=10, encoder=digits.encoder, method="hard-st", seed=0)
    hw.fit(net, digits, iterations=60, batch_size=64, progress=False)
    return net


@pytest.fixture(scope="module")
def circuit(net):
    return Circuit.from_network(net).simplify()


def test_it_has_learned_and_deploys_as_it_trained(net, digits):
    gap = hw.measure_gap(net, digits.test)
    assert gap.deploy > 0.3  # chance is 0.1
    assert gap.selection == 0 and gap.computation == 0


def test_the_circuit_gives_the_classes_of_the_network(net, circuit, digits):
    assert circuit.predict(digits.raw("test"), raw=True).tolist() == net.predict(digits.test.x).tolist()


@pytest.mark.parametrize("suffix", [".v", ".blif", ".aag"])
def test_logic_is_proven(circuit, digits, tmp_path, suffix):
    path = tmp_path / f"conv{suffix}"
    circuit.export(path)
    answer = verify(circuit, path, images_of(circuit, digits))
    assert answer.equal and "proven" in answer.how, answer


def test_code_agrees_on_all_test_images(circuit, digits, tmp_path):
    path = tmp_path / "conv.c"
    circuit.export(path)
    answer = verify(circuit, path, images_of(circuit, digits))
    assert answer.equal and answer.images == len(digits.test), answer
