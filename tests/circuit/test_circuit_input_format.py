"""What exports read: the encoder's own kind by default, others only where no threshold changes its side; and every
format agrees with plain loops on all of them, NaN included."""

import re

import numpy as np
import pytest
from circuit_oracle import first_largest, oracle_scores, random_circuit
from compiled import compiled_answers
from hypothesis import given, settings
from hypothesis import strategies as st
from verilog import needs_simulator, simulate

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, tools
from hardwire.circuit.formats import format_of
from hardwire.circuit.input_format import input_format_from, input_format_of
from hardwire.circuit.verify import random_rows, verify

KINDS = ("bits", "bytes", "int8", "int16", "int32", "floats")


def identity(encoder, classes=1):
    """A circuit whose outputs are its inputs."""
    bits = encoder.features
    return Circuit(Netlist(bits, [], [], [], list(range(bits))), classes, encoder)


def random_encoder(generator, kind, columns=3, levels=4):
    thresholds = np.sort(generator.normal(0, 40, (columns, levels)), axis=1)
    if kind == "bytes":
        thresholds = np.abs(thresholds)
    if kind == "int16":
        thresholds *= 300
    if kind == "int32":
        thresholds *= 1e7
    thresholds[0, 0] = -0.0
    return hw.Encoder(thresholds.astype(np.float32), kind)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_every_kind_of_reading_gives_the_bits_of_the_encoder(kind):
    encoder = random_encoder(np.random.default_rng(1), kind)
    circuit, input_format = identity(encoder), input_format_of(identity(encoder))
    assert input_format.kind == kind
    rows = random_rows(input_format, 500)
    expected = rows[:, :, None].astype(np.float64) > encoder.thresholds.astype(np.float64)
    assert np.array_equal(input_format.bits(rows).reshape(500, 3, 4), expected)
    assert np.array_equal(input_format.from_bits(input_format.to_bits(rows)).view(np.uint8), rows.view(np.uint8))
    again = input_format_from(circuit, input_format.describe())
    assert np.array_equal(again.keys, input_format.keys)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(KINDS),
    ending=st.sampled_from(["aig", "aag", "blif", "v", "c", "wasm"]),
)
def test_random_circuits_of_every_kind_are_the_same_in_every_format(tmp_path_factory, seed, kind, ending):
    generator = np.random.default_rng(seed)
    encoder = None if kind == "bits" else random_encoder(generator, kind)
    circuit = random_circuit(seed, inputs=12, classes=int(generator.integers(1, 5)), encoder=encoder).simplify()
    path = tmp_path_factory.mktemp("net") / f"net.{ending}"
    options = {"v": {"pipeline": int(generator.integers(1, 4))}, "c": {"word": int(generator.choice([1, 8, 32]))}}
    options = options.get(ending, {}) if seed % 2 else {}
    circuit.export(path, **options)
    file = format_of(path.suffix).read(circuit, path, None)
    for input_format in file.input_formats:
        rows = random_rows(input_format, 60, seed)
        thresholds = None if encoder is None else encoder.thresholds[None].astype(np.float64)
        bits = (
            rows if input_format.kind == "bits" else (rows[:, :, None].astype(np.float64) > thresholds).reshape(60, 12)
        )
        expected = oracle_scores(circuit, bits)
        answers = file.answers(input_format, rows)
        assert answers.classes.tolist() == first_largest(expected)
        assert answers.scores is None or np.array_equal(answers.scores, expected)
        if ending == "c":
            classes, scores = compiled_answers(circuit, path, input_format, options.get("word", 64), rows)
            assert classes.tolist() == first_largest(expected) and np.array_equal(scores, expected)
    assert verify(circuit, path).equal


def own_data(seed=0, thresholds=(-0.5, 0.0, 0.5)):
    """Measurements as in docs/data.md: 12 columns of normal values."""
    x = np.random.default_rng(seed).normal(size=(500, 12))
    return x, hw.Encoder(np.tile(np.float32(thresholds), (12, 1)))


