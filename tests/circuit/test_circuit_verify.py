"""`verify` and the commands: right files pass with a proof, wrong ones fail with a counterexample."""

import re

import numpy as np
import pytest
from circuit_oracle import random_bits, random_circuit, random_network
from typer.testing import CliRunner

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, formats
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.verify import verify
from hardwire.cli import app as hardwire
from hardwire.cli import progress
from hardwire.cli.circuit import app

ENCODER = hw.Encoder.uniform(5, 4, 255)


def call(*arguments, exit_code=0, of=app):
    result = CliRunner().invoke(of, [str(argument) for argument in arguments])
    assert result.exit_code == exit_code, result.output + repr(result.exception)
    return result.output


@pytest.fixture
def exported(tmp_path):
    """A circuit of three classes that reads bytes, and all its exports."""
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=ENCODER)
    simplified = circuit.simplify()
    simplified.save(tmp_path / "net.circuit")
    for ending in ("c", "v", "aig", "aag", "blif", "svg", "wasm"):
        simplified.export(tmp_path / f"net.{ending}")
    return circuit, tmp_path


@pytest.mark.parametrize(
    ("ending", "proof"),
    [
        ("circuit", "SAT"),
        ("v", "SAT"),
        ("aig", "SAT"),
        ("aag", "SAT"),
        ("blif", "SAT"),
        ("c", "SAT"),
        ("wasm", "evidence and not a proof"),
    ],
)
def test_a_right_export_is_verified_and_the_proof_is_named(exported, ending, proof):
    circuit, folder = exported
    images = np.random.default_rng(0).integers(0, 256, (100, 5), np.uint8)
    answer = verify(circuit, folder / f"net.{ending}", images)
    assert answer.equal, answer
    assert proof in answer.how
    assert answer.images == 100


def test_one_threshold_a_value_leaves_no_doubt_about_raw_images(tmp_path):
    circuit = random_circuit(5, inputs=8, classes=2, encoder=hw.Encoder.uniform(8, 1, 255))
    images = np.random.default_rng(0).integers(0, 256, (50, 8), np.uint8)
    circuit.save(tmp_path / "net.circuit")
    circuit.to_aiger(tmp_path / "bytes.aig")
    circuit.to_aiger(tmp_path / "bits.aig", raw="bits")
    circuit.to_verilog(tmp_path / "bits.v", raw="bits", images=images)
    for name in ("net.circuit", "bytes.aig", "bits.aig", "bits.v"):
        assert verify(circuit, tmp_path / name, images).equal


def spoil(path, pattern, replacement):
    text = path.read_text()
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    path.write_text(changed)


@pytest.mark.parametrize(
    ("ending", "pattern", "replacement"),
    [
        ("c", r"(const word n\d+ = \(word\)\(\S+) & ", r"\1 | "),
        ("v", r"wire n(\d+) = ([^;]*);", r"wire n\1 = ~(\2);"),
    ],
)
def test_a_wrong_export_is_found_with_a_counterexample(exported, ending, pattern, replacement):
    circuit, folder = exported
    path = folder / f"net.{ending}"
    spoil(path, pattern, replacement)
    answer = verify(circuit, path)
    assert not answer.equal
    assert "model" in answer.counterexample and "file" in answer.counterexample


def test_a_wrong_circuit_file_is_found_on_a_test_image_first(tmp_path):
    one, other = (Circuit(Netlist(30, [1, gate], [0, 2], [1, 3], [30, 31]), classes=2) for gate in (6, 7))
    other.save(tmp_path / "other.circuit")
    images = np.zeros((10, 30), np.uint8)
    images[7, 2:4] = 1
    answer = verify(one, tmp_path / "other.circuit", images)
    assert answer.how == "found on a test image"
    assert answer.counterexample == "model says class 0, file says class 1; inputs that are 1: 2, 3"


def test_circuit_files_are_compared_behind_their_encoders(exported):
    circuit, folder = exported
    moved = hw.Encoder(ENCODER.thresholds + 1, ENCODER.kind, ENCODER.maximum)
    Circuit(circuit.netlist, 3, moved).save(folder / "moved.circuit")
    answer = verify(circuit, folder / "moved.circuit")
    assert not answer.equal and "bytes: " in answer.counterexample
    Circuit(circuit.netlist, 3).save(folder / "bare.circuit")
    Circuit(circuit.netlist, 9, ENCODER).save(folder / "nine.circuit")
    for name in ("bare", "nine"):
        with pytest.raises(hw.HardwireError, match="of another model"):
            verify(circuit, folder / f"{name}.circuit")


def test_what_was_simplified_behind_its_encoder_is_verified_behind_it(tmp_path):
    # where the second bit of a value is true, so is the first: their AND is the second
    netlist = Netlist(20, [1, 6], [0, 20], [1, 2], [20, 21])
    circuit = Circuit(netlist, 2, ENCODER)
    small = circuit.simplify(dont_cares=True)
    assert not circuit.equivalent(small)
    for ending in ("circuit", "c", "v", "wasm"):
        small.export(tmp_path / f"small.{ending}")
        assert verify(circuit, tmp_path / f"small.{ending}").equal


