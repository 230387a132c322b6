"""`predict` and `scores` against the oracle: batch sizes, kinds of input, threads, and without the native module."""

import numpy as np
import pytest
import torch
from cases import needs_native
from circuit_oracle import first_largest, oracle_scores, random_bits, random_circuit
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.bits import words as packing
from hardwire.circuit import Circuit, Netlist, evaluate


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_scores_and_classes_are_those_of_plain_loops(seed):
    circuit = random_circuit(seed)
    bits = random_bits(seed, 40, circuit.inputs)
    expected = oracle_scores(circuit, bits)
    assert np.array_equal(circuit.scores(bits), expected)
    assert circuit.predict(bits).tolist() == first_largest(expected)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), wide=st.booleans())
def test_one_image_alone_gets_what_it_gets_among_others(seed, wide):
    inputs = 700 if wide else 12  # several cache lines of bits, or one
    circuit = random_circuit(seed, inputs=inputs)
    bits = random_bits(seed, 4, inputs)
    words, scores = packing.pack(bits), oracle_scores(circuit, bits)
    for row in range(4):
        here, right = slice(row, row + 1), first_largest(scores)[row]
        apart = np.repeat(words[here], 2, axis=1)[:, ::2]  # not contiguous
        for image in (words[here], bits[here], bits[here].astype(bool), bits[here].tolist(), apart):
            assert circuit.predict(image).tolist() == [right]
            assert np.array_equal(circuit.scores(image), scores[here])


def test_one_raw_image_alone_gets_what_it_gets_among_others():
    for levels, columns in ((1, 70), (3, 50), (5, 13), (64, 2), (70, 3)):
        circuit = random_circuit(levels, inputs=levels * columns, encoder=hw.Encoder.uniform(columns, levels, 255))
        raw = np.random.default_rng(levels).integers(0, 256, (20, columns), np.uint8)
        expected = oracle_scores(circuit, packing.unpack(circuit.encoder.encode(raw), circuit.inputs))
        alone = [circuit.scores(raw[i : i + 1], raw=True)[0] for i in range(20)]
        assert np.array_equal(alone, expected)
        assert [circuit.predict(raw[i : i + 1], raw=True)[0] for i in range(20)] == first_largest(expected)


@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 127, 128, 129, 511, 512, 513, 700, 2049])
def test_every_batch_size_gives_the_same_rows(rows):
    circuit = random_circuit(5, inputs=70, classes=3, group=21, layers=4)
    bits = random_bits(5, 2049, 70)
    whole = circuit.scores(bits, threads=1)
    assert np.array_equal(whole[:100], oracle_scores(circuit, bits[:100]))
    assert np.array_equal(circuit.scores(bits[:rows]), whole[:rows])
    assert circuit.predict(bits[:rows]).tolist() == first_largest(whole[:rows])


@needs_native
@pytest.mark.parametrize("lanes", [8, 16, 32])
def test_every_width_of_a_tile_gives_the_same(lanes):
    circuit = random_circuit(6, inputs=33, classes=4, group=40)
    words = packing.pack(random_bits(6, 5000, 33))
    scores, classes = np.empty((5000, 4), np.int32), np.empty(5000, np.int64)
    circuit.program.native.scores(words, scores, lanes, 1, None)
    circuit.program.native.predict(words, classes, lanes, 1, None)
    assert np.array_equal(scores[:64], oracle_scores(circuit, packing.unpack(words[:64], 33)))
    assert np.array_equal(scores, circuit.scores(words))
    assert classes.tolist() == first_largest(scores)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_share_the_images_and_change_nothing(threads):
    circuit = random_circuit(7, inputs=20, classes=5)
    bits = random_bits(7, 9001, 20)
    assert np.array_equal(circuit.scores(bits, threads=threads), circuit.scores(bits, threads=1))


def test_packed_plain_and_raw_images_give_the_same():
    encoder = hw.Encoder.uniform(6, 4, 255)
    circuit = random_circuit(8, inputs=24, classes=3, encoder=encoder)
    raw = np.random.default_rng(0).integers(0, 256, (300, 6), np.uint8)
    words = encoder.encode(raw)
    bits = packing.unpack(words, 24)
    expected = circuit.scores(bits)
    kinds = [words, bits.astype(bool), bits.astype(np.float32), bits.tolist(), torch.from_numpy(bits)]
    kinds.append(hw.Bits.from_numpy(words, 24))
    for images in kinds:
        assert np.array_equal(circuit.scores(images), expected)
    assert np.array_equal(circuit.scores(raw, raw=True), expected)
    assert np.array_equal(circuit.scores(raw.astype(np.float64), raw=True), expected)


def test_numpy_alone_gives_the_same_as_the_native_engine(monkeypatch):
    circuit = random_circuit(9, inputs=50, classes=3)
    bits = random_bits(9, 1000, 50)
    expected = circuit.scores(bits)
    monkeypatch.setattr(evaluate, "_native", None)
    monkeypatch.setattr(evaluate, "NUMPY_TILE", 300)
    plain = Circuit(circuit.netlist, circuit.classes)
    assert plain.program.native is None
    assert np.array_equal(plain.scores(bits), expected)
    assert plain.predict(bits).tolist() == first_largest(expected)


