"""Files from strangers: readers of Verilog, BLIF, AIGER and WebAssembly reach no other file, take bounded time and
memory, and answer with one line."""

import os
import sys

import pytest
from circuit_oracle import random_circuit

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, tools
from hardwire.circuit.formats.verilog_text import checked_code
from hardwire.circuit.read_aiger import read_aiger

SMALL = Circuit(Netlist(4, [1, 6], [0, 2], [1, 3], [4, 5]), classes=2)


def refused(path, message):
    with pytest.raises(hw.HardwireError, match=message) as caught:
        SMALL.verify(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('`include "/etc/passwd"', "line 2 has '`include'"),
        ("`define A A A\n`A", "line 2 has '`define'"),
        ('initial $readmemh("secret", memory);', r"line 2 has '\$readmemh'"),
        ('initial $system("touch spy");', r"line 2 has '\$system'"),
        ('"//" `include "x"', "line 2 has"),
        ("\\escaped//name ", "line 2 has"),
        ("(* blackbox *) module other; endmodule", r"line 2 has '\(\*'"),
        ("wire [99999999999:0] w;", "line 2 has '99999999999'"),
        ("wire [1_000_000_000:0] w;", "a vector of 1000000000 bits is too long"),
        ("wire w = 1_0_0_0_0_0_0_0_0'd1;", "a vector of 100000000 bits is too long"),
        ("wire \x00;", "line 2 has"),
        ("// synthesis translate_off", "to some tools the comment 'translate_off' takes lines away"),
        ("/* synopsys TRANSLATE_OFF */", "takes lines away"),
    ],
)
def test_verilog_that_reaches_outside_of_its_file_is_refused_before_yosys_sees_it(line, message, tmp_path, monkeypatch):
    SMALL.to_verilog(tmp_path / "net.v")
    (tmp_path / "net.v").write_text(f"// harmless `include\n{line}\n" + (tmp_path / "net.v").read_text())
    monkeypatch.setattr(tools, "run", None)
    refused(tmp_path / "net.v", message)


def test_a_comment_without_an_end_is_refused(tmp_path):
    SMALL.to_verilog(tmp_path / "net.v")
    (tmp_path / "net.v").write_text((tmp_path / "net.v").read_text() + "/* " * 1_000_000)
    refused(tmp_path / "net.v", "a comment does not end")


def test_our_own_verilog_needs_nothing_that_is_refused(tmp_path):
    encoder = hw.Encoder.uniform(5, 4, 255)
    circuit = random_circuit(3, inputs=20, classes=3, group=15, layers=2, encoder=encoder)
    for options in ({}, {"pipeline": 1, "control": True, "stream": 8, "scores": True}, {"raw": "bits", "lut": 4}):
        circuit.to_verilog(tmp_path / "net.v", **options)
        assert "module net" in checked_code(tmp_path / "net.v")[1]


def test_a_bomb_of_loops_in_verilog_is_ended(tmp_path):
    """Nothing in the text is large; the loop is."""
    loop = "for (i = 0; i < 1000 * 1000000; i = i + 1) begin : a wire w; end"
    text = f"module net (input x); genvar i; generate {loop} endgenerate endmodule\n"
    (tmp_path / "net.v").write_text(text)
    checked_code(tmp_path / "net.v")
    with pytest.raises(hw.HardwireError, match=r"yosys (crashed, or was ended|failed)"):
        tools.run_yosys(["read_verilog net.v", "hierarchy -top net"], str(tmp_path), tools.Limits(1 << 30, 3))


@pytest.mark.skipif(os.name != "posix", reason="needs a system that limits processes, such as Linux or macOS")
def test_a_program_that_reads_a_strangers_file_has_its_limits(tmp_path):
    told = tools.run(["sh", "-c", "ulimit -t; ulimit -c"], "sh", tmp_path, tools.Limits(256 << 20, 7))
    assert told.split() == ["7", "0"]
    with pytest.raises(hw.HardwireError, match=r"python failed .*MemoryError|Python crashed"):
        tools.run([sys.executable, "-c", "bytes(10**9)"], "python", tmp_path, tools.Limits(512 << 20, 7))
    with pytest.raises(tools.Ended, match="the loop crashed, or was ended after 1 s or 512 MB"):
        tools.run([sys.executable, "-c", "while True: pass"], "the loop", tmp_path, tools.Limits(512 << 20, 1))


@pytest.mark.parametrize(
    "line", [".search other.blif", ".subckt other a=b", ".gate and2 a=b", ".exdc", "  .include secret", ".define x y"]
)
def test_blif_that_refers_to_other_files_or_models_is_refused(line, tmp_path, monkeypatch):
    SMALL.to_blif(tmp_path / "net.blif")
    (tmp_path / "net.blif").write_text((tmp_path / "net.blif").read_text().replace(".end", f"{line}\n.end"))
    monkeypatch.setattr(tools, "run", None)
    refused(tmp_path / "net.blif", rf"line \d+ has {line.split()[0]}")


