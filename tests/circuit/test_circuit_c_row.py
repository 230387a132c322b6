"""Straight-line C for one image: what nothing reads is not computed, the text alone is proven, and a line that no
export has is refused."""

import re

import numpy as np
import pytest
from c_exports import KINDS, changed, circuit_for, encoder_for
from circuit_oracle import random_circuit
from compiled import compiled_answers
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.circuit import Circuit, Netlist
from hardwire.circuit.formats import c, c_row
from hardwire.circuit.formats.c_mixed import mixed_words
from hardwire.circuit.formats.c_read import read
from hardwire.circuit.formats.c_words import file_words
from hardwire.circuit.formats.text import render
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.literals import CONSTANT, literals
from hardwire.circuit.verify import random_rows


def exported(circuit, path, **options):
    circuit.to_c(path, word=1, form="code", **options)
    return path.read_text()


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_literals_compute_what_the_netlist_computes(seed):
    circuit = random_circuit(seed, inputs=4)
    plan = literals(circuit.netlist)
    images = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(bool)
    value = {CONSTANT: np.zeros(16, bool)} | {node: images[:, node] for node in range(4)}
    for node in (node for cone in plan.order() for node in cone):
        a, b, truth = plan.gates[node]
        assert a != b and min(a, b) >= 0
        value[node] = (truth >> (2 * value[a] + value[b]) & 1).astype(bool)
    outputs = np.array([value[node] ^ complement for node, complement in plan.outputs])
    sums = outputs.reshape(circuit.classes, -1, 16).sum(axis=1).T
    assert np.array_equal(sums, circuit.scores(images.astype(np.uint8)))


def test_a_threshold_that_nothing_reads_is_not_computed(tmp_path):
    encoder = encoder_for("bytes", 2, columns=5, levels=4)
    gates = Netlist(20, [1, 6], [0, 3], [5, 5], [20, 21])  # reads bits 0, 3 and 5 of 20
    text = exported(Circuit(gates, 2, encoder), tmp_path / "net.c")
    assert len(re.findall(r"= BELOW\(", text)) == 3
    assert re.findall(r"raw\[(\d+)\]", text) == ["0", "1"]


def test_inverters_wires_and_constants_cost_no_gate(tmp_path):
    netlist = Netlist(2, [12, 10, 0, 15, 1], [0, 0, 0, 0, 2], [0, 1, 0, 0, 1], [2, 3, 4, 5, 6, 2])
    circuit = Circuit(netlist, 2)
    text = exported(circuit, tmp_path / "net.c")
    assert text.count("= (word)(") == 1 and "~n" in text
    assert circuit.verify(tmp_path / "net.c").how.startswith("equal, proven by simulating all")


