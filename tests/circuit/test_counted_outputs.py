"""Class sums that count equal outputs once: written by exports of simplified circuits, proven equal to the model's."""

import re

import numpy as np
import pytest

import hardwire as hw
from hardwire.circuit.counting import NOT_COUNTED, CountedOutputs
from hardwire.circuit.lower import complete, merge_outputs

INPUTS, GROUP, CLASSES = 20, 40, 3
AND, XOR, OR = 1, 6, 7


@pytest.fixture(scope="module")
def model():
    """Outputs that are equal by different gates, and some that are always 0, but not as constants."""
    rng = np.random.default_rng(0)
    wires = [rng.integers(0, INPUTS, (2, 30)), None, None]
    layers = [rng.choice([AND, XOR, OR], 30)]
    # a & b, and (a & b) & (a | b); then also (a & b) & (a ^ b), which is 0
    a, b = rng.integers(0, 15, 60), rng.integers(15, 30, 60)
    second = np.concatenate([np.full(60, AND), np.full(60, OR), np.full(60, XOR)])
    wires[1] = np.stack([np.tile(a, 3), np.tile(b, 3)])
    layers.append(second)
    picks = rng.integers(0, 60, (CLASSES, GROUP // 4))
    first = np.concatenate([picks, picks, picks, picks], axis=1).ravel()
    other = np.concatenate([picks, picks + 60, picks + 120, picks + 60], axis=1).ravel()
    wires[2] = np.stack([first, other])
    layers.append(np.full(CLASSES * GROUP, AND))
    return hw.Circuit.from_layers(INPUTS, gates=layers, wirings=wires, classes=CLASSES)


def test_outputs_count_for_the_first_that_is_equal(model):
    assert not CountedOutputs.of(model.netlist, CLASSES).pairs
    counted = CountedOutputs.of(model.simplify().netlist, CLASSES)
    assert NOT_COUNTED in counted.by and len(counted.pairs) >= 30
    assert CountedOutputs.from_pairs(counted.pairs, CLASSES * GROUP, CLASSES) == counted
    merged = merge_outputs(model.gates, counted)
    assert hw.Circuit(merged, CLASSES).equivalent(model)


@pytest.mark.parametrize("suffix", [".v", ".blif", ".aig", ".aag"])
def test_the_export_of_a_simplified_circuit_is_proven_equal_to_the_model(model, tmp_path, suffix):
    model.simplify().export(path := tmp_path / f"net{suffix}")
    for reference in (model, model.simplify()):
        verdict = reference.verify(path)
        assert verdict.equal and "SAT" in verdict.how
    model.export(plain := tmp_path / f"plain{suffix}")
    assert "SAT" in model.simplify().verify(plain).how


def test_a_wrong_line_about_sums_cannot_make_a_wrong_file_equal(model, tmp_path):
    model.simplify().export(path := tmp_path / "net.blif")
    right = path.read_text()
    for pairs in ("[[1, 0]]", "[[5, -1]]", "[[0, 7]]", "[[1e9, 0]]", '"x"', "[[-1, -1]]", "[[50, 2]]"):
        path.write_text(re.sub(r'"counted": .*\}', f'"counted": {pairs}}}', right))
        assert model.verify(path, sat=False).equal
    other = hw.Circuit(merge_outputs(model.gates, CountedOutputs(CLASSES, (0, 0, *range(2, CLASSES * GROUP)))), CLASSES)
    other.export(path)
    assert not model.verify(path)


@pytest.mark.parametrize("pairs", [None, 3, [[1]], [[1, 0, 0]], [[1, True]], [[0, -2]], [[40, 1]], [[200, 0]]])
def test_other_pairs_count_each_output_for_itself(pairs):
    counted = CountedOutputs.from_pairs(pairs, CLASSES * GROUP, CLASSES)
    assert counted.by == tuple(range(CLASSES * GROUP))


def test_sums_with_weights_are_the_sums(model):
    simple = model.simplify()
    whole = hw.Circuit(complete(simple, hw.circuit.input_format.input_format_of(simple), scores=True), 1)
    bits = np.random.default_rng(1).integers(0, 2, (200, INPUTS)).astype(np.uint8)
    scores = model.scores(bits)
    made = whole.netlist
    values = hw.Circuit(made, len(made.outputs)).scores(bits)[:, simple.answer_width :]
    places = 1 << np.arange(GROUP.bit_length())
    assert (values.reshape(200, CLASSES, -1) @ places == scores).all()
