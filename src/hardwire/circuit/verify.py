"""Does an exported file compute what the model computes? On test images, on random ones, and by proof where it can.

The reader of the file's format says what it computes: logic is compared by a solver, programs are compiled and run.
Every answer says how it was reached.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import unpack
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.equivalence import VECTORS, netlists_equal, random_words
from hardwire.circuit.file import is_circuit_file
from hardwire.circuit.formats import Answers, Readback, format_of
from hardwire.circuit.raw import as_rows, bit_rows, raw_count
from hardwire.errors import HardwireError

SHOWN = 40  # values of a counterexample


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
    path: str | os.PathLike[str],
    images: npt.ArrayLike | None = None,
    *,
    raw: str | None = None,
    sat: bool = True,
    progress: Callable[[str], object] = lambda step: None,
) -> Verification:
    """images: test images, raw values where the circuit has an encoder and 0 and 1 [n, inputs] where it has none; raw:
    what the file reads, if its number of inputs leaves a doubt; progress: told of each step before it runs."""
    progress(f"reading {os.fspath(path)}")
    file = _read(circuit, Path(path), raw)
    batches = [] if images is None else [("a test image", kind, _rows(circuit, kind, images)) for kind in file.kinds]
    count = len(batches[0][2]) if batches else 0
    if file.pair is None:
        batches += [("a random image", kind, _random_rows(circuit, kind)) for kind in file.kinds]
    for what, kind, rows in batches:
        progress(f"{len(rows):,} times {what} as {kind}")
        wrong = _difference(circuit, file, kind, rows)
        if wrong is not None:
            return Verification(False, f"found on {what}", count, wrong)
    if file.pair is None:
        total = sum(len(rows) for _, _, rows in batches)
        how = f"equal class sums and classes on {total:,} images and random vectors, which is evidence and not a proof"
        return Verification(True, how, count)
    progress("proof")
    answer = netlists_equal(*file.pair, sat=sat)
    if answer.counterexample is None:
        return Verification(True, str(answer), count)
    rows = bit_rows(file.kinds[0], answer.counterexample[None])
    wrong = _difference(circuit, file, file.kinds[0], rows)
    return Verification(
        False, answer.found, count, wrong or f"the same scores of other outputs; {_shown(file.kinds[0], rows[0])}"
    )


def _read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    if not path.is_file():
        raise HardwireError(f"cannot read {path}: no such file")
    chosen = format_of(".circuit" if is_circuit_file(path) else path.suffix)
    if chosen.read is None:
        raise HardwireError(f"{path} is {chosen.title}, which cannot be read back")
    return chosen.read(circuit, path, raw)


def _rows(circuit: Circuit, kind: str, images: npt.ArrayLike) -> npt.NDArray[Any]:
    return as_rows(circuit, kind, np.asarray(images))


def _random_rows(circuit: Circuit, kind: str) -> npt.NDArray[Any]:
    generator, count = np.random.default_rng(0), raw_count(circuit, kind)
    if kind == "bits":
        return unpack(random_words(generator, VECTORS // 4, count), count)
    if kind == "bytes":
        return generator.integers(0, 256, (VECTORS // 16, count), np.uint8)
    return generator.normal(0, 300, (VECTORS // 16, count)).astype(np.float32)


def _difference(circuit: Circuit, file: Readback, kind: str, rows: npt.NDArray[Any]) -> str | None:
    """The first row of which the model and the file say different things, in words."""
    scores = circuit.scores(rows, raw=kind != "bits")
    model, found = Answers(scores.argmax(axis=1), scores), file.answers(kind, rows)
    wrong = model.classes != found.classes
    if found.scores is not None:
        wrong |= (scores != found.scores).any(axis=1)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong))
    says = f"model says class {model.classes[row]}, file says class {found.classes[row]}"
    if model.classes[row] == found.classes[row] and found.scores is not None:
        says = f"model has scores {scores[row].tolist()}, file has scores {found.scores[row].tolist()}"
    return f"{says}; {_shown(kind, rows[row])}"


def _shown(kind: str, row: npt.NDArray[Any]) -> str:
    """An image in words: which inputs are 1, or its raw values."""
    values = np.flatnonzero(row).tolist() if kind == "bits" else row.tolist()
    text = ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")
    return f"inputs that are 1: {text or 'none'}" if kind == "bits" else f"{kind}: {text}"
