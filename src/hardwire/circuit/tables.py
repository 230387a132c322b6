"""A circuit on tables of any length: predictions and scores, a few thousand rows at a time.

Needs pandas and no torch. Columns are matched by name, whatever their order.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import Columns
from hardwire.circuit.circuit import Circuit
from hardwire.data.frames import Where, raw_values
from hardwire.data.streams import TablePart, check_suffix, read_parts, table_writer
from hardwire.data.table_options import DEFAULT_OPTIONS, TableOptions
from hardwire.errors import HardwireError

ANSWER = "prediction"  # the name of the column that is added
Progress = Callable[[int, float], object]  # told the rows so far, and the share of the file


def predict_table(
    circuit: Circuit,
    rows: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    scores: bool = False,
    options: TableOptions = DEFAULT_OPTIONS,
    threads: int | None = None,
    progress: Progress = lambda rows, done: None,
) -> int:
    """Predicts each row of a table, and writes the table with one more column, in bounded memory.

    Args:
        circuit: The circuit.
        rows: A .csv or .parquet file. Columns that the circuit does not know are copied.
        out: The .csv or .parquet file to write, whole or not at all. None: standard output, as CSV.
        scores: Whether to add the sum of each class, one column per class.
        options: How the table is written, and what missing values and unknown texts mean, where that differs from the
            table that the circuit was trained on.
        threads: Number of threads. None: as many as are worth starting.
        progress: Called after each part with the number of rows and the share of the file that are done.

    Returns:
        The number of rows.

    Raises:
        HardwireError: If a column is missing, a value is not allowed, or a column of the same name exists.

    Example:
        >>> from hardwire.circuit.tables import predict_table
        >>> predict_table(circuit, "rows.csv", "predictions.csv")  # doctest: +SKIP
    """
    rows, out = Path(rows), None if out is None else Path(out)
    typed = out is not None and check_suffix(out) == ".parquet"
    done = 0
    options = _options(circuit, options)
    with table_writer(out) as write:
        for part in _parts(circuit, rows, options, typed=typed):
            sums = circuit.scores(
                _numbers(circuit, rows, part, options), raw=circuit.encoder is not None, threads=threads
            )
            for name, values in _answers(circuit, sums, scores).items():
                if name in part.cells.columns:
                    raise HardwireError(f"{rows} already has a column {name!r}; rename it")
                part.cells[name] = values
            write(part.cells)
            done += len(part.cells)
            progress(done, part.done)
    return done


@dataclass(frozen=True)
class TableScore:
    """How well a circuit predicts a table.

    Attributes:
        rows: Number of rows.
        measure: "accuracy", or "R^2" if the target is a number.
        value: Its value.
        seconds: Time spent predicting, without reading.
    """

    rows: int
    measure: str
    value: float
    seconds: float


def score_table(
    circuit: Circuit,
    rows: str | PathLike[str],
    target: str | None = None,
    *,
    options: TableOptions = DEFAULT_OPTIONS,
    write: Callable[[npt.NDArray[Any]], object] = lambda answers: None,
    threads: int | None = None,
    progress: Progress = lambda rows, done: None,
) -> TableScore:
    """Measures a circuit on all rows of a table, in bounded memory.

    Args:
        circuit: A circuit that was trained on a table.
        rows: A .csv or .parquet file with the target.
        target: The column to predict. None: the one that the circuit was trained on.
        options: How the table is read, as for `predict_table`.
        write: Called with the classes or numbers of each part.
        threads: Number of threads. None: as many as are worth starting.
        progress: Called after each part with the number of rows and the share of the file that are done.

    Returns:
        The score.
    """
    from hardwire.data.targets import labels_of

    rows, columns = Path(rows), circuit.columns
    target = target or (None if columns is None else columns.target)
    if columns is None or target is None:
        raise HardwireError(f"this circuit was not trained on a table, so it cannot be measured on {rows}; use predict")
    options = _options(circuit, options)
    tally, seconds = Tally(circuit.number is not None), 0.0
    for part in _parts(circuit, rows, options, target):
        if target not in part.values.columns:
            raise HardwireError(f"{rows} has no column {target!r}, the target; name another: {rows}#COLUMN")
        x = _numbers(circuit, rows, part, options)
        start = time.perf_counter()
        answers = circuit.predict(x, raw=True, threads=threads)
        seconds += time.perf_counter() - start
        tally.add(answers, labels_of(part.values[target], columns, Where(rows, options, part.first)))
        write(answers)
        progress(tally.rows, part.done)
    return tally.score(seconds)


class Tally:
    """Accuracy or R^2, added up part by part."""

    def __init__(self, number: bool):
        self.rows, self.right, self.error, self.mean, self.spread = 0, 0, 0.0, 0.0, 0.0
        self.measure = "R^2" if number else "accuracy"

    def add(self, answers: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        self.rows += len(truth)
        self.right += int((answers == truth).sum())
        self.error += float(np.square(answers - truth).sum())
        # the parallel form of Welford's update: sums of squares would cancel where the mean is large
        difference = float(truth.mean()) - self.mean
        self.mean += difference * len(truth) / self.rows
        before = self.rows - len(truth)
        self.spread += float(truth.var()) * len(truth) + difference**2 * before * len(truth) / self.rows

    def score(self, seconds: float) -> TableScore:
        """The score so far."""
        if self.measure == "accuracy":
            value = self.right / self.rows
        else:
            value = 1 - self.error / self.spread if self.spread else float("nan")
        return TableScore(self.rows, self.measure, value, seconds)


def _options(circuit: Circuit, given: TableOptions) -> TableOptions:
    """How a table is read: as the circuit remembers its own, where nothing else is said."""
    return given if circuit.columns is None else given.after(circuit.columns.reading)


def _parts(circuit: Circuit, path: Path, options: TableOptions, target: str | None = None, typed: bool = False) -> Any:
    """The parts of a table, with the columns that the circuit reads and the target as training reads them."""
    columns = circuit.columns
    if columns is None:
        return read_parts(path, typed=typed, options=options)
    texts = [name for name, known in columns.texts.items() if all(isinstance(text, str) for text in known)]
    if target is not None and all(isinstance(label, str) for label in columns.labels or (0,)):
        texts.append(target)
    return read_parts(path, [*columns.names, *([] if target is None else [target])], texts, typed, options)


def _numbers(circuit: Circuit, path: Path, part: TablePart, options: TableOptions) -> npt.NDArray[np.float64]:
    """The raw values that the circuit reads, [rows, values]."""
    columns = circuit.columns
    if columns is None:
        wanted = circuit.inputs if circuit.encoder is None else circuit.encoder.raw_features
        if len(part.values.columns) != wanted:
            raise HardwireError(
                f"{path} has {len(part.values.columns)} columns, but the circuit reads {wanted} values; give exactly "
                "those, in order"
            )
        columns = Columns(tuple(part.values.columns), missing="error", unknown="error")
    try:
        return raw_values(
            columns.with_policies(options.missing, options.unknown), part.values, Where(path, options, part.first)
        )
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def _answers(circuit: Circuit, sums: npt.NDArray[Any], scores: bool) -> dict[str, Any]:
    """The columns to add."""
    answers = circuit.answers(sums)
    if circuit.number is not None:
        return {ANSWER: answers * circuit.number.step}
    named = circuit.columns.labels if circuit.columns is not None else None
    labels = list(named or range(circuit.classes))
    added: dict[str, Any] = {ANSWER: [labels[number] for number in answers.tolist()]}
    return added | ({f"score {label}": sums[:, place] for place, label in enumerate(labels)} if scores else {})
