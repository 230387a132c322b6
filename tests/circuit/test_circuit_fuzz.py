"""Damaged files: every loader and reader answers with an error or with what the file says, and never crashes, hangs or
takes another function for the right one. HARDWIRE_FUZZ sets the mutations of each, HARDWIRE_FUZZ_TOOLS of those that
start a program of others for each file."""

import numpy as np
import pytest
from circuit_oracle import random_circuit
from mutations import MUTATIONS, TOOL_MUTATIONS, mutations

import hardwire as hw
from hardwire.circuit.formats import format_of
from hardwire.circuit.formats.header import interface
from hardwire.circuit.reading import described, reading_of
from hardwire.circuit.verify import verify


@pytest.fixture
def circuit():
    encoder = hw.Encoder(np.float32([[-1.5, 0.25], [2, 3], [0, 7]]))
    return random_circuit(5, inputs=6, classes=3, group=5, layers=2, encoder=encoder)


def test_damaged_circuit_files(circuit, tmp_path):
    circuit.save(tmp_path / "net.circuit")
    path, loaded = tmp_path / "other.circuit", 0
    for content in mutations((tmp_path / "net.circuit").read_bytes(), MUTATIONS):
        path.write_bytes(content)
        try:
            again = hw.Circuit.load(path)
        except hw.HardwireError:
            continue
        loaded += 1
        assert again.digest == circuit.digest
    assert loaded < MUTATIONS / 20


@pytest.mark.parametrize("ending", ["aig", "aag", "blif", "v"])
def test_damaged_logic(circuit, ending, tmp_path):
    circuit = hw.Circuit(circuit.netlist, circuit.classes)
    circuit.export(tmp_path / f"net.{ending}")
    path, read = tmp_path / f"other.{ending}", format_of(f".{ending}").read
    bits = np.array([[number >> place & 1 for place in range(6)] for number in range(64)], np.uint8)  # all there are
    expected, right, wrong = circuit.predict(bits).tolist(), 0, 0
    count = MUTATIONS if ending in ("aig", "aag") else TOOL_MUTATIONS
    for content in mutations((tmp_path / f"net.{ending}").read_bytes(), count):
        path.write_bytes(content)
        try:
            back = read(circuit, path, None)
            same = back.answers(back.readings[0], bits).classes.tolist() == expected
        except hw.HardwireError:
            continue
        right, wrong = right + same, wrong + (not same)
        if (right + wrong) % 50 == 1:
            assert verify(circuit, path, sat=False).equal == same
    assert right + wrong < count


def test_damaged_headers(circuit, tmp_path):
    files = circuit.export(tmp_path / "net.c", raw="int16", values=np.float32([[-2, 2, 0], [1, 3, 8], [9, 9, 9]]))
    reading = reading_of(circuit, "bits")
    content = files[1].read_bytes()
    for changed in mutations(content, MUTATIONS):
        files[1].write_bytes(changed)
        try:
            back = format_of(".c").read(circuit, files[0], None)
            assert {own.count for own in back.readings} <= {3, reading.count}
        except hw.HardwireError:
            continue
    line = next(line for line in content.decode().splitlines() if "hardwire-interface" in line)
    for changed in mutations(line.encode(), MUTATIONS):
        try:
            said = interface(changed.decode(errors="replace"))
            if said is not None:
                described(circuit, said)
        except hw.HardwireError:
            continue
