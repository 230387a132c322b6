"""The promises of the architecture: a format, a dataset, a wiring, a layer are added from outside, touching nothing."""

import json
from unittest.mock import patch

import numpy as np
import pytest
import torch
from small_runs import digits

import hardwire as hw
from hardwire.circuit import formats
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.verify import verify
from hardwire.data.catalog import ENTRIES
from hardwire.engine.functions import Fixed
from hardwire.engine.stack import Level
from hardwire.errors import whole_number
from hardwire.layers import LAYERS, GateLayer, LayerSize, register_layer
from hardwire.wiring import WIRINGS, register_wiring

NAND = next(gate.index for gate in hw.GATES if gate.name == "NAND")


@pytest.fixture(autouse=True)
def registries_as_before():
    """What a test registers is gone after it."""
    with patch.dict(WIRINGS), patch.dict(LAYERS), patch.dict(ENTRIES), patch.dict(formats.formats()):
        yield


def neighbours(inputs: int, neurons: int, seed: int, groups: int, step: int = 1) -> torch.Tensor:
    """Neuron i reads inputs i and i + step."""
    first = torch.arange(neurons, dtype=torch.int32)
    return torch.stack([first % inputs, (first + step) % inputs])


class Inverters(GateLayer):
    """NOT of every input, as NAND(x, x): nothing to learn, one level of a fixed gate."""

    kind = "inverters"
    selector = None

    def __init__(self, inputs: int):
        super().__init__()
        self.input_shape = self.output_shape = (inputs,)
        wires = torch.arange(inputs, dtype=torch.int32)
        self.register_buffer("wires", torch.stack([wires, wires]))

    def levels(self) -> list[Level]:
        return [Level(self.inputs, self.neurons, self.wires, Fixed.of_gate(NAND))]

    def config(self) -> dict:
        return {"inputs": self.inputs}

    @classmethod
    def size_of(cls, config: dict) -> LayerSize:
        return LayerSize(2 * whole_number("inputs", config.get("inputs")))


def train_a_little(net):
    hw.fit(net, digits(), iterations=20, batch_size=50, evaluate_every=20, progress=False)
    return net


def goes_the_whole_way(net, tmp_path) -> None:
    """Trains, measures a gap of zero, survives its file, becomes a circuit that gives its classes."""
    x = digits().test.x
    gap = hw.measure_gap(train_a_little(net), digits().test)
    assert gap.total == 0 and gap.deploy > 0.15
    hw.save(net, tmp_path / "net.safetensors")
    loaded = hw.load(tmp_path / "net.safetensors")
    circuit = hw.Circuit.from_network(loaded).simplify()
    assert (circuit.predict(x) == net.predict(x).numpy()).all()


def test_a_wiring_registered_from_outside_goes_the_whole_way(tmp_path):
    register_wiring("neighbours", neighbours)
    net = hw.LogicNetwork(320, 10, widths=[400, 300], wiring="neighbours", step=5, cage=True, seed=0)
    assert net.layers[0].wiring[:, 7].tolist() == [7, 12]
    goes_the_whole_way(net, tmp_path)


def test_a_layer_registered_from_outside_goes_the_whole_way(tmp_path):
    register_layer(Inverters)
    layers = [Inverters(320), hw.LogicLayer(320, 400, seed=1), Inverters(400), hw.LogicLayer(400, 300, seed=2)]
    net = hw.LogicNetwork(classes=10, layers=layers, cage=True, seed=0)
    goes_the_whole_way(net, tmp_path)


def test_the_toy_layer_computes_what_it_says():
    x = digits().test.x[:20]
    assert torch.equal(Inverters(320).eval()(x), 1 - x.unpack())


def test_a_mistyped_wiring_is_answered_with_the_registered_one():
    register_wiring("neighbours", neighbours)
    with pytest.raises(hw.HardwireError, match="did you mean neighbours"):
        hw.LogicLayer(20, 20, wiring="neighbors")


def write_json(circuit, path, *, indent: int | None = None):
    """A toy format: the netlist as JSON. The keyword is an option of the format."""
    netlist = circuit.netlist
    rows = np.stack([netlist.gate, netlist.first, netlist.second], axis=1).tolist()
    path.write_text(json.dumps({"gates": rows, "outputs": netlist.outputs.tolist()}, indent=indent))
    return [path]


def read_json(model, path, raw):
    """What such a file computes, gate by gate."""
    content = json.loads(path.read_text())

    def answers(reading, rows):
        nodes = list(np.asarray(rows).T.astype(bool))
        for gate, first, second in content["gates"]:
            nodes.append(hw.GATES[gate].hard(nodes[first], nodes[second]))
        outputs = np.stack([nodes[output] for output in content["outputs"]], axis=1)
        scores = outputs.reshape(len(rows), model.classes, -1).sum(axis=2)
        return formats.Answers(scores.argmax(axis=1), scores)

    return formats.Readback((input_format_of(model, "bits"),), answers)


@pytest.fixture
def circuit():
    net = hw.LogicNetwork(320, 10, widths=[60, 50], seed=0)
    return hw.Circuit.from_network(train_a_little(net)).simplify()


def test_a_format_registered_from_outside_is_written_and_verified(circuit, tmp_path):
    formats.register(".json", title="JSON", write=write_json, read=read_json)
    path = tmp_path / "net.json"
    circuit.export(path, indent=1)
    images = digits().raw("test")
    assert verify(circuit, path, images).equal
    content = json.loads(path.read_text())
    content["outputs"][0] = content["outputs"][-1]
    path.write_text(json.dumps(content))
    assert not verify(circuit, path, images).equal


def test_an_option_that_the_toy_format_does_not_know_is_an_error(circuit, tmp_path):
    formats.register(".json", title="JSON", write=write_json)
    with pytest.raises(hw.HardwireError, match="no option 'pipeline'; theirs are: indent"):
        circuit.export(tmp_path / "net.json", pipeline=2)


def test_a_dataset_registered_from_outside_trains_by_name():
    def majority() -> hw.data.Dataset:
        x = torch.arange(64).unsqueeze(1) >> torch.arange(6) & 1
        split = hw.data.Split(hw.Bits.pack(x), (x[:, :3].sum(1) >= 2).long())
        return hw.data.Dataset("majority", split, split, classes=2)

    hw.data.register("majority", majority)
    data = hw.data.load("majority")
    assert "majority" in hw.data.names() and data.name == "majority" and data.inputs == 6
    net = hw.LogicNetwork(data.inputs, data.classes, widths=[60, 20], cage=True, seed=0)
    history = hw.fit(net, data, iterations=100, batch_size=64, lr=0.05, evaluate_every=100, progress=False)
    assert history.final.deploy > 0.9
