"""Damaged files: every loader and reader answers with an error or with what the file says, and never crashes, hangs or
takes another function for the right one. HARDWIRE_FUZZ sets the mutations of each, HARDWIRE_FUZZ_TOOLS of those that
start a program of others for each file."""

import contextlib

import numpy as np
import pytest
from circuit_oracle import random_circuit
from compiled import compiled_answers
from mutations import MUTATIONS, TOOL_MUTATIONS, mutations

import hardwire as hw
from hardwire.circuit import file
from hardwire.circuit.formats import format_of
from hardwire.circuit.formats.header import interface
from hardwire.circuit.input_format import input_format_from
from hardwire.circuit.verify import random_rows, verify
from hardwire.files import arrays as arrayfile


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


def damaged_array(generator, array):
    """Numbers, length, shape or type changed."""
    kind = generator.integers(0, 5)
    if kind == 0 and array.size:
        changed = array.copy()
        extremes = [0, 1, -1, 2**31 - 1, -(2**31), array.size]
        changed.flat[generator.integers(0, array.size)] = generator.choice(extremes)
        return changed
    if kind == 1:
        return array[: generator.integers(0, len(array) + 1)]
    if kind == 2:
        return np.repeat(array, 3, axis=0)
    if kind == 3:
        return array.astype(generator.choice([np.float64, np.int64, np.uint8, np.bool_]))
    return array[None]


def test_circuit_files_of_a_right_digest_and_a_wrong_content(circuit, tmp_path):
    """Whoever makes a hostile file computes its digest, too."""
    circuit.save(tmp_path / "net.circuit")
    arrays, fields = arrayfile.read(tmp_path / "net.circuit", file.FORMAT, file.VERSION)
    fields.pop("digest")
    fields["number"] = '{"offset": 3, "exponent": -2}'
    generator = np.random.default_rng(0)
    texts = {name: iter(mutations(text.encode(), MUTATIONS)) for name, text in fields.items()}
    bits = np.zeros((1, circuit.inputs), np.uint8)
    for _ in range(MUTATIONS):
        changed, more = dict(arrays), dict(fields)
        if generator.integers(0, 2):
            name = generator.choice(sorted(arrays))
            changed[name] = damaged_array(generator, arrays[name])
        else:
            name = generator.choice(sorted(fields))
            more[name] = next(texts[name], b"").decode(errors="replace")
        if generator.integers(0, 2):
            more.pop("number")
        with contextlib.suppress(hw.HardwireError), np.errstate(all="ignore"):
            arrayfile.write(tmp_path / "net.circuit", file.FORMAT, file.VERSION, changed, more)
            again = hw.Circuit.load(tmp_path / "net.circuit")
            assert again.scores(bits if again.inputs == 6 else np.zeros((1, again.inputs))).shape == (1, again.classes)
            again.simplify(check=False).statistics()


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
            same = back.answers(back.input_formats[0], bits).classes.tolist() == expected
        except hw.HardwireError:
            continue
        right, wrong = right + same, wrong + (not same)
        if (right + wrong) % 50 == 1:
            assert verify(circuit, path, sat=False).equal == same
    assert right + wrong < count


@pytest.mark.parametrize(("word", "form"), [(64, "code"), (32, "tables"), (1, "tables")])
@pytest.mark.parametrize("damaged", [0, 1])
def test_damaged_c_files_and_headers(circuit, word, form, damaged, tmp_path):
    """What the reader accepts, the compiler accepts too, and it computes what the reader says."""
    values = np.float32([[-2, 2, 0], [1, 3, 8], [9, 9, 9]])
    files = circuit.export(tmp_path / "net.c", raw="int16", values=values, word=word, form=form)
    content, compiled = files[damaged].read_bytes(), 0
    for changed in mutations(content, MUTATIONS, seed=word):
        files[damaged].write_bytes(changed)
        try:
            back = format_of(".c").read(circuit, files[0], None)
        except hw.HardwireError:
            continue
        assert damaged or changed != content
        if compiled < TOOL_MUTATIONS // 5:
            compiled += 1
            own = back.input_formats[0]
            rows = random_rows(own, 50)
            classes, scores = compiled_answers(circuit, files[0], own, word, rows)
            answers = back.answers(own, rows)
            assert np.array_equal(answers.classes, classes) and np.array_equal(answers.scores, scores)


def test_damaged_lines_for_machines(circuit, tmp_path):
    files = circuit.export(tmp_path / "net.c", raw="int16", values=np.float32([[-2, 2, 0], [1, 3, 8], [9, 9, 9]]))
    line = next(line for line in files[1].read_text().splitlines() if "hardwire-interface" in line)
    for changed in mutations(line.encode(), MUTATIONS):
        try:
            description = interface(changed.decode(errors="replace"))
            if description is not None:
                input_format_from(circuit, description)
        except hw.HardwireError:
            continue
