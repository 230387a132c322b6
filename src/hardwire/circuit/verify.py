"""Does an exported file compute what the model computes? On test images, on random ones, and by proof where it can.

The reader of the file's format says what it computes: logic is compared by a solver, programs are compiled and run.
Test images go to the model as it was trained on them, and to the file in the format that the file says it reads. Every
answer says how it was reached.
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
from hardwire.circuit.reading import DTYPES, Reading, raw_kind, reading_of
from hardwire.errors import HardwireError, unknown_name

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
    what the file reads, if it does not say so itself; progress: told of each step before it runs."""
    if raw is not None and raw not in DTYPES:
        raise unknown_name("kind of raw input", raw, DTYPES)
    progress(f"reading {os.fspath(path)}")
    file = _read(circuit, Path(path), raw)
    count = 0 if images is None else len(np.asarray(images))
    compared = 0
    for reading in file.readings:
        for what, rows, expected in _batches(circuit, reading, images, random=file.pair is None):
            progress(f"{len(rows):,} {what}s of {reading.kind}")
            compared += len(rows)
            wrong = _difference(reading, rows, expected(), file.answers(reading, rows))
            if wrong is not None:
                return Verification(False, f"found on a {what}", count, wrong)
    if file.pair is None:
        how = f"equal class sums and classes on {compared:,} images, test and random, which is evidence and not a proof"
        return Verification(True, how, count)
    progress("proof")
    answer = netlists_equal(*file.pair, sat=sat)
    if answer.counterexample is None:
        return Verification(True, str(answer), count)
    reading = file.readings[0]
    rows = reading.from_bits(answer.counterexample[None])
    wrong = _difference(reading, rows, _answers(circuit, reading.bits(rows)), file.answers(reading, rows))
    return Verification(
        False, answer.found, count, wrong or f"the same scores, of other outputs; {_shown(reading, rows[0])}"
    )


def images_of(circuit: Circuit, data: Any, split: str = "test") -> npt.NDArray[Any]:
    """A dataset's images as `verify` and testbenches take them: raw values where the circuit has an encoder, else 0
    and 1 [n, inputs]."""
    if circuit.encoder is not None:
        return np.asarray(data.raw(split))
    x = getattr(data, split).x
    return np.asarray(x.unpack() if hasattr(x, "features") else x > 0.5).astype(np.uint8)


def _read(circuit: Circuit, path: Path, raw: str | None) -> Readback:
    if not path.is_file():
        raise HardwireError(f"cannot read {path}: no such file")
    chosen = format_of(".circuit" if is_circuit_file(path) else path.suffix)
    if chosen.read is None:
        raise HardwireError(f"{path} is {chosen.title}, which cannot be read back")
    return chosen.read(circuit, path, raw)


def _answers(circuit: Circuit, images: npt.ArrayLike, raw: bool = False) -> Answers:
    scores = circuit.scores(images, raw=raw)
    return Answers(circuit.answers(scores), scores)


def _batches(
    circuit: Circuit, reading: Reading, images: npt.ArrayLike | None, random: bool
) -> list[tuple[str, npt.NDArray[Any], Callable[[], Answers]]]:
    """What they are, rows as the file reads them, and what the model says of them."""
    batches: list[tuple[str, npt.NDArray[Any], Callable[[], Answers]]] = []
    if images is not None:
        has_encoder = circuit.encoder is not None
        batches.append(("test image", reading.rows(circuit, images), lambda: _answers(circuit, images, has_encoder)))
    if random:
        rows = _random_bits(circuit) if reading.kind == "bits" else random_rows(reading)
        batches.append(("random image", rows, lambda: _answers(circuit, reading.bits(rows))))
    return batches


def _random_bits(circuit: Circuit) -> npt.NDArray[Any]:
    """Bits that the encoder makes: on others a circuit that was simplified behind it may say anything."""
    raw = reading_of(circuit, raw_kind(circuit))
    return raw.bits(random_rows(raw))


def random_rows(reading: Reading, count: int = VECTORS // 8, seed: int = 0) -> npt.NDArray[Any]:
    """Random rows as a file reads them: bits of several densities; values at, just above and far from thresholds."""
    generator = np.random.default_rng(seed)
    if reading.thresholds is None:
        return unpack(random_words(generator, count, reading.inputs), reading.inputs)
    levels = generator.integers(0, reading.thresholds.shape[1], (count, reading.count))
    near = reading.quantize(np.take_along_axis(reading.thresholds.T, levels, axis=0))
    rows = reading.from_bits(generator.integers(0, 2, (count, reading.width), np.uint8))  # any bits, NaNs too
    step = generator.integers(0, 3, rows.shape)
    rows = np.where(step == 1, near, rows)
    if reading.kind == "floats":
        return np.where(step == 2, np.nextafter(near, np.float32(np.inf)), rows)
    lowest, highest = np.iinfo(rows.dtype).min, np.iinfo(rows.dtype).max
    return np.where(step == 2, np.clip(near.astype(np.int64) + 1, lowest, highest), rows).astype(rows.dtype)


def _difference(reading: Reading, rows: npt.NDArray[Any], model: Answers, file: Answers) -> str | None:
    """The first row of which the model and the file say different things, in words."""
    wrong = model.classes != file.classes
    if model.scores is not None and file.scores is not None:
        wrong |= (model.scores != file.scores).any(axis=1)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong))
    says = f"model says class {model.classes[row]}, file says class {file.classes[row]}"
    if model.classes[row] == file.classes[row] and model.scores is not None and file.scores is not None:
        says = f"model has scores {model.scores[row].tolist()}, file has scores {file.scores[row].tolist()}"
    return f"{says}; {_shown(reading, rows[row])}"


def _shown(reading: Reading, row: npt.NDArray[Any]) -> str:
    """An image in words: which inputs are 1, or its raw values."""
    bits = reading.kind == "bits"
    values = np.flatnonzero(row).tolist() if bits else row.tolist()
    text = ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")
    return f"inputs that are 1: {text or 'none'}" if bits else f"{reading.kind}: {text}"
