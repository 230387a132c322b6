"""Does an exported file compute what the model computes? On test images, on random vectors, and by SAT where it can.

Logic files are read back as netlists (BLIF by ABC, Verilog by yosys) and compared with the model's circuit. C is
compiled and run. Every answer says how it was reached.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardwire.bits import pack, unpack
from hardwire.circuit.equivalence import VECTORS, Equivalence, circuits_equal, netlists_equal, random_words
from hardwire.circuit.export.c import c_harness
from hardwire.circuit.file import load
from hardwire.circuit.lower import RAW_BITS, as_bits, complete, raw_bits, raw_kind, raw_width
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.circuit.read_aiger import read_aiger
from hardwire.circuit.tools import compile_c, run, run_abc, run_yosys
from hardwire.errors import HardwireError

RESTRUCTURED_GATES = 60_000  # beyond this, the solver takes many minutes over what yosys or ABC has restructured
LOGIC = (".aig", ".aag", ".blif", ".v")
TO_AIGER = [  # yosys commands from Verilog to an and-inverter graph; formalff turns clocked registers into latches
    "hierarchy -auto-top",
    "proc",
    "flatten",
    "opt_clean",
    "techmap",
    "opt_clean",
    "aigmap",
    "formalff -clk2ff",
    "write_aiger -symbols netlist.aig",
]


@dataclass(frozen=True)
class Verification:
    """equal; how: the proof in words; images: test images among what was compared; counterexample: the input on which
    they differ, with both answers, in words."""

    equal: bool
    how: str
    images: int
    counterexample: str | None = None


def verify(
    circuit: Circuit,
    path: str | os.PathLike,
    images: np.ndarray | None = None,
    *,
    raw: str | None = None,
    sat: bool = True,
) -> Verification:
    """images: test images, raw values where the circuit has an encoder and 0 and 1 [n, inputs] where it has none; raw:
    what the file reads, if its number of inputs leaves a doubt."""
    path = Path(path)
    if not path.is_file():
        raise HardwireError(f"cannot read {path}: no such file")
    if path.suffix == ".c":
        return _verify_c(circuit, path, images)
    if path.suffix in LOGIC:
        return _verify_logic(circuit, path, images, raw, sat)
    other = load(path)
    samples = None if images is None else pack(as_bits(circuit, images))
    answer = circuits_equal(circuit, other, samples=samples, sat=sat)
    return _told(answer, 0 if images is None else len(images), circuit.predict, other.predict)


def _told(answer: Equivalence, images: int, model, file) -> Verification:
    """model, file: functions from bits [1, inputs] to classes."""
    if answer.equal:
        return Verification(True, str(answer), images)
    bits = answer.counterexample[None]
    ones = np.flatnonzero(bits[0]).tolist()
    shown = ", ".join(map(str, ones[:40])) + (", …" if len(ones) > 40 else "")
    says = f"model says class {int(model(bits)[0])}, file says class {int(file(bits)[0])}"
    return Verification(False, answer.found, images, f"{says}; inputs that are 1: {shown or 'none'}")


def _verify_logic(circuit: Circuit, path: Path, images, raw: str | None, sat: bool) -> Verification:
    netlist = read_logic(path)
    raw = _guess_raw(circuit, netlist.inputs, raw)
    expected = complete(circuit, raw)
    if len(netlist.outputs) != len(expected.outputs):
        raise HardwireError(
            f"{path} has {len(netlist.outputs)} outputs; a label of this model has {len(expected.outputs)}"
        )
    if path.suffix in (".v", ".blif"):
        sat = sat and len(expected.gate) + len(netlist.gate) <= RESTRUCTURED_GATES
    samples = None if images is None else pack(raw_bits(circuit, raw, images))
    answer = netlists_equal(expected, netlist, samples=samples, sat=sat)
    return _told(answer, 0 if images is None else len(images), labels(expected), labels(netlist))


def labels(netlist: Netlist):
    """The function of a completed netlist from bits [n, inputs] to classes [n]."""
    outputs = Circuit(netlist, classes=len(netlist.outputs))
    return lambda bits: (outputs.scores(bits).astype(np.int64) << np.arange(len(netlist.outputs))).sum(axis=1)


def _guess_raw(circuit: Circuit, inputs: int, raw: str | None) -> str:
    kinds = [raw] if raw else [raw_kind(circuit, None), *RAW_BITS]
    for kind in kinds:
        if (kind == "bits" or circuit.encoder is not None) and raw_width(circuit, kind) == inputs:
            return kind
    raise HardwireError(f"the file has {inputs} inputs, which fits neither the bits nor the raw values of this model")


def read_logic(path: str | os.PathLike) -> Netlist:
    """The netlist of an AIGER, BLIF or Verilog file; a pipelined one as if without its registers."""
    path = Path(path).resolve()
    if path.suffix in (".aig", ".aag"):
        return read_aiger(path)[0]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"source{path.suffix}")  # a name without blanks, which the tools cannot quote
        source.symlink_to(path)
        if path.suffix == ".blif":
            run_abc(f"read_blif {source.name}; strash; write_aiger -s netlist.aig", folder)
        else:
            run_yosys([f"read_verilog {source.name}", *TO_AIGER], folder)
        netlist = Path(folder, "netlist.aig")
        if not netlist.is_file():
            raise HardwireError(f"cannot read {path}: ABC does not take it for a BLIF file")
        return read_aiger(netlist)[0]


def _verify_c(circuit: Circuit, path: Path, images: np.ndarray | None) -> Verification:
    """Compiles the file with a small program around it, and compares class sums and single classes."""
    name = _c_name(path, circuit)
    generator = np.random.default_rng(0)
    vectors = unpack(random_words(generator, VECTORS // 4, circuit.inputs), circuit.inputs)
    batches = [("bits", vectors)]
    if circuit.encoder is not None:
        batches.append(("bytes", generator.integers(0, 256, (VECTORS // 16, circuit.encoder.raw_features), np.uint8)))
    if images is not None:
        batches.append((_image_kind(circuit, images), np.asarray(images)))
    for kind in dict.fromkeys(kind for kind, _ in batches):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            harness = program.with_suffix(".c")
            harness.write_text(c_harness(circuit, path.resolve(), name, kind))
            compile_c([harness], program, "-O1")
            for batch in (batch for batch_kind, batch in batches if batch_kind == kind):
                wrong = _c_difference(circuit, program, kind, batch)
                if wrong is not None:
                    how = f"found by running the compiled file on {kind}"
                    return Verification(False, how, 0 if images is None else len(images), wrong)
    total = sum(len(batch) for _, batch in batches)
    how = f"equal class sums and classes on {total:,} images and random vectors, which is evidence and not a proof"
    return Verification(True, how, 0 if images is None else len(images))


def _image_kind(circuit: Circuit, images: np.ndarray) -> str:
    if circuit.encoder is None:
        return "bits"
    return "bytes" if images.dtype == np.uint8 else "floats"


def _c_name(path: Path, circuit: Circuit) -> str:
    """The prefix of the functions, from the header, whose sizes must be the model's."""
    header = path.with_suffix(".h")
    text = header.read_text(errors="replace") if header.is_file() else ""
    found = re.search(r"void (\w+)_scores64\(", text)
    if found is None:
        raise HardwireError(f"{header} is missing or not written by hardwire; a C export is a .c file and its header")
    sizes = {"INPUTS": circuit.inputs, "CLASSES": circuit.classes}
    if circuit.encoder is not None:
        sizes["RAW"] = circuit.encoder.raw_features
    for what, size in sizes.items():
        if not re.search(rf"#define \w+_{what} {size}$", text, flags=re.MULTILINE):
            raise HardwireError(f"{header} is of another model: its {what} is not {size}")
    return found[1]


def _c_difference(circuit: Circuit, program: Path, kind: str, batch: np.ndarray) -> str | None:
    dtype = np.float32 if kind == "floats" else np.uint8
    images, answers = program.with_name("images"), program.with_name("scores")
    np.ascontiguousarray(batch, dtype).tofile(images)
    run([str(program), str(images), str(answers)], "the compiled file", program.parent)
    found = np.fromfile(answers, np.int32).reshape(len(batch), circuit.classes + 1)
    scores = circuit.scores(batch, raw=kind != "bits")
    expected = np.column_stack([scores, scores.argmax(axis=1)])
    wrong = np.flatnonzero((found != expected).any(axis=1))
    if not len(wrong):
        return None
    row = wrong[0]
    return f"image {row} of the {kind}: model gives sums and class {expected[row].tolist()}, file {found[row].tolist()}"
