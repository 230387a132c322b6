"""WebAssembly: the same classes and scores as plain loops, in wasmtime, in Chromium and in node, for every way to write
it."""

import functools
import http.server
import json
import shutil
import subprocess
import threading

import numpy as np
import pytest
from circuit_oracle import first_largest, oracle_scores, random_bits, random_circuit
from mutations import MUTATIONS, mutations
from pages import needs_chromium, opened
from small_runs import digits

import hardwire as hw
from hardwire.circuit import Circuit, Netlist, formats
from hardwire.circuit.formats.wasm_assembly import signed, unsigned
from hardwire.circuit.formats.wasm_run import WebAssembly
from hardwire.circuit.speed import random_circuit as large_circuit
from hardwire.circuit.verify import verify

WAYS = [{"form": form, "simd": simd} for form in ("code", "tables") for simd in (True, False)]


def test_numbers_are_written_as_the_format_says():
    assert unsigned(624485) == bytes([0xE5, 0x8E, 0x26])
    assert signed(-123456) == bytes([0xC0, 0xBB, 0x78])
    assert [signed(63), signed(64), signed(-64)] == [b"\x3f", b"\xc0\x00", b"\x40"]


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_scores_and_classes_are_those_of_plain_loops(seed, options, tmp_path):
    circuit = random_circuit(seed)
    bits = random_bits(seed, 150, circuit.inputs)  # more than one block
    path, _ = circuit.export(tmp_path / "net.wasm", **options)
    file, expected = WebAssembly(path, circuit), oracle_scores(circuit, bits)
    assert np.array_equal(file.call("scores", bits), expected)
    assert file.call("predict", bits)[:, 0].tolist() == first_largest(expected)
    assert np.array_equal(file.call("scores", bits[:5]), expected[:5])


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("kind", ["bytes", "int8", "int16", "int32", "floats"])
def test_every_kind_of_raw_values_and_thresholds_that_no_value_crosses(kind, options, tmp_path):
    thresholds = np.float32(
        [[-1e9, 0.5, 3, 100], [-3, 0, 1, 1e9], *[[1, 2, 3, 4]] * 17]
    )  # 19 columns: a tile and a bit
    circuit = random_circuit(3, inputs=76, classes=3, group=20, layers=2, encoder=hw.Encoder(thresholds, kind))
    path, _ = circuit.export(tmp_path / "net.wasm", **options)
    answer = verify(circuit, path)
    assert answer.equal, answer


def test_wires_alone_large_classes_and_large_circuits(tmp_path):
    wires = Circuit(Netlist(3, [], [], [], [0, 1, 2, 2]), classes=2)
    large = random_circuit(5, inputs=9, classes=2, group=333)
    deep = large_circuit(64, 6000, 4, 10)
    for circuit in (wires, large, deep):
        path, _ = circuit.export(tmp_path / "net.wasm")
        assert verify(circuit, path).equal
    assert len(deep.netlist.gate) > 20_000
    assert path.stat().st_size < 6 * 24_000 + 30_000  # tables


def test_a_wrong_file_is_found_with_a_counterexample_and_one_of_another_model_refused(tmp_path):
    one, other = random_circuit(1, inputs=9, classes=3, group=5), random_circuit(2, inputs=9, classes=3, group=5)
    path, _ = one.export(tmp_path / "net.wasm")
    answer = verify(other, path)
    assert not answer.equal and "inputs that are 1" in answer.counterexample
    with pytest.raises(hw.HardwireError, match=r"of another model: values and classes are \(9, 3\)"):
        verify(random_circuit(1, inputs=10, classes=3), path)