def test_texts_of_a_circuit_file_cannot_leave_the_comments(tmp_path):
    about = hw.circuit.circuit.Provenance(
        model="a???/\\", dataset="a*/\n#error escaped\r\u2028/*", accuracy=0.5, tested_on="b\nc"
    )
    circuit = Circuit(Netlist(3, [1], [0], [1], [3]), 1, provenance=about)
    for ending in ("c", "v", "aag", "blif", "wasm"):
        for path in circuit.export(tmp_path / f"net.{ending}"):
            assert not re.search(rb"^\s*(#error|c\.)", path.read_bytes(), re.MULTILINE)
            assert b"a*/" not in path.read_bytes() or path.suffix == ".mjs"  # where it is in quotes
        assert circuit.verify(tmp_path / f"net.{ending}")
    header = (tmp_path / "net.h").read_text()
    assert "trained on a* / #error escaped" in header and "50.00% of the test set of b c" in header
    with pytest.raises(hw.HardwireError, match="from 0 to 1"):
        hw.circuit.circuit.Provenance(accuracy=float("nan"))
    with pytest.raises(hw.HardwireError, match=r"not Provenance\(model='x{20,200}$"):
        hw.circuit.circuit.Provenance(model="x" * 3_000, accuracy=2.0)


def test_files_of_other_models_are_refused(exported):
    _, folder = exported
    other = random_circuit(9, inputs=21, classes=3)
    for ending in ("aig", "c"):
        with pytest.raises(hw.HardwireError, match=r"of another model|an image has"):
            verify(other, folder / f"net.{ending}")
    with pytest.raises(hw.HardwireError, match="no such file"):
        verify(other, folder / "none.c")
    (folder / "net.h").unlink()
    with pytest.raises(hw.HardwireError, match=r"a C export is a \.c file and its header"):
        verify(other, folder / "net.c")


@pytest.fixture
def npz(tmp_path):
    """A dataset of 20 bits as an .npz file, and its test set."""
    bits = random_bits(0, 120, 20)
    path = tmp_path / "data.npz"
    labels = bits[:, 0].astype(np.int64)
    np.savez(path, x_train=bits[:80], y_train=labels[:80], x_test=bits[80:], y_test=labels[80:])
    return path, bits[80:], labels[80:]


def test_a_model_goes_the_whole_way_on_the_command_line(tmp_path, npz):
    data, bits, labels = npz
    net = random_network(4, inputs=20)
    hw.save(net, tmp_path / "model.safetensors", dataset=str(data))
    model, circuit = tmp_path / "model.safetensors", tmp_path / "net.circuit"
    accuracy = (Circuit.from_network(net).predict(bits) == labels).mean()
    printed = call("build", model, circuit)
    assert "proven" in printed
    assert f"accuracy {accuracy:.4f} on the test set of {data}" in printed
    about = Circuit.load(circuit).provenance
    assert (about.dataset, about.accuracy) == (str(data), accuracy) and len(about.model) == 32
    assert "-> " in call("simplify", circuit, tmp_path / "small.circuit", "--rewrite")
    assert "depth" in call("stats", circuit)
    assert f"accuracy {accuracy:.4f} on 40 images" in call(
        "run", circuit, "--data", data, "--out", tmp_path / "classes"
    )
    assert len((tmp_path / "classes").read_text().split()) == 40
    for ending in ("c", "aig", "blif", "v"):
        out = tmp_path / f"net.{ending}"
        call("export", circuit, out)
        assert "the 40 test images agree" in call("verify", model, out)
        assert "the 40 test images agree" in call("verify", circuit, out)
    call("export", circuit, tmp_path / "piped.v", "--pipeline", 2, "--data", data, "--images", 5)
    assert "PASS 5 images" in (tmp_path / "piped_tb.v").read_text()
    call("export", circuit, tmp_path / "cone.svg", "--class", 0, "--output", 0)
    assert "class sums" in call("estimate", circuit)