def test_ties_go_to_the_lowest_class():
    circuit = Circuit(Netlist(2, [0], [0], [0], [2, 2, 0, 1, 0, 1]), classes=3)  # classes 1 and 2 always tie
    assert circuit.predict([[0, 0], [1, 0], [1, 1]]).tolist() == [0, 1, 1]
    many = np.tile([[0, 0], [1, 0]], (300, 1))
    assert circuit.predict(many).tolist() == [0, 1] * 300


def test_outputs_that_are_inputs_constants_or_repeated_are_counted():
    circuit = Circuit(Netlist(2, [15], [0], [0], [0, 0, 2, 1]), classes=1)
    assert circuit.scores([[1, 0], [1, 1], [0, 0]]).ravel().tolist() == [3, 4, 1]


def test_a_class_of_more_outputs_than_a_byte_counts():
    circuit = Circuit(Netlist(1, [], [], [], [0] * 70_001), classes=1)
    assert circuit.scores([[1], [0]]).ravel().tolist() == [70_001, 0]
    assert circuit.scores(np.ones((600, 1)))[599, 0] == 70_001


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (np.full((2, 12), 0.5), {}, "never binarised: pass raw=True"),
        (np.full((2, 12), 255, np.uint8), {}, "never binarised"),
        (np.full((2, 12), np.nan), {}, "never binarised"),
        (np.zeros((0, 12)), {}, "at least one row"),
        (np.zeros(12), {}, "at least one row"),
        (np.zeros((2, 13)), {}, r"this circuit reads \[images, 12\] of 0 and 1"),
        (np.full((2, 1), 1 << 12, np.uint64), {}, "padding bits past feature 12 must be zero"),
        (np.full((1, 1), 1 << 12, np.uint64), {}, "padding bits past feature 12 must be zero"),
        (np.zeros((2, 12)), {"threads": 0}, "threads 0 is not a number"),
        (np.zeros((2, 5)), {"raw": True}, "reads rows of 4 raw values"),
        (np.full((2, 4), 256), {"raw": True}, "a raw value is 256, but this encoder reads 0 to 255"),
        (np.eye(2, 4), {"raw": True}, "floats of 0 and 1 alone are ambiguous"),
        (hw.Bits.pack(torch.zeros(2, 13)), {}, "images have 13 bits but the circuit reads 12"),
    ],
)
def test_images_that_do_not_fit_are_refused(images, options, message):
    circuit = random_circuit(2, inputs=12, encoder=hw.Encoder.uniform(4, 3, 255))
    with pytest.raises(hw.HardwireError, match=message):
        circuit.predict(images, **options)


def test_raw_values_need_an_encoder():
    with pytest.raises(hw.HardwireError, match="no encoder for raw values"):
        random_circuit(2, inputs=12).predict(np.zeros((1, 12)), raw=True)


@pytest.mark.parametrize("columns, levels", [(7, 3), (64, 1), (70, 2), (130, 4), (5, 70)])
def test_raw_bytes_give_what_the_encoder_and_the_bits_give(columns, levels):
    generator = np.random.default_rng(columns)
    thresholds = np.sort(generator.uniform(-30, 290, (columns, levels)), axis=1).astype(np.float32)
    thresholds[0, 0] = 255
    circuit = random_circuit(3, inputs=columns * levels, classes=4, encoder=hw.Encoder(thresholds, "bytes"))
    for rows in (1, 2, 65, 700):
        raw = generator.integers(0, 256, (rows, columns), np.uint8)
        bits = (raw[:, :, None] > thresholds).reshape(rows, -1)
        assert np.array_equal(circuit.scores(raw, raw=True), oracle_scores(circuit, bits))
        assert np.array_equal(circuit.predict(raw, raw=True), circuit.predict(bits))
        assert np.array_equal(circuit.predict(raw, raw=True), circuit.predict(circuit.encoder.encode(raw)))


def test_bytes_of_an_image_go_to_thresholds_in_the_unit_interval():
    encoder = hw.Encoder(np.tile(np.float32([0.25, 0.5]), (6, 1)), "floats", 1)
    circuit = random_circuit(4, inputs=12, classes=3, encoder=encoder)
    raw = np.random.default_rng(0).integers(0, 256, (40, 6), np.uint8)
    assert np.array_equal(circuit.scores(raw, raw=True), circuit.scores(np.float32(raw) / 255, raw=True))


def test_one_image_alone_with_outputs_that_are_inputs_and_repeated_and_with_many_gates():
    small = Circuit(Netlist(3, [1, 6], [0, 1], [1, 3], [4, 4, 0, 3, 2, 4]), classes=2)
    wide = random_circuit(2, inputs=40, layers=2, classes=10, group=7_000)  # more slots than 16 bits number
    middle = random_circuit(3, inputs=600, layers=2, classes=7, group=1_500)  # outputs of two classes among each other
    for circuit in (small, middle, wide):
        bits = random_bits(1, 5, circuit.inputs)
        together = circuit.scores(bits)
        assert np.array_equal(together, oracle_scores(circuit, bits)) or circuit is wide
        assert np.array_equal(np.concatenate([circuit.scores(row[None]) for row in bits]), together)
        assert [int(circuit.predict(row[None])[0]) for row in bits] == circuit.predict(bits).tolist()