def test_damaged_files_are_an_error_or_an_answer(tmp_path):
    circuit = random_circuit(1, inputs=9, classes=3, group=5)
    path, _ = circuit.export(tmp_path / "net.wasm")
    bits = random_bits(0, 130, 9)
    for content in mutations(path.read_bytes(), MUTATIONS // 5):
        path.write_bytes(content)
        try:
            back = formats.format_of(".wasm").read(circuit, path, None)
            assert back.answers(back.input_formats[0], bits).classes.shape == (130,)
        except hw.HardwireError:
            continue


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A network of digits as WebAssembly, its test set, and what Python says of it."""
    folder, data = tmp_path_factory.mktemp("site"), digits()
    net = hw.LogicNetwork(data.inputs, 10, width=200, depth=2, seed=0, encoder=data.encoder)
    circuit = Circuit.from_network(net).simplify().tested(data)
    circuit.export(folder / "digits.wasm")
    raw = data.raw("test")
    (folder / "page.html").write_text("<!doctype html><title>digits</title>")
    return folder, raw, circuit.predict(raw, raw=True).tolist(), circuit.scores(raw, raw=True).ravel().tolist(), circuit


ASK = "({ classes: [...model.predict(images)], scores: [...model.scores(images)], info: model.info })"


@pytest.mark.browser
@needs_chromium
def test_the_javascript_module_gives_the_same_in_chromium_on_all_test_images(exported):
    folder, raw, classes, scores, circuit = exported
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with opened(f"http://127.0.0.1:{server.server_port}/page.html") as shown:
            code = f"async images => {{ const model = await (await import('./digits.mjs')).load(); return {ASK}; }}"
            answer = shown.page.evaluate(code, raw.ravel().tolist())
        server.shutdown()
    assert (answer["classes"], answer["scores"]) == (classes, scores)
    info = answer["info"]
    assert (info["digest"], info["reads"], info["values"], info["classes"]) == (circuit.digest, "bytes", 64, 10)
    assert (info["dataset"], info["accuracy"], info["maximum"]) == ("digits", circuit.provenance.accuracy, 16)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".mjs": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}  # noqa: RUF012

    def log_message(self, *_):
        pass


@pytest.mark.program
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: apt install nodejs")
def test_the_javascript_module_runs_in_node_and_quantizes_as_python_does(exported, tmp_path):
    folder, raw, classes, _, _ = exported
    program = f"""
import {{ load }} from "{(folder / "digits.mjs").as_uri()}";
const model = await load(), images = Uint8Array.from({raw.ravel().tolist()});
console.log(JSON.stringify([...model.predict(images)]));
try {{ model.predict(new Uint8Array(65)); }} catch (error) {{ console.log(error.message); }}
"""
    (tmp_path / "ask.mjs").write_text(program)
    lines = subprocess.check_output(["node", tmp_path / "ask.mjs"], text=True).splitlines()
    assert json.loads(lines[0]) == classes
    assert lines[1] == "images are rows of 64 values, not 65 in all"
    x = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    circuit = random_circuit(3, inputs=9, classes=3, group=9, encoder=hw.Encoder(np.float32([[-0.4, 0.1, 1.2]] * 3)))
    circuit.export(tmp_path / "own.wasm", raw="int16", values=x)
    program = f"""
import {{ load }} from "./own.mjs";
const model = await load();
console.log(JSON.stringify([...model.predict(model.quantize({x.ravel().tolist()}))]));
"""
    (tmp_path / "own_ask.mjs").write_text(program)
    answer = subprocess.check_output(["node", tmp_path / "own_ask.mjs"], text=True)
    assert json.loads(answer) == circuit.predict(x, raw=True).tolist()


@pytest.mark.program
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node: apt install nodejs")
def test_a_number_in_node_is_that_of_python_whatever_the_file_is_called(tmp_path):
    x = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    net = hw.LogicNetwork(12, number=(-7.3, 2.1), width=37, depth=2, seed=0, encoder=hw.Encoder.fit(x, 4)).eval()
    circuit = hw.Circuit.from_network(net)
    circuit.export(tmp_path / "100% a#b?.wasm")
    script = (tmp_path / "100% a#b?.mjs").rename(tmp_path / "own.mjs")
    program = f'import {{ load }} from "./{script.name}";\nconst model = await load();\n'
    program += f"console.log(JSON.stringify([...model.numbers({x.ravel().tolist()})]));\n"
    (tmp_path / "ask.mjs").write_text(program)
    answer = subprocess.check_output(["node", tmp_path / "ask.mjs"], text=True)
    assert json.loads(answer) == circuit.predict(x, raw=True).tolist()
