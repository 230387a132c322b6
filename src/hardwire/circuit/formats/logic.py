"""Reads back formats that are logic throughout: netlists from the bits of raw values to the bits of the class, and of
the class sums where a file gives them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.counting import CountedOutputs
from hardwire.circuit.equivalence import netlists_equal
from hardwire.circuit.formats import Answers, Readback, Reader
from hardwire.circuit.formats.header import interface, marked
from hardwire.circuit.input_format import InputFormat, input_format_from, input_format_of
from hardwire.circuit.lower import complete, merge_outputs, outputs_of
from hardwire.circuit.netlist import Netlist
from hardwire.errors import HardwireError

PORTS = "Inputs x[k]: the bits of the values, lowest first; outputs label[k]: those of the answer."


_MARK = "hardwire-sums: "


def sums_lines(circuit: Circuit) -> list[str]:
    """Returns the line of a header that says how class sums count outputs, if not each for itself.

    The proof builds the model's class sums alike: a solver compares equal sums at once, and others hardly ever.
    """
    pairs = CountedOutputs.of(circuit.netlist, circuit.classes).pairs
    return [_MARK + json.dumps({"counted": pairs})] if pairs else []


def read_back(read: Callable[[Path], Netlist], lut_of: Callable[[str], int] = lambda text: 6) -> Reader:
    """Makes the reader of a format.

    Args:
        read: Turns a file into a netlist.
        lut_of: Inputs of the look-up tables that a file's class sums are made for, from its text.
    """

    def reader(circuit: Circuit, path: Path, raw: str | None) -> Readback:
        netlist = read(path)
        text = path.read_text(errors="replace")
        declared = interface(text)
        input_format = input_format_of(circuit, raw) if declared is None else input_format_from(circuit, declared)
        if netlist.inputs != input_format.width:
            raise HardwireError(
                f"{path} has {netlist.inputs} inputs; an image has {input_format.width} bits of {input_format.kind}"
            )
        label, sums = circuit.answer_width, circuit.classes * circuit.group.bit_length()
        scores = len(netlist.outputs) == label + sums
        if len(netlist.outputs) != label and not scores:
            raise HardwireError(
                f"{path} has {len(netlist.outputs)} outputs; a label of this model has {label}, and its class sums "
                f"have {sums}"
            )
        answers = answers_of(netlist, circuit)

        def answer(input_format: InputFormat, rows: npt.NDArray[Any]) -> Answers:
            return answers(input_format.to_bits(rows))

        model = complete(circuit, input_format, lut_of(text), scores, _counted(circuit, input_format, text))
        return Readback((input_format,), answer, (model, netlist))

    return reader


def _counted(circuit: Circuit, input_format: InputFormat, text: str) -> CountedOutputs | None:
    """How a file counts outputs, if the outputs of the circuit are known to be 0 or equal as it says.

    In a circuit that was simplified, equal outputs are the same node. In the model that it was made from they are not,
    so that has to be proven first: behind the encoder, because some are equal only on what it can produce.
    """
    outputs = len(circuit.netlist.outputs)
    counted = CountedOutputs.from_pairs((marked(text, _MARK) or {}).get("counted"), outputs, circuit.classes)
    if not counted.pairs or counted == CountedOutputs.of(circuit.netlist, circuit.classes):
        return counted
    encoded = outputs_of(circuit, input_format)
    same = netlists_equal(encoded, merge_outputs(encoded, counted))
    return counted if same and same.exact else None


def answers_of(netlist: Netlist, circuit: Circuit) -> Callable[[npt.NDArray[np.uint8]], Answers]:
    """Returns the function from bits [n, inputs] to the answers of a completed netlist of `circuit`."""
    outputs = Circuit(netlist, classes=len(netlist.outputs))
    places = 1 << np.arange(circuit.answer_width, dtype=np.int64)
    places[-1] *= -1 if circuit.number is not None else 1  # the highest bit of a number is the sign
    sum_places = 1 << np.arange(circuit.group.bit_length(), dtype=np.int32)

    def answers(bits: npt.NDArray[np.uint8]) -> Answers:
        made = outputs.scores(bits)
        label, sums = np.split(made, [circuit.answer_width], axis=1)
        scores = sums.reshape(len(bits), circuit.classes, -1) @ sum_places if sums.size else None
        return Answers(label.astype(np.int64) @ places, scores)

    return answers