@pytest.mark.parametrize(
    "line", ["# a comment that goes on \\", "\r.search other.blif", "\x0c.search other.blif", "# \x00"]
)
def test_blif_whose_lines_end_elsewhere_for_some_readers_is_refused(line, tmp_path, monkeypatch):
    SMALL.to_blif(tmp_path / "net.blif")
    (tmp_path / "net.blif").write_bytes(f"{line}\n".encode() + (tmp_path / "net.blif").read_bytes())
    monkeypatch.setattr(tools, "run", None)
    refused(tmp_path / "net.blif", "line 1 has .* after which readers disagree")


AAG = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.aag", "aag 3 2 0 1 1\n2\n4\n6\n6 2 " + "9" * 5_000, "truncated or not an AIGER file"),
        ("a.aag", AAG.replace("6 2 4", "6 2 " + "9" * 40), "truncated or not an AIGER file"),
        ("a.aag", "aag " + "9" * 5_000, "does not start as an AIGER file"),
        ("a.aag", AAG.replace("aag 3", "aag 999999999"), "promises more than the file holds"),
        ("a.aag", AAG.replace("aag 3", "aag 2"), "numbers 2 variables for 3 values"),
        ("a.aag", AAG.replace("6 2 4", "2 2 4"), "literal 2 is defined twice"),
        ("a.aag", AAG.replace("\n4\n", "\n3\n"), "literal 3 is defined twice, or cannot"),
        ("a.aag", AAG.replace("6 2 4", "6 6 4"), "variable 3 depends on itself"),
        ("a.aag", AAG + "i0 x[0]\ni1 x[" + "9" * 5_000 + "]\n", "variable 2 is used but never defined"),
        ("a.aag", AAG + "i" + "9" * 5_000 + " x[0]\n", "truncated or not an AIGER file"),
        ("a.aig", b"aig 4 3 0 1 1\n8\n" + b"\x80" * 2_000_000, "truncated or not an AIGER file"),
        ("a.aig", b"aig 999999 999999 0 1 0\n2\n", "has 999999 inputs"),
        ("a.aig", b"aig 99999999 99999999 0 1 0\n2\n", "promises more than the file holds"),
        ("a.aig", b"\xff\xfe\x00", "does not start as an AIGER file"),
    ],
)
def test_numbers_of_aiger_are_bounded_before_anything_is_made_of_them(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(tmp_path / name, message)


def test_aiger_takes_linear_time_for_a_deep_chain_and_shared_operands(tmp_path):
    count = 100_000
    gates = [f"{2 * variable} {2 * variable - 2} {2 * variable - 4}" for variable in range(count + 2, 2, -1)]
    lines = [f"aag {count + 2} 2 0 1 {count}", "2", "4", str(2 * count + 4), *gates, ""]
    (tmp_path / "a.aag").write_text("\n".join(lines))
    netlist, latency = read_aiger(tmp_path / "a.aag")
    assert len(netlist.gate) == count and latency == 0


def wat(body="", memory='(memory (export "memory") 1)', predict="", block=128):
    """A module with the exports of ours, for `SMALL`, as text."""
    sizes = {"block": block, "values": 4, "classes": 2, "raw": 0, "labels": 4096, "sums": 8192}
    constants = "".join(f'(global (export "{name}") i32 (i32.const {value}))' for name, value in sizes.items())
    functions = f'(func (export "predict") (param i32) {predict}) (func (export "scores") (param i32))'
    return f"(module {memory} {constants} {functions} {body})"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (wat(predict="(loop br 0)"), "cannot run .*fuel"),
        (wat(body="(func $go (loop br 0)) (start $go)"), "cannot run .*fuel"),
        (wat(body="(table 100000000 funcref)"), "cannot run .*table"),
        (wat(memory='(memory (export "memory") 65536)'), "cannot run .*memory"),
        (wat(memory='(func (export "memory"))'), "cannot run"),
        (wat(memory='(memory (export "memory") 0)'), "cannot run"),
        (
            wat(predict="(drop (memory.grow (i32.const 60000))) (i32.store (i32.const 0x10000000) (i32.const 1))"),
            "cannot run",
        ),
        (wat(body='(import "env" "system" (func))'), "cannot run"),
        (wat(block=-1), "blocks of -1 images"),
        (wat(block=2**31 - 1), "blocks of 2147483647 images"),
    ],
)
def test_webassembly_that_never_ends_or_asks_for_too_much_is_ended(text, message, tmp_path):
    wasmtime = pytest.importorskip("wasmtime", reason="needs wasmtime: pip install 'hardwire[circuit]'")
    if "(import" in text:  # imports come first
        text = '(module (import "env" "system" (func))' + wat()[len("(module") :]
    (tmp_path / "net.wasm").write_bytes(wasmtime.wat2wasm(text))
    refused(tmp_path / "net.wasm", message)
