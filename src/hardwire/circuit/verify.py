"""Does an exported file compute what the model computes? Checked on test images, on random ones, and by proof.

The reader of the file's format says what the file computes; a solver compares logic. The model gets test images as it
was trained on them, and the file gets them in the format it says it reads. Every verdict says how it was reached.
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
from hardwire.circuit.input_format import DTYPES, InputFormat, input_format_of
from hardwire.errors import HardwireError, unknown_name

SHOWN = 40  # values of a counterexample that are printed
MOST_VALUES = 1 << 28  # bits of random images


@dataclass(frozen=True)
class Verification:
    """A verdict on an exported file; true in a condition if it equals the model. `dataclasses.asdict` works on it.

    Attributes:
        equal: Whether no difference is known.
        how: The kind of proof or evidence, in words.
        images: How many test images were compared.
        counterexample: An input on which model and file differ, with both answers, in words.

    Example:
        >>> if not (verdict := circuit.verify("digits.c")):  # doctest: +SKIP
        ...     print(verdict.counterexample)
    """

    equal: bool
    how: str
    images: int
    counterexample: str | None = None

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        if not self.equal:
            return f"DIFFERENT, {self.how}\n{self.counterexample}"
        return f"{self.how}; the {self.images:,} test images agree" if self.images else self.how


def verify(
    circuit: Circuit,
    path: str | os.PathLike[str],
    images: npt.ArrayLike | None = None,
    *,
    raw: str | None = None,
    sat: bool = True,
    progress: Callable[[str], object] = lambda step: None,
) -> Verification:
    """Compares an exported file with a circuit; see `Circuit.verify`."""
    if raw is not None and raw not in DTYPES:
        raise unknown_name("kind of raw input", raw, DTYPES)
    progress(f"reading {os.fspath(path)}")
    file = _read(circuit, Path(path).expanduser(), raw)
    count = 0 if images is None else len(np.asarray(images))
    compared = 0
    for input_format in file.input_formats:
        for what, rows, expected in _batches(circuit, input_format, images, random=file.pair is None):
            progress(f"{len(rows):,} {what}s of {input_format.kind}")
            compared += len(rows)
            wrong = _difference(input_format, rows, expected(), file.answers(input_format, rows))
            if wrong is not None:
                return Verification(False, f"found on a {what}", count, wrong)
    if file.pair is None:
        how = f"equal class sums and classes on {compared:,} images, test and random, which is evidence and not a proof"
        return Verification(True, how, count)
    progress("proof")
    answer = netlists_equal(*file.pair, sat=sat)
    if answer.counterexample is None:
        return Verification(True, str(answer), count)
    input_format = file.input_formats[0]
    rows = input_format.from_bits(answer.counterexample[None])
    wrong = _difference(
        input_format, rows, _answers(circuit, input_format.bits(rows)), file.answers(input_format, rows)
    )
    return Verification(
        False, answer.how, count, wrong or f"the same scores, of other outputs; {_shown(input_format, rows[0])}"
    )


def images_of(circuit: Circuit, data: Any, split: str = "test") -> npt.NDArray[Any]:
    """Returns a dataset's images for `verify` and testbenches: raw values with an encoder, else 0 and 1."""
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
    return chosen.read(chosen.view(circuit), path, raw)


def _answers(circuit: Circuit, images: npt.ArrayLike, raw: bool = False) -> Answers:
    scores = circuit.scores(images, raw=raw)
    return Answers(circuit.answers(scores), scores)


def _batches(
    circuit: Circuit, input_format: InputFormat, images: npt.ArrayLike | None, random: bool
) -> list[tuple[str, npt.NDArray[Any], Callable[[], Answers]]]:
    """Lists what is compared: its name, the rows as the file reads them, and the model's answers."""
    batches: list[tuple[str, npt.NDArray[Any], Callable[[], Answers]]] = []
    if images is not None:
        has_encoder = circuit.encoder is not None
        batches.append(
            ("test image", input_format.rows(circuit, images), lambda: _answers(circuit, images, has_encoder))
        )
    if random:
        rows = _random_bits(circuit) if input_format.kind == "bits" else random_rows(input_format)
        batches.append(("random image", rows, lambda: _answers(circuit, input_format.bits(rows))))
    return batches


def _random_bits(circuit: Circuit) -> npt.NDArray[Any]:
    """Makes bits that the encoder can produce; on others a circuit simplified behind it may answer anything."""
    raw = input_format_of(circuit)
    return raw.bits(random_rows(raw))


def random_rows(input_format: InputFormat, count: int = VECTORS // 8, seed: int = 0) -> npt.NDArray[Any]:
    """Makes random rows of a file's type: bits of several densities; values at, just above and far from thresholds."""
    generator = np.random.default_rng(seed)
    count = min(count, max(64, MOST_VALUES // input_format.width))
    if input_format.thresholds is None:
        return unpack(random_words(generator, count, input_format.inputs), input_format.inputs)
    levels = generator.integers(0, input_format.thresholds.shape[1], (count, input_format.count))
    near = input_format.quantize(np.take_along_axis(input_format.thresholds.T, levels, axis=0))
    rows = input_format.from_bits(generator.integers(0, 2, (count, input_format.width), np.uint8))  # any bits, NaNs too
    step = generator.integers(0, 3, rows.shape)
    rows = np.where(step == 1, near, rows)
    if input_format.kind == "floats":
        return np.where(step == 2, np.nextafter(near, np.float32(np.inf)), rows)
    lowest, highest = np.iinfo(rows.dtype).min, np.iinfo(rows.dtype).max
    return np.where(step == 2, np.clip(near.astype(np.int64) + 1, lowest, highest), rows).astype(rows.dtype)


def _difference(input_format: InputFormat, rows: npt.NDArray[Any], model: Answers, file: Answers) -> str | None:
    """Describes the first row on which the answers of model and file differ."""
    wrong = model.classes != file.classes
    if model.scores is not None and file.scores is not None:
        wrong |= (model.scores != file.scores).any(axis=1)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong))
    says = f"model says class {model.classes[row]}, file says class {file.classes[row]}"
    if model.classes[row] == file.classes[row] and model.scores is not None and file.scores is not None:
        says = f"model has scores {model.scores[row].tolist()}, file has scores {file.scores[row].tolist()}"
    return f"{says}; {_shown(input_format, rows[row])}"


def _shown(input_format: InputFormat, row: npt.NDArray[Any]) -> str:
    """Describes an image: which inputs are 1, or its raw values."""
    bits = input_format.kind == "bits"
    values = np.flatnonzero(row).tolist() if bits else row.tolist()
    text = ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")
    return f"inputs that are 1: {text or 'none'}" if bits else f"{input_format.kind}: {text}"
