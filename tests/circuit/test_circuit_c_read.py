"""C files are read back from their text alone: what the reader says they compute is what the compiled file computes,
and a file with a line of somebody else is refused without being run."""

import contextlib

import numpy as np
import pytest
from c_exports import KINDS, changed, circuit_for, encoder_for
from circuit_oracle import random_circuit
from compiled import compiled_answers
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwire as hw
from hardwire.circuit import Circuit, Netlist
from hardwire.circuit.formats.c_read import read
from hardwire.circuit.formats.c_text import logical_lines
from hardwire.circuit.number import Number
from hardwire.circuit.verify import random_rows

FORMS = [(64, "code"), (64, "tables"), (32, "code"), (8, "tables"), (8, "code"), (1, "tables"), (1, "code")]


@pytest.mark.parametrize(("word", "form"), FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_text_says_what_the_compiled_file_computes(kind, word, form, tmp_path):
    for seed in (0, 1):
        circuit = circuit_for(kind, seed)
        path = tmp_path / f"net{seed}.c"
        circuit.to_c(path, word=word, form=form, main=seed == 1)
        back = read(circuit, path, None)
        for input_format in back.input_formats:
            rows = random_rows(input_format, 200, seed)
            answers = back.answers(input_format, rows)
            classes, scores = compiled_answers(circuit, path, input_format, word, rows)
            assert np.array_equal(answers.scores, scores) and np.array_equal(answers.classes, classes)
            assert np.array_equal(scores, circuit.scores(input_format.bits(rows)))
        assert circuit.verify(path).how.startswith("equal, proven")


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), kind=st.sampled_from(KINDS), form=st.sampled_from(FORMS))
def test_every_export_is_read_back_and_proven(seed, kind, form, tmp_path_factory):
    circuit = circuit_for(kind, seed)
    path = tmp_path_factory.mktemp("c") / "net.c"
    circuit.to_c(path, word=form[0], form=form[1])
    assert circuit.verify(path, sat=False).equal


@pytest.mark.parametrize(("word", "form"), FORMS)
def test_numbers_and_wires_and_constants_are_read_back(word, form, tmp_path):
    wires = Circuit(Netlist(4, [], [], [], [0, 1, 2, 3]), classes=2)
    constants = Circuit(Netlist(3, [15, 0, 12, 10], [0, 0, 1, 0], [0, 0, 0, 2], [3, 4, 5, 6]), classes=1)
    number = Circuit(constants.netlist, 1, number=Number(-7, -3))
    for circuit in (wires, constants, number):
        circuit.to_c(tmp_path / "net.c", word=word, form=form)
        assert circuit.verify(tmp_path / "net.c").how.startswith("equal, proven by simulating all")
    with pytest.raises(hw.HardwireError, match="another model: it has -7 as the offset of its numbers"):
        Circuit(constants.netlist, 1, number=Number(-6, -3)).verify(tmp_path / "net.c")


