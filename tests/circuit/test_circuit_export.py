"""Exports compute what the network computes: C compiled, Verilog simulated and proven, AIGER and BLIF read back."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import torch
from circuit_oracle import first_largest, oracle_scores, random_bits, random_circuit, random_network
from verilog import needs_simulator, simulate

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, tools
from hardwire.circuit.estimate import estimate
from hardwire.circuit.formats import c
from hardwire.circuit.formats.blif import read_blif
from hardwire.circuit.formats.logic import answers_of
from hardwire.circuit.formats.verilog import read_verilog
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.lower import complete
from hardwire.circuit.read_aiger import read_aiger

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler: apt install gcc"
)


def with_encoder(seed, raw):
    """A circuit that reads raw values of a kind, and rows of them that hit the thresholds too."""
    generator = np.random.default_rng(seed)
    if raw == "bits":
        circuit = random_circuit(seed, inputs=12, classes=3)
        return circuit, random_bits(seed, 70, 12)
    if raw == "bytes":
        thresholds = np.sort(generator.uniform(-20, 280, (4, 3)), axis=1).round(1)
        images = generator.integers(0, 256, (70, 4), np.uint8)
        thresholds[0] = [0, 127.5, 255]
    else:
        thresholds = np.sort(generator.normal(0, 1, (4, 3)), axis=1)
        thresholds[0] = [-1.5, -0.0, 2.5]
        images = generator.normal(0, 1, (70, 4)).astype(np.float32)
        images[:3, 0] = [-0.0, 0.0, 2.5]
        images[3:6] = thresholds.T
    circuit = random_circuit(seed, inputs=12, classes=4, encoder=hw.Encoder(thresholds.astype(np.float32), raw))
    return circuit, images


def c_scores(circuit, tmp_path, raw, images, **options):
    """Class sums and single classes by the compiled export."""
    circuit.to_c(tmp_path / "net.c", **options)
    tools.compile_c([tmp_path / "net.c"], tmp_path / "net.o", "-c", *STRICT)
    answers = c.read(circuit, tmp_path / "net.c", None).answers(input_format_of(circuit, raw), np.asarray(images))
    return answers.scores, answers.classes


def raw_bits(circuit, raw, images):
    input_format = input_format_of(circuit, raw)
    return input_format.to_bits(input_format.rows(circuit, images))


@pytest.mark.parametrize("seed", range(8))
def test_a_random_network_is_the_same_in_every_form(seed, tmp_path):
    net = random_network(seed)
    bits = random_bits(seed, 90, net.inputs)
    expected = net.predict(torch.from_numpy(bits).float()).tolist()
    circuit = Circuit.from_network(net)
    simplified = circuit.simplify()
    assert circuit.predict(bits).tolist() == expected
    assert simplified.predict(bits).tolist() == expected
    _, classes = c_scores(simplified, tmp_path, "bits", bits, form=["code", "tables"][seed % 2])
    assert classes.tolist() == expected
    simplified.to_verilog(tmp_path / "net.v", pipeline=[None, 1, 2, 3][seed % 4])
    assert answers_of(read_verilog(tmp_path / "net.v"), simplified)(bits).classes.tolist() == expected
    simplified.to_aiger(tmp_path / "net.aig")
    assert answers_of(read_aiger(tmp_path / "net.aig")[0], simplified)(bits).classes.tolist() == expected


@compiler
@pytest.mark.parametrize("raw", ["bits", "bytes", "floats"])
@pytest.mark.parametrize(
    "form, word", [("code", 64), ("tables", 64), ("code", 32), ("tables", 8), ("code", 8), ("tables", 1)]
)
def test_c_compiles_without_warnings_and_agrees_with_plain_loops(form, word, raw, tmp_path):
    circuit, images = with_encoder(11, raw)
    bits = images if raw == "bits" else circuit.encoder.thresholds[None] < images[:, :, None]
    scores, classes = c_scores(circuit, tmp_path, raw, images, form=form, word=word)
    expected = oracle_scores(circuit, bits.reshape(len(images), 12))
    assert np.array_equal(scores, expected)
    assert classes.tolist() == first_largest(expected)


@compiler
def test_c_with_a_main_reads_a_file_of_images(tmp_path):
    circuit, images = with_encoder(3, "bytes")
    circuit.to_c(tmp_path / "net.c", main=True)
    tools.compile_c([tmp_path / "net.c"], tmp_path / "net", "-O1", *STRICT)
    images.tofile(tmp_path / "images")
    printed = subprocess.run([tmp_path / "net", tmp_path / "images"], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in printed.split()] == circuit.predict(images, raw=True).tolist()
    (tmp_path / "images").write_bytes(images.tobytes()[:-1])
    cut = subprocess.run([tmp_path / "net", tmp_path / "images"], capture_output=True, text=True)
    assert (cut.returncode, cut.stderr) == (2, "the file ends inside an image\n")


@compiler
@pytest.mark.parametrize("form, word", [("code", 64), ("tables", 64), ("tables", 1)])
def test_c_of_wires_alone_and_of_large_classes(form, word, tmp_path):
    wires = Circuit(Netlist(3, [], [], [], [0, 1, 2, 2]), classes=2)
    scores, _ = c_scores(wires, tmp_path, "bits", np.array([[1, 0, 1], [0, 1, 0]]), form=form, word=word)
    assert scores.tolist() == [[1, 2], [1, 0]]
    large = random_circuit(5, inputs=9, classes=2, group=333)
    bits = random_bits(5, 130, 9)
    scores, classes = c_scores(large, tmp_path, "bits", bits, form=form, word=word)
    assert np.array_equal(scores, large.scores(bits))
    assert np.array_equal(classes, large.predict(bits))


def test_large_circuits_become_tables_and_small_ones_code(tmp_path):
    small, large = random_circuit(1), Circuit(Netlist(2, [1] * 20_001, [0] * 20_001, [1] * 20_001, [2]), classes=1)
    small.to_c(tmp_path / "small.c")
    large.to_c(tmp_path / "large.c")
    assert "static void part_0" in (tmp_path / "small.c").read_text()
    assert "static const uint8_t runs" in (tmp_path / "large.c").read_text()


def test_c_is_not_written_over_its_own_header(tmp_path):
    with pytest.raises(hw.HardwireError, match=r"name the \.c file"):
        random_circuit(1).to_c(tmp_path / "net.h")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("raw", ["bits", "bytes", "floats"])
@pytest.mark.parametrize("pipeline", [None, 1, 2])
def test_verilog_read_by_yosys_gives_the_right_labels(raw, pipeline, tmp_path):
    circuit, images = with_encoder(21, raw)
    circuit.to_verilog(tmp_path / "net.v", raw=raw, pipeline=pipeline)
    read = answers_of(read_verilog(tmp_path / "net.v"), circuit)
    assert read(raw_bits(circuit, raw, images)).classes.tolist() == circuit.predict(images, raw=raw != "bits").tolist()


def test_pyosys_serves_where_the_yosys_program_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    circuit, images = with_encoder(21, "bits")
    circuit.to_verilog(tmp_path / "net.v", pipeline=2)
    circuit.to_blif(tmp_path / "net.blif")
    for netlist in (read_verilog(tmp_path / "net.v"), read_blif(tmp_path / "net.blif")):
        assert answers_of(netlist, circuit)(images).classes.tolist() == circuit.predict(images).tolist()
    assert estimate(circuit)[-1].luts > 0


def test_missing_tools_are_explained(tmp_path, monkeypatch):
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(hw.HardwireError, match="pip install pyosys"):
        tools.run_yosys(["help"], tmp_path)
    with pytest.raises(hw.HardwireError, match="yosys-abc is not installed"):
        tools.run_abc("help", tmp_path)
    with pytest.raises(hw.HardwireError, match="no C compiler found"):
        tools.c_compiler()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            [
                "c++: error: net.h: linker input file not found",
                "compilation ended.",
                "make: *** [net.o]",
                "exit",
                "end",
            ],
            "c++: error: net.h: linker input file not found",
        ),
        (["reading", "one", "two", "ModuleNotFoundError: x"], "one | two | ModuleNotFoundError: x"),
    ],
)
def test_a_failed_program_is_quoted_where_it_says_why(log, reason, tmp_path):
    program = f"import sys; print({chr(10).join(log)!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(hw.HardwireError) as caught:
        tools.run([sys.executable, "-c", program], "the tool", tmp_path)
    assert str(caught.value) == f"the tool failed (exit code 3): {reason}"


@pytest.mark.simulator
@needs_simulator
@pytest.mark.parametrize("raw", ["bits", "bytes", "floats"])
@pytest.mark.parametrize("pipeline", [None, 1, 3])
def test_the_testbench_passes_in_a_simulator(raw, pipeline, tmp_path):
    circuit, images = with_encoder(31, raw)
    circuit.to_verilog(tmp_path / "net.v", raw=raw, pipeline=pipeline, images=images)
    assert simulate([tmp_path / "net.v", tmp_path / "net_tb.v"], tmp_path).startswith("PASS 70 images")


@pytest.mark.simulator
@needs_simulator
def test_the_testbench_fails_on_a_wrong_gate(tmp_path):
    circuit = Circuit(Netlist(2, [1, 6], [0, 0], [1, 1], [2, 3]), classes=2)
    circuit.to_verilog(tmp_path / "net.v", images=[[0, 0], [0, 1], [1, 1]])
    text = (tmp_path / "net.v").read_text()
    (tmp_path / "net.v").write_text(text.replace("x[0] ^ x[1]", "x[0] & x[1]"))
    printed = simulate([tmp_path / "net.v", tmp_path / "net_tb.v"], tmp_path)
    assert "FAIL image 1: label 0, expected 1" in printed
    assert "FAIL 1 of 3 images" in printed


@pytest.mark.parametrize("ending", ["aig", "aag"])
def test_aiger_read_by_another_tool_is_the_same_function(ending, tmp_path):
    from aigverse.algorithms import equivalence_checking
    from aigverse.io import read_aiger_into_aig, read_ascii_aiger_into_aig

    circuit = random_circuit(41, inputs=20, classes=3)
    circuit.to_aiger(tmp_path / f"a.{ending}")
    circuit.simplify().to_aiger(tmp_path / f"b.{ending}")
    read = read_aiger_into_aig if ending == "aig" else read_ascii_aiger_into_aig
    assert equivalence_checking(read(tmp_path / f"a.{ending}"), read(tmp_path / f"b.{ending}")) is True
    again, latency = read_aiger(tmp_path / f"b.{ending}")
    bits = random_bits(41, 100, 20)
    assert latency == 0
    assert answers_of(again, circuit)(bits).classes.tolist() == circuit.predict(bits).tolist()


@pytest.mark.parametrize("raw", ["bits", "bytes"])
def test_blif_read_by_yosys_is_the_same_function(raw, tmp_path):
    circuit, images = with_encoder(51, raw)
    circuit.to_blif(tmp_path / "net.blif", raw=raw)
    read = answers_of(read_blif(tmp_path / "net.blif"), circuit)
    assert read(raw_bits(circuit, raw, images)).classes.tolist() == circuit.predict(images, raw=raw != "bits").tolist()


@pytest.mark.parametrize("raw", ["bits", "bytes", "floats"])
@pytest.mark.parametrize("scores", [False, True])
def test_the_completed_netlist_gives_labels_and_scores(raw, scores):
    circuit, images = with_encoder(61, raw)
    netlist = complete(circuit, input_format_of(circuit, raw), scores=scores)
    answers = answers_of(netlist, circuit)(raw_bits(circuit, raw, images))
    assert answers.classes.tolist() == circuit.predict(images, raw=raw != "bits").tolist()
    if scores:
        assert np.array_equal(answers.scores, circuit.scores(images, raw=raw != "bits"))
    else:
        assert answers.scores is None


def test_a_pipeline_that_is_not_balanced_is_refused(tmp_path):
    # the AND reads input x[0] and a latched x[1]
    (tmp_path / "a.aag").write_text("aag 4 2 1 1 1\n2\n4\n6 4\n8\n8 2 6\n")
    with pytest.raises(hw.HardwireError, match="the pipeline is not balanced"):
        read_aiger(tmp_path / "a.aag")
    (tmp_path / "b.aag").write_text("aag 2 1 1 1 0\n2\n4 4\n4\n")
    with pytest.raises(hw.HardwireError, match="depends on itself"):
        read_aiger(tmp_path / "b.aag")


def test_damaged_aiger_files_are_refused(tmp_path):
    path = tmp_path / "a.aig"
    random_circuit(1, inputs=9).to_aiger(path)
    for content in (path.read_bytes()[:40], b"", b"aig x", b"not aiger at all\n", b"aag 2 1 0 1 1\n2\n4\n4 6 2\n"):
        path.write_bytes(content)
        with pytest.raises(hw.HardwireError, match=r"a\.aig"):
            read_aiger(path)


def test_an_estimate_counts_every_part():
    circuit, _ = with_encoder(71, "bytes")
    lines = estimate(circuit, pipeline=2)
    assert [line.part for line in lines] == ["encoder", "gates", "class sums", "argmax", "all"]
    assert all(line.luts > 0 for line in lines) and lines[-1].luts == sum(line.luts for line in lines[:-1])
    bits = estimate(circuit, pipeline=2, raw="bits")
    assert [line.luts for line in bits[:-1]] == [line.luts for line in lines[1:-1]]  # whatever stands before it
    assert lines[-1].flip_flops > 0
    assert all(line.flip_flops == 0 for line in estimate(circuit))


def test_drawings_hold_every_gate_of_the_cone(tmp_path):
    circuit = Circuit(Netlist(3, [1, 6, 7], [0, 3, 1], [1, 2, 2], [4, 5]), classes=2)
    circuit.to_svg(tmp_path / "all.svg")
    words = [node.text for node in ElementTree.parse(tmp_path / "all.svg").iter() if node.tag.endswith("text")]
    assert sorted(words) == sorted(["x0", "x1", "x2", "a ∧ b", "a ⊕ b", "a ∨ b", "class 0", "class 1"])
    circuit.to_svg(tmp_path / "one.svg", label=1, output=0)
    words = [node.text for node in ElementTree.parse(tmp_path / "one.svg").iter() if node.tag.endswith("text")]
    assert sorted(words) == sorted(["x1", "x2", "a ∨ b", "class 1"])
    circuit.to_dot(tmp_path / "all.dot")
    assert (tmp_path / "all.dot").read_text().count("->") == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda circuit, path: circuit.to_svg(path / "a.svg"), "2,000 gates cannot be drawn"),
        (lambda circuit, path: circuit.to_svg(path / "a.svg", label=7), "class 7 does not exist"),
        (lambda circuit, path: circuit.to_svg(path / "a.svg", output=0), "chosen by its class"),
        (lambda circuit, path: circuit.to_c(path / "a.c", name="1st"), "cannot name a C function"),
        (lambda circuit, path: circuit.to_c(path / "a.c", form="asm"), "unknown form of C 'asm'"),
        (lambda circuit, path: circuit.to_c(path / "none" / "a.c"), "cannot write"),
        (lambda circuit, path: circuit.to_verilog(path / "a.v", pipeline=0), "pipeline 0 is not a number of levels"),
        (lambda circuit, path: circuit.to_aiger(path / "a.aig", raw="words"), "unknown kind of raw input"),
        (lambda circuit, path: circuit.to_blif(path / "a.blif", raw="bytes"), "no encoder to read bytes"),
        (lambda circuit, path: circuit.to_aiger(path / "a.aig", pipeline=2), r"\.aig files have no option 'pipeline'"),
        (lambda circuit, path: circuit.export(path / "a.c", label=1), "theirs are: name, main, raw, values, form"),
        (lambda circuit, path: circuit.export(path / "a.vhd"), "unknown ending '.vhd'; did you mean"),
        (lambda circuit, path: estimate(circuit, lut=1), "look-up tables of 1 inputs"),
    ],
)
def test_exports_that_cannot_be_are_refused(call, message, tmp_path):
    gates = 2000
    circuit = Circuit(Netlist(2, [7] * gates, np.arange(gates) + 1, [0] * gates, [gates + 1]), classes=1)
    with pytest.raises(hw.HardwireError, match=message):
        call(circuit, tmp_path)
