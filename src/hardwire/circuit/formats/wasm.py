"""WebAssembly, written directly from the netlist: no toolchain, 128 images at once where the runtime has SIMD.

`NAME.wasm` exports `predict(n)` and `scores(n)`, which read n images at the address `raw` of its memory and write to
the addresses `labels` and `sums`. `NAME.mjs` beside it wraps this for JavaScript, for any number of images. As in C,
the gates are code or, for large circuits, tables and a loop.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from hardwire.bits.units import RANGES
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.formats import Answers, Readback, register
from hardwire.circuit.formats.c import CODE_GATES
from hardwire.circuit.formats.header import header_lines, interface
from hardwire.circuit.formats.text import render
from hardwire.circuit.formats.wasm_assembly import PLAIN_WORD, SIMD_WORD, WasmModule, get, op
from hardwire.circuit.formats.wasm_parts import Layout, counter, encoder, predictor, scorer, straight_gates, table_gates
from hardwire.circuit.formats.wasm_run import WebAssembly
from hardwire.circuit.input_format import DTYPES, InputFormat, input_format_from, input_format_of
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_together

FORMS = {"code": straight_gates, "tables": table_gates}
ARRAYS = {  # of JavaScript, by kind
    "bits": "Uint8Array",
    "bytes": "Uint8Array",
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "floats": "Float32Array",
}
INTERFACE = (
    "predict(n), scores(n): of n <= block images, rows of values at raw; answers int32 [n] to labels, scores int32 "
    "[n, classes] to sums."
)


def write(
    circuit: Circuit,
    path: Path,
    *,
    raw: str | None = None,
    values: npt.ArrayLike | None = None,
    form: str | None = None,
    simd: bool = True,
) -> list[Path]:
    """Writes a WebAssembly file and the JavaScript module beside it.

    Args:
        circuit: The circuit.
        path: The file.
        raw: What it reads, by default what the encoder was made for; bits are one byte each.
        values: See `hardwire.circuit.input_format.input_format_of`.
        form: "code" or "tables"; by default code up to CODE_GATES gates.
        simd: False for runtimes without SIMD; 64 images at once instead of 128.
    """
    input_format = input_format_of(circuit, raw, values)
    if form is None:
        form = "code" if circuit.gates.size <= CODE_GATES else "tables"
    if form not in FORMS:
        raise unknown_name("form of WebAssembly", form, FORMS)
    script = path.with_suffix(".mjs")
    binary, text = to_wasm(circuit, input_format, form, simd), to_javascript(circuit, input_format, path.name)
    write_together({path: binary, script: text})
    return [path, script]


def to_wasm(circuit: Circuit, input_format: InputFormat, form: str, simd: bool) -> bytes:
    """Returns the bytes of a WebAssembly module."""
    _ = circuit.answer_width  # an error where an answer would not fit
    word = SIMD_WORD if simd else PLAIN_WORD
    module, layout = WasmModule(), Layout()
    gates, slots, outputs = FORMS[form](module, circuit.gates, word, layout)
    raw = layout.take(
        word.bits * input_format.count * DTYPES[input_format.kind].itemsize + 16
    )  # a tile may read past the end
    labels, sums = layout.take(word.bits * 4), layout.take(word.bits * circuit.classes * 4)
    encode = encoder(module, input_format, word, layout, raw, slots)
    counts = counter(module, circuit, word, layout, slots, outputs)
    before = get(0) + op("call", encode) + op("call", gates)
    predictor(module, circuit, word, layout, counts, before, labels)
    scorer(module, circuit, word, layout, counts, before, sums)
    module.constants = {
        "block": word.bits,
        "values": input_format.count,
        "classes": circuit.classes,
        "raw": raw,
        "labels": labels,
        "sums": sums,
    }
    module.data = layout.data
    module.text = "\n".join([*header_lines(circuit, input_format, INTERFACE), ""])
    return module.bytes(layout.end)


def to_javascript(circuit: Circuit, input_format: InputFormat, wasm: str) -> str:
    """Returns the JavaScript module for a WebAssembly file of this name."""
    from hardwire import __version__

    info = {
        "version": __version__,
        "digest": circuit.digest,
        "model": circuit.provenance.model,
        "dataset": circuit.provenance.dataset,
        "accuracy": circuit.provenance.accuracy,
        "gates": circuit.gates.size,
        "inputs": circuit.inputs,
        "classes": circuit.classes,
        "values": input_format.count,
        "exponent": None if circuit.number is None else circuit.number.exponent,
        "maximum": circuit.encoder.maximum if circuit.encoder is not None else None,
        **input_format.describe(),
    }
    return render(
        "circuit.mjs",
        comment=header_lines(circuit, input_format),
        info=json.dumps(info, indent=2),
        array=ARRAYS[input_format.kind],
        limits=RANGES.get(input_format.kind),
        number=circuit.number is not None,
        wasm=json.dumps(f"./{quote(wasm)}"),
    )


def read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    """Runs the file in wasmtime, where it cannot reach anything outside its own memory."""
    file = WebAssembly(path, circuit)
    declared = interface(path.read_bytes().decode(errors="replace"))
    own = input_format_of(circuit, raw) if declared is None else input_format_from(circuit, declared)
    sizes, expected = (file.sizes["values"], file.sizes["classes"]), (own.count, circuit.classes)
    if sizes != expected:
        raise HardwireError(f"{path} is of another model: values and classes are {sizes}, and of the model {expected}")

    def answers(input_format: InputFormat, rows: npt.NDArray[Any]) -> Answers:
        rows = np.ascontiguousarray(rows, DTYPES[input_format.kind])
        return Answers(file.call("predict", rows)[:, 0].astype(np.int64), file.call("scores", rows))

    return Readback((own,), answers)


register(".wasm", title="WebAssembly", write=write, read=read)