@pytest.mark.parametrize("ending", ["c", "v", "aig", "blif", "wasm"])
@pytest.mark.parametrize("raw", [None, "int16", "int32"])
def test_exports_of_continuous_data_are_right_by_default_and_in_fixed_point(ending, raw, tmp_path):
    x, encoder = own_data()
    circuit = random_circuit(3, inputs=36, classes=3, group=15, layers=2, encoder=encoder)
    options = {} if raw is None else {"raw": raw, "values": x}
    path = tmp_path / f"net.{ending}"
    circuit.export(path, **options)
    input_format = input_format_of(circuit, **options)
    assert input_format.kind == (raw or "floats")
    answer = verify(circuit, path, x)
    assert answer.equal and answer.images == 500, answer
    assert ending == "wasm" or "proven by SAT" in answer.how


@pytest.mark.simulator
@needs_simulator
@pytest.mark.parametrize("raw", [None, "int8", "int16"])
def test_the_testbench_of_continuous_data_passes_in_a_simulator(raw, tmp_path):
    x, encoder = own_data()
    x = x.round(1)
    circuit = random_circuit(3, inputs=36, classes=3, group=15, layers=2, encoder=encoder)
    options = {} if raw is None else {"raw": raw, "values": x}
    files = circuit.export(tmp_path / "net.v", images=x[:100], **options)
    assert simulate(files, tmp_path).startswith("PASS 100 images")


def test_verify_finds_a_file_that_was_exported_for_other_units(tmp_path):
    x, encoder = own_data()
    circuit = random_circuit(3, inputs=36, classes=3, group=15, layers=2, encoder=encoder)
    as_bytes = Circuit(circuit.netlist, 3, hw.Encoder(encoder.thresholds, "bytes"))
    as_bytes.export(tmp_path / "net.v")
    answer = verify(circuit, tmp_path / "net.v", x)
    assert (answer.equal, answer.how) == (False, "found on a test image")


def test_fixed_point_keeps_every_value_on_its_side():
    x, encoder = own_data(
        thresholds=np.quantile(np.random.default_rng(1).normal(size=300), [0.1, 0.35, 0.6, 0.8, 0.97])
    )
    circuit = identity(encoder)
    thresholds = encoder.thresholds.astype(np.float64)
    for raw in ("int16", "int32"):
        input_format = input_format_of(circuit, raw, x)
        expected = x.astype(np.float32)[:, :, None] > thresholds
        assert np.array_equal(input_format.bits(input_format.rows(circuit, x)).reshape(expected.shape), expected)
        q = np.linspace(np.iinfo(raw).min, np.iinfo(raw).max, 5000).astype(raw)[:, None].repeat(12, axis=1)
        real = input_format.point.offset + input_format.point.scale * q  # what q stands for
        assert np.array_equal(input_format.bits(q).reshape(5000, 12, 5), real[:, :, None] > thresholds)


def test_thresholds_in_equal_steps_fit_every_float_without_knowing_the_values():
    circuit = identity(hw.Encoder(np.float32([[1, 1.5, 2, 2.5]])))
    input_format = input_format_of(circuit, "int8")
    near = np.float32([1, 1.5, 2, 2.5])
    values = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9)), [-1e9, 1e9]])
    bits = input_format.bits(input_format.rows(circuit, values[:, None]))
    assert np.array_equal(bits, values[:, None] > near)


@pytest.mark.parametrize(
    ("encoder", "raw", "values", "message"),
    [
        (hw.Encoder([[0, 1], [-0.5, 0.5]]), "bytes", None, "column 0: bytes cannot hold the threshold 0 between"),
        (
            hw.Encoder(np.sqrt([[2, 3, 5, 7, 11, 13]])),
            "int16",
            None,
            r"int16 cannot hold .*give the values that will occur",
        ),
        (hw.Encoder([[3.0], [3.0]]), "int8", [[1, 2, 3]], r"values are raw values \[rows, 2\], not \[1, 3\]"),
        (hw.Encoder([[0, 1e-3, 1e6]]), "int8", [[0.0], [5e-4], [0.01]], "column 0: int8 cannot hold"),
        (hw.Encoder([[1 << 24]], "int32"), "floats", None, "floats cannot tell 16777217 from the threshold 16777216"),
        (hw.Encoder([[1]]), "words", None, "unknown kind of raw input 'words'"),
    ],
)
def test_a_type_that_cannot_hold_the_thresholds_is_refused_with_the_column(encoder, raw, values, message):
    with pytest.raises(hw.HardwireError, match=message):
        input_format_of(identity(encoder), raw, values)


