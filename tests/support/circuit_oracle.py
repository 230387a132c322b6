"""What circuit tests share: random circuits and networks, and an oracle of plain loops that shares no code with us."""

import numpy as np
import torch
from oracle import BOOLEAN as GATES

import hardwire as hw
from hardwire.circuit import Circuit


def oracle_scores(circuit: Circuit, bits) -> np.ndarray:
    """Class sums [n, classes] of rows of 0 and 1, one gate of one image at a time."""
    netlist, scores = circuit.netlist, []
    for row in np.asarray(bits).tolist():
        values = [bool(value) for value in row]
        for gate, first, second in zip(netlist.gate, netlist.first, netlist.second, strict=True):
            values.append(bool(GATES[gate](values[first], values[second])))
        outputs = [values[node] for node in netlist.outputs]
        size = len(outputs) // circuit.classes
        scores.append([sum(outputs[c * size : (c + 1) * size]) for c in range(circuit.classes)])
    return np.array(scores)


def first_largest(scores: np.ndarray) -> list[int]:
    return [max(range(len(row)), key=lambda c, row=row: (row[c], -c)) for row in scores.tolist()]


def random_circuit(seed: int, *, inputs=None, classes=None, group=None, layers=None, encoder=None) -> Circuit:
    """Layers of odd sizes, all 16 gates, operands that repeat."""
    generator = np.random.default_rng(seed)
    inputs = inputs or int(generator.integers(1, 30))
    classes = classes or int(generator.integers(1, 6))
    widths = [int(generator.integers(1, 40)) for _ in range((layers or int(generator.integers(1, 7))) - 1)]
    widths.append(classes * (group or int(generator.integers(1, 12))))
    gates, wirings, before = [], [], inputs
    for width in widths:
        gates.append(generator.integers(0, 16, width, np.uint8))
        wirings.append(generator.integers(0, before, (2, width)))
        wirings[-1][1, ::7] = wirings[-1][0, ::7]
        before = width
    return Circuit.from_layers(inputs, gates, wirings, classes, encoder)


def random_network(seed: int, encoder=None, inputs=None) -> hw.LogicNetwork:
    """A network as initialised, 1 to 6 layers of odd sizes, with constants and repeated inputs."""
    generator = np.random.default_rng(seed)
    classes = int(generator.integers(2, 6))
    widths = [int(generator.integers(3, 35)) for _ in range(int(generator.integers(0, 6)))]
    widths.append(classes * int(generator.integers(1, 9)))
    net = hw.LogicNetwork(inputs or int(generator.integers(3, 22)), classes, widths=widths, seed=seed, encoder=encoder)
    with torch.no_grad():
        for layer in net.layers:
            layer.wiring[1, ::5] = layer.wiring[0, ::5]
            layer.logits[::9, 15] = 9.0
            layer.logits[1::9, 0] = 9.0
    return net.eval()


def random_bits(seed: int, rows: int, inputs: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (rows, inputs), np.uint8)