@pytest.mark.parametrize("kind", KINDS)
def test_functions_hand_values_to_each_other(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(c_row, "PIECE", 5)
    circuit = circuit_for(kind, 6)
    text = exported(circuit, tmp_path / "net.c")
    assert text.count("static void part_") > 3 and "#define SLOTS" in text
    back = read(circuit, tmp_path / "net.c", None)
    (input_format,) = back.input_formats
    rows = random_rows(input_format, 100, 1)
    _, scores = compiled_answers(circuit, tmp_path / "net.c", input_format, 1, rows, "-Wall", "-Wextra", "-Werror")
    assert np.array_equal(back.answers(input_format, rows).scores, scores)
    assert np.array_equal(circuit.scores(input_format.bits(rows)), scores)
    assert circuit.verify(tmp_path / "net.c").equal


@pytest.mark.parametrize("kind", ["int32", "floats"])
def test_thresholds_too_far_apart_for_a_difference_are_compared(kind, tmp_path):
    ends = (
        [[-2e9, 2e9, 2.14e9], [1, 2, 3], [-4, -2e-45, 4]]
        if kind == "int32"
        else [[-4, 0, 4], [1, 2, 3], [-9, -1e-45, 8]]
    )
    encoder = hw.Encoder(np.array(ends, np.float32), kind)
    circuit = Circuit(random_circuit(1, inputs=9, classes=2, group=30, layers=1).netlist, 2, encoder)
    text = exported(circuit, tmp_path / "net.c")
    assert "LESS(x0," in text and "BELOW(x1," in text
    back = read(circuit, tmp_path / "net.c", None)
    rows = random_rows(back.input_formats[0], 300, 1)
    if kind == "floats":
        rows[:4] = np.array([[-0.0], [0.0], [np.nan], [-np.inf]], np.float32)
    _, scores = compiled_answers(circuit, tmp_path / "net.c", back.input_formats[0], 1, rows)
    assert np.array_equal(circuit.scores(back.input_formats[0].bits(rows)), scores)
    assert circuit.verify(tmp_path / "net.c").equal


def test_code_is_chosen_where_the_flash_holds_it_and_tables_where_it_does_not(tmp_path):
    wires = np.random.default_rng(0).permutation(640).reshape(2, 320)
    circuit = Circuit.from_layers(640, [np.full(320, 6)], [wires], 4, encoder_for("int16", 2, 40, 16))
    path = tmp_path / "net.c"
    forms = {}
    for flash in (None, 15_000, 9_000, 5_600):
        circuit.to_c(path, word=1, flash=flash)
        text, stated = path.read_text(), path.with_suffix(".h").read_text()
        forms[flash] = "mixed" if "WALKED" in text else "code" if "BELOW" in text else "tables"
        size = re.search(r"_(CODE|TABLE)_BYTES (\d+)", stated)
        assert int(size[2]) + 1_000 * (size[1] == "TABLE") <= (flash or c.FLASH)
    assert forms == {None: "code", 15_000: "code", 9_000: "mixed", 5_600: "tables"}
    with pytest.raises(hw.HardwireError, match=r"1,000 bytes of flash cannot hold this circuit: it takes .* as tables"):
        circuit.to_c(path, word=1, flash=1_000)
    with pytest.raises(hw.HardwireError, match="goes with word=1, and without form="):
        circuit.to_c(path, flash=1_000)


def mixed(circuit, path):
    """An export that is half code and half tables."""
    input_format = input_format_of(circuit, None, None)
    words = mixed_words(circuit, input_format, circuit.group // 2)
    words = file_words(circuit, path.stem, input_format, 1, words, main=False, header=f"{path.stem}.h")
    for suffix in (".c", ".h"):
        path.with_suffix(suffix).write_text(render(f"circuit{suffix}", **words))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_code_and_tables_in_one_file_are_the_circuit(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(c_row, "PIECE", 5)
    circuit = circuit_for(kind, 7 if kind in ("bytes", "floats") else 6)
    path = mixed(circuit, tmp_path / "net.c")
    back = read(circuit, path, None)
    (input_format,) = back.input_formats
    rows = random_rows(input_format, 100, 1)
    _, scores = compiled_answers(circuit, path, input_format, 1, rows, "-Wall", "-Wextra", "-Werror")
    assert np.array_equal(back.answers(input_format, rows).scores, scores)
    assert np.array_equal(circuit.scores(input_format.bits(rows)), scores)
    assert circuit.verify(path).equal


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"(BELOW\(x1, )\d+", r"\g<1>77", "its code and its tables compare with different thresholds"),
        (r"(#define WALKED) \d+", r"\1 8", "its tables have 21 outputs, and 8 of each class"),
        (r"(#define WALKED) \d+", r"\1 15", "its tables have 21 outputs, and 15 of each class"),
        (r"    walk,\n", "", "is not what this version"),
    ],
)
def test_code_and_tables_that_do_not_fit_each_other_are_refused(pattern, replacement, message, tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    changed(mixed(circuit, tmp_path / "net.c"), pattern, replacement)
    with pytest.raises(hw.HardwireError, match=message):
        circuit.verify(tmp_path / "net.c")


def test_another_gate_in_the_tables_of_a_mixed_file_is_told_with_a_counterexample(tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    changed(mixed(circuit, tmp_path / "net.c"), r"(runs\[\]\[2\] = \{\s*\{\d+, )\d+", r"\g<1>9")
    answer = circuit.verify(tmp_path / "net.c")
    assert not answer.equal and "model" in answer.counterexample


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"(n\d+ = \(word\)\(n\d+) [&|^] (n)", r"\1 & ~\2"),
        (r"(BELOW\(x1, )\d+", r"\g<1>77"),
        (r"(s0 [-+]= )(n\d+);\n(.*?)s0 [-+]= n\d+;", r"\1\2;\n\3\1\2;"),
    ],
)
def test_another_function_in_our_own_words_is_told_with_a_counterexample(pattern, replacement, tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    exported(circuit, tmp_path / "net.c")
    text = (tmp_path / "net.c").read_text()
    result = re.sub(pattern, replacement, text, count=1, flags=re.DOTALL)
    assert result != text
    (tmp_path / "net.c").write_text(result)
    try:
        answer = circuit.verify(tmp_path / "net.c")
    except hw.HardwireError as error:
        assert "do not fit" in str(error)  # the start of a sum counts its complements
    else:
        assert not answer.equal and "model" in answer.counterexample


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"(BELOW\(x\d+, )(\d)", r"\g<1>0\2", "line \\d+ is not what this version"),
        (r"(BELOW\(x\d+, )\d+", r"\g<1>999", "outside of its type"),
        (r"raw\[(\d+)\]", r"raw[10\1]", "loads a value twice, or in another way"),
        (r"const value x(\d+) = raw\[\d+\]", r"const value x999 = raw[999]", "loads a value twice"),
        (r"(const word n\d+ = BELOW.*)", r"\1\n    \1", "gives a bit a second|defines a variable twice"),
        (r"\((n\d+) ([&|^])", r"(n99999 \2", "reads a variable before it is defined"),
        (r"sum s0 = (\d+)", r"sum s0 = 1\1", "the sums of a function do not fit"),
        (r"s\[0\] \+= s0;", "s[0] += s1;", "adds a sum that does not exist"),
        (r"s0 ([-+])= n", r"s9 \1= n", "adds to a sum that has ended, or to none"),
        (r"(s0 -= n\d+;)", r"\1 \1", "is not what this version"),
        (r"(s0 -= n\d+;)", r"\1\n    \1", "one more than the 15 outputs|do not fit"),
        (r"(s0 -= n\d+;)", r"", "a class does not have 15 outputs"),
        (r"(typedef int )value", r"\1 int value", "is not what this version"),
        (r"#define BELOW\(x, t\)", "#define BELOW(t, x)", "is not what this version"),
    ],
)
def test_a_line_that_no_export_has_is_refused(pattern, replacement, message, tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    exported(circuit, tmp_path / "net.c")
    changed(tmp_path / "net.c", pattern, replacement)
    with pytest.raises(hw.HardwireError, match=message) as caught:
        circuit.verify(tmp_path / "net.c")
    assert "\n" not in str(caught.value)


def test_a_float_compared_with_the_gap_between_two_zeros_is_refused(tmp_path):
    circuit = Circuit(Netlist(1, [], [], [], [0]), 1, hw.Encoder(np.array([[1e-45]], np.float32)))
    exported(circuit, tmp_path / "net.c")
    changed(tmp_path / "net.c", r"clip\(key\(raw\[0\]\), 1, 2\)", "clip(key(raw[0]), -1, 2)")
    changed(tmp_path / "net.c", r"BELOW\(x0, 2\)", "BELOW(x0, 0)")
    with pytest.raises(hw.HardwireError, match="a number that no export has"):
        circuit.verify(tmp_path / "net.c")