def test_bytes_may_be_read_as_any_wider_type():
    thresholds = np.float32([[0.5, 7.7, 127, 254.9]])
    circuit = identity(hw.Encoder(thresholds, "bytes"))
    for raw in ("bytes", "int16", "int32", "floats"):
        every = np.arange(256, dtype=np.uint8)[:, None]
        input_format = input_format_of(circuit, raw)
        assert np.array_equal(input_format.bits(input_format.rows(circuit, every)), every > thresholds)


def test_images_of_the_unit_interval_are_exported_as_bytes_of_255_steps():
    circuit = identity(hw.Encoder.uniform(1, 1, 1))
    every = np.arange(256)[:, None] / np.float32(255)
    input_format = input_format_of(circuit, "bytes", every)
    assert input_format.rows(circuit, every).ravel().tolist() == list(range(256))
    assert np.array_equal(input_format.bits(np.arange(256, dtype=np.uint8)[:, None]), every > 0.5)


@pytest.mark.parametrize("ending", ["c", "h", "v", "aig", "blif", "wasm", "mjs"])
def test_every_export_says_what_it_is_and_under_which_terms(ending, tmp_path):
    encoder = hw.Encoder.uniform(4, 3, 16, "bytes")
    about = hw.circuit.Provenance(model="0123abcd", dataset="digits", accuracy=0.9178)
    circuit = random_circuit(3, inputs=12, classes=3, encoder=encoder)
    circuit = Circuit(circuit.netlist, circuit.classes, encoder, about)
    files = circuit.export(tmp_path / f"net.{ {'h': 'c', 'mjs': 'wasm'}.get(ending, ending) }")
    assert tmp_path / f"net.{ending}" in files
    text = (tmp_path / f"net.{ending}").read_text(errors="replace")
    wanted = [
        "SPDX-License-Identifier: MIT-0",
        f"hardwire {hw.__version__}",
        circuit.digest,
        "of model 0123abcd",
        "91.78% of its test set",
        "values of uint8 from 0 to 16",
        "3 classes of",
    ]
    for words in wanted[:1] if ending == "c" else wanted:
        assert words in text


STEMS = ["logic", "table", "and", "config", "x", "int", "1st", "label", "über", "a-b c"]


@pytest.mark.parametrize("stem", STEMS)
def test_file_names_that_are_words_of_the_languages_give_valid_names(stem, tmp_path):
    circuit = random_circuit(3, inputs=6, classes=3)
    circuit.export(tmp_path / f"{stem}.v")
    assert verify(circuit, tmp_path / f"{stem}.v").equal
    circuit.export(tmp_path / f"{stem}.c")
    assert verify(circuit, tmp_path / f"{stem}.c").equal
    tools.compile_c([tmp_path / f"{stem}.c"], tmp_path / "net.o", "-c")
    name = re.search(r"(\w+)_predict64", (tmp_path / f"{stem}.h").read_text())[1]
    assert not name[0].isdigit()


@pytest.mark.simulator
@needs_simulator
@pytest.mark.parametrize("stem", STEMS)
def test_file_names_that_are_words_of_verilog_have_valid_testbenches(stem, tmp_path):
    circuit = random_circuit(3, inputs=6, classes=3)
    images = np.random.default_rng(0).integers(0, 2, (20, 6))
    assert simulate(circuit.export(tmp_path / f"{stem}.v", images=images), tmp_path).startswith("PASS")


def test_a_keyword_given_as_the_name_is_refused(tmp_path):
    with pytest.raises(hw.HardwireError, match="no keyword of these languages"):
        random_circuit(3).export(tmp_path / "a.v", name="logic")