@pytest.mark.parametrize(
    ("form", "pattern", "replacement"),
    [
        ("code", r"(n\d+ = \(word\)\(\S+) & (\S+\);)", r"\1 | \2"),
        ("tables", r"(outputs\[.*\] = \{\n    )(\d+), (\d+)", r"\1\3, \3"),
        ("tables", r"(thresholds\[.*\] = \{\n    \{)\d+", r"\g<1>77"),
    ],
)
def test_another_function_in_our_own_words_is_told_with_a_counterexample(form, pattern, replacement, tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    circuit.to_c(tmp_path / "net.c", form=form)
    changed(tmp_path / "net.c", pattern, replacement)
    answer = circuit.verify(tmp_path / "net.c")
    assert not answer.equal and "model" in answer.counterexample and "file" in answer.counterexample


SPY = '__attribute__((constructor)) static void spy(void) { fopen("%s", "w"); }'


@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "message"),
    [
        ("net.c", r"(typedef uint64_t word;)", SPY + r"\n\1", r"line \d+ is not what this version .*constructor"),
        ("net.c", r"\Z", SPY, r"line \d+ is not what this version .*constructor"),
        ("net.h", r"(#include <stdint.h>)", r"\1\n" + SPY, r"net\.h: line \d+ is not what"),
        (
            "net.c",
            r"(\{\n    for \(int i = 0; i < \d+; \+\+i\)\n        parts)",
            r"{ for (;;);\n\1",
            r"line \d+ is not",
        ),
        ("net.c", r"#define GROUP", "#define for if\n#define GROUP", r"line \d+ is not what this version"),
        ("net.c", r"/\* Where", '/* *\\\n/ system("x"); /* Where', r"line \d+ has '\\+', which no export has"),
        ("net.c", r"/\* Where", "/* ??/\n Where", r"line \d+ has '\?\?', which no export has"),
        ("net.c", r"/\* Where", "// /*\nint spy; // */ /* Where", r"line \d+ is not what this version .*'//"),
        ("net.c", r"\Z", "/* and never ends", r"the comment in line \d+ does not end"),
        ("net.c", r"(v\[\d+\]) = (n\d+);", r"v[999999] = \2;", "outside of the slots"),
        ("net.c", r"#define SLOTS \d+", "#define SLOTS 2000000000", "it has 2000000000 slots for"),
        ("net.c", r"(n\d+ = \(word\)\([~(]*)\w+ ", r"\1n999999 ", r"line \d+ reads a variable before it is defined"),
        ("net.c", r"(outputs\[.*\] = \{\n    )\d+, ", r"\1", "its table of outputs has 44 entries in place of 45"),
        ("net.c", r"(outputs\[.*\] = \{\n    )\d+", r"\g<1>" + "9" * 5_000, "does not hold whole numbers"),
        ("net.c", r"return decide\(v, scores\);", "return 0;", r"line \d+ is not what this version .*'return 0;'"),
        ("net.h", r"(_WORD )64", r"\1 16", "hardwire did not write it|images at once"),
        ("net.h", r"(_ACCURACY )", r"\1system ", "hardwire did not write it|is not what"),
        ("net.h", r"hardwire-interface: ", "hardwire-interface: [", "is damaged"),
    ],
)
def test_a_line_of_somebody_else_is_refused_and_never_run(file, pattern, replacement, message, tmp_path):
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder_for("bytes", 2, 5, 4))
    provenance = hw.circuit.Provenance(accuracy=0.5)
    Circuit(circuit.netlist, 3, circuit.encoder, provenance).to_c(tmp_path / "net.c", form="code", main=True)
    trace = tmp_path / "trace"
    changed(tmp_path / file, pattern, replacement.replace("%s", str(trace)))
    with pytest.raises(hw.HardwireError, match=message) as caught:
        circuit.verify(tmp_path / "net.c")
    said = str(caught.value)
    assert "\n" not in said and said.count("cannot verify") <= 1 and not trace.exists()


def test_verify_of_c_starts_no_compiler(tmp_path, monkeypatch):
    circuit = circuit_for("bytes", 0)
    circuit.to_c(tmp_path / "net.c")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert circuit.verify(tmp_path / "net.c").equal


def test_comments_blanks_and_windows_line_ends_change_nothing(tmp_path):
    circuit = circuit_for("int16", 0)
    circuit.to_c(tmp_path / "net.c")
    text = (tmp_path / "net.c").read_text()
    text = text.replace("static void", "/* mine,\n in two lines */  static   void").replace("\n", "\r\n")
    (tmp_path / "net.c").write_bytes(text.encode())
    assert circuit.verify(tmp_path / "net.c").equal


def test_bytes_that_are_no_text_are_one_error(tmp_path):
    circuit = circuit_for("bits", 0)
    circuit.to_c(tmp_path / "net.c")
    (tmp_path / "net.c").write_bytes(b"\xff\xfe" + (tmp_path / "net.c").read_bytes())
    with pytest.raises(hw.HardwireError, match="byte 0 is not UTF-8 text"):
        circuit.verify(tmp_path / "net.c")


def test_lines_are_numbered_as_in_the_file(tmp_path):
    text = "/* one\n two */ a\n\nb /* four\n five */ c\nd\n"
    assert logical_lines(tmp_path, text) == [(1, "a"), (4, "b c"), (6, "d")]


@pytest.mark.parametrize(
    "piece", ["/*", "/**/", "static const uint8_t outputs[X * GROUP] = {\n", "\\ ", "hardwire-interface: "]
)
def test_a_long_hostile_text_takes_linear_time(piece, tmp_path):
    circuit = circuit_for("bits", 0)
    circuit.to_c(tmp_path / "net.c")
    for file in ("net.c", "net.h"):
        text = (tmp_path / file).read_text()
        (tmp_path / file).write_text(piece * (2_000_000 // len(piece)) + text)
        with contextlib.suppress(hw.HardwireError):
            assert circuit.verify(tmp_path / "net.c").equal and piece == "/**/"
