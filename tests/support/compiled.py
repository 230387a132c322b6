"""The oracle of C exports: compiles a file with a small program around it and runs it."""

from pathlib import Path

import numpy as np

from hardwire.circuit.formats.c_words import interface_words
from hardwire.circuit.formats.text import _environment
from hardwire.circuit.input_format import DTYPES
from hardwire.circuit.tools import compile_c, run

HARNESS = Path(__file__).with_name("c_harness.c").read_text()


def compiled_answers(circuit, path, input_format, word, rows, *options):
    """Classes int64 [n] and scores int32 [n, classes] that the compiled export gives for rows of its input format."""
    folder = path.parent / f"{path.stem}-{input_format.kind}"
    folder.mkdir(exist_ok=True)
    words = interface_words(circuit, path.stem, input_format, word)
    harness = folder / "harness.c"
    harness.write_text(_environment().from_string(HARNESS).render(**words, source=path.resolve()))
    compile_c([harness], folder / "program", *(options or ["-O1"]))
    np.ascontiguousarray(rows, DTYPES[input_format.kind]).tofile(folder / "images")
    run([str(folder / "program"), "images", "answers"], "the compiled file", folder)
    answers = np.fromfile(folder / "answers", np.int32).reshape(len(rows), circuit.classes + 1)
    return answers[:, -1].astype(np.int64), answers[:, :-1]