def test_a_format_registered_from_outside_is_exported_verified_and_named_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_FORMATS", dict(formats.formats()))

    def write(circuit, path, *, shout=False):
        words = [circuit.inputs, circuit.classes, *circuit.netlist.outputs.tolist()]
        path.write_text(" ".join(map(str, words)) + "!" * shout)
        return [path]

    def read(circuit, path, raw):
        inputs, classes, *outputs = map(int, path.read_text().rstrip("!").split())
        other = Circuit(Netlist(inputs, [], [], [], outputs), classes)
        bits = input_format_of(circuit, "bits")
        return formats.Readback((bits,), lambda _, rows: formats.Answers(other.predict(rows), other.scores(rows)))

    formats.register(".wires", title="wires alone", write=write, read=read)
    circuit, other = (Circuit(Netlist(4, [], [], [], outputs), classes=2) for outputs in ([0, 1, 2, 3], [0, 1, 3, 3]))
    assert circuit.export(tmp_path / "net.wires", shout=True) == [tmp_path / "net.wires"]
    assert "evidence and not a proof" in verify(circuit, tmp_path / "net.wires").how
    answer = verify(other, tmp_path / "net.wires")
    assert not answer.equal
    assert re.match(r"model has scores \[\d, \d\], file has scores \[\d, \d\]|model says class", answer.counterexample)
    circuit.save(tmp_path / "net.circuit")
    assert call("export", tmp_path / "net.circuit", tmp_path / "a.wires") == f"wrote {tmp_path / 'a.wires'}\n"
    assert "evidence" in call("verify", tmp_path / "net.circuit", tmp_path / "a.wires")
    with pytest.raises(hw.HardwireError, match=r"\.wires files have no option 'loud'; theirs are: shout"):
        circuit.export(tmp_path / "net.wires", loud=True)


def test_long_steps_report_in_plain_lines_where_there_is_no_terminal(exported, monkeypatch):
    monkeypatch.setattr(progress, "SILENCE", 0)
    circuit, folder = exported
    circuit.save(folder / "model.circuit")
    printed = call("verify", folder / "model.circuit", folder / "net.v")
    assert re.search(r"^verifying: reading .*net\.v \(0 s\)$", printed, re.MULTILINE)
    assert re.search(r"^verifying: proof \(\d+ s\)$", printed, re.MULTILINE)


def test_continuous_data_goes_the_whole_way_on_the_command_line(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 5)).round(3)
    thresholds = np.tile([-0.5, 0, 0.5], (5, 1))
    y = (x[:, 0] > 0).astype(int)
    np.savez(tmp_path / "own.npz", x_train=x, y_train=y, x_test=x[:100], y_test=y[:100], thresholds=thresholds)
    data = hw.data.load(tmp_path / "own.npz")
    net = hw.LogicNetwork(15, 2, width=40, depth=2, seed=0, encoder=data.encoder)
    hw.save(net, tmp_path / "model.safetensors", dataset=str(tmp_path / "own.npz"))
    call("build", tmp_path / "model.safetensors", tmp_path / "net.circuit")
    for ending in ("v", "c", "aig", "blif", "wasm"):
        for raw in ([], ["--raw", "int16"], ["--raw", "int16", "--data", tmp_path / "own.npz"]):
            said = call("export", tmp_path / "net.circuit", tmp_path / f"net.{ending}", *raw)
            assert ("moves no value of the 300 training rows across a threshold" in said) == bool(raw)
            printed = call("verify", tmp_path / "model.safetensors", tmp_path / f"net.{ending}")
            assert "the 100 test images agree" in printed
    (tmp_path / "own.npz").unlink()
    printed = call("verify", tmp_path / "net.circuit", tmp_path / "net.aig")
    assert "without the data it was trained on: " in printed and "proven" in printed
    assert "test images" not in printed


def test_verify_exits_with_1_and_a_counterexample(exported):
    circuit, folder = exported
    circuit.save(folder / "model.circuit")
    assert "proven by SAT" in call("verify", folder / "model.circuit", folder / "net.v")
    spoil(folder / "net.v", r"wire n(\d+) = ([^;]*);", r"wire n\1 = ~(\2);")
    printed = call("verify", folder / "model.circuit", folder / "net.v", exit_code=1)
    assert "DIFFERENT" in printed
    assert re.search(r"model says class \d, file says class \d", printed)


def test_bench_prints_throughput_and_latency_beside_the_c_export():
    sizes = ["bench", "--inputs", 20, "--width", 40, "--depth", 2, "--classes", 2, "--images", 128]
    printed = call(*sizes, of=hardwire)
    assert "C export -O2" in printed
    assert "one image, µs" in printed
    assert re.search(r"engine / C export: \d", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stats", "none.circuit"], "there is no file"),
        (["export", "net.circuit", "out.txt"], "unknown ending '.txt'"),
        (["export", "net.circuit", "none/out.aig"], "cannot write"),
        (["export", "net.circuit", "out.c", "--pipeline", "2"], "have no option 'pipeline'"),
        (["export", "net.circuit", "out.aig", "--data", "digits"], "--data is for the testbench"),
        (["export", "net.circuit", "out.v", "--images", "3"], "give its --data too"),
        (["export", "net.circuit", "out.v", "--pipeline", "inf"], "not a number of levels"),
        (["export", "net.circuit", 'o"ut.c'], "cannot be named in an #include"),
        (["verify", "net.circuit", "net.v", "--raw", "nonsense"], "unknown kind of raw input"),
        (["verify", "net.circuit", "net.svg"], "cannot be read back"),
    ],
)
def test_mistakes_on_the_command_line_are_one_error(exported, monkeypatch, arguments, message):
    monkeypatch.chdir(exported[1])
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, hw.HardwireError)
    assert message in str(result.exception)
